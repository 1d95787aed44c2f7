package thirdparty

import (
	"fmt"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"

	"github.com/redis/go-redis/v9"
)

// Group is the name that stands for all of them together.
const Group = "published"

// Library is one published limiter and what is known of it. It is a value;
// nothing in it changes.
type Library struct {
	Name      string // as `--limiter` takes it
	Module    string // the path it is imported by
	Version   string // the release whose source was read; go.mod pins it
	Algorithm string // in a few words

	Contract    bucket.Contract // what the library promises
	Time        bucket.TimeSource
	Granularity time.Duration // the smallest step of its clock

	// Limit is the one limit it is asked to keep; nil: whatever Fits takes.
	Limit *bucket.Limit
	Costs bool // takes whole costs; else every request costs 1

	Findings []Finding

	fits func(bucket.Limit) error
	open func(redis.UniversalClient) (bucket.Limiter, error)
}

// Finding is a verdict that the library's own source explains.
type Finding struct {
	Check string

	// Expect is what the check must show, [limiterfile.Fail] in at least one run
	// of a command that runs Scenario; [limiterfile.Any] for what may follow from
	// another finding.
	Expect   limiterfile.Expectation
	Scenario string // the named scenario, or point of one, that shows it; "" with Any

	Because string // the cause, in one sentence, with file and line of Version
	Threads string // where its cause is discussed: public issues, separated by commas; "" none that we found
}

// All returns the libraries in the order in which they are shown.
func All() []Library { return []Library{redisRate, throttledGCRA, ululeLimiter, fiberLimiter} }

// Source names the library with its release, as a go command takes it.
func (l Library) Source() string { return l.Module + "@" + l.Version }

// Fits reports, as an error that wraps [bucket.ErrLimit], that the library
// cannot express the limit.
func (l Library) Fits(limit bucket.Limit) error {
	if err := l.fits(limit); err != nil {
		return fmt.Errorf("%w by %s: %w", bucket.ErrLimit, l.Name, err)
	}
	return nil
}

// Open returns the library's limiter on c, which stays the caller's to close and
// must send no command twice, as those of bucket/backend do. The limiter is safe
// for concurrent use and is a [bucket.KeyLister].
func (l Library) Open(c redis.UniversalClient) (bucket.Limiter, error) {
	c.AddHook(watch{})
	opened, err := l.open(c)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", l.Name, err)
	}
	return opened, nil
}

// Expect is what each check is expected to show over a whole command.
func (l Library) Expect() map[string]limiterfile.Expectation {
	expect := map[string]limiterfile.Expectation{}
	for _, f := range l.Findings {
		if expect[f.Check] != limiterfile.Fail {
			expect[f.Check] = f.Expect
		}
	}
	return expect
}

// Known is, for each check that fails or may fail, why.
func (l Library) Known() map[string]string {
	known := map[string]string{}
	for _, f := range l.Findings {
		why := f.Because
		if f.Threads != "" {
			why += " (" + f.Threads + ")"
		}
		if other := known[f.Check]; other != "" {
			why = other + "; " + why
		}
		known[f.Check] = why
	}
	return known
}

// Shows is, for each check that must fail, the scenarios that show it.
func (l Library) Shows() map[string][]string {
	shows := map[string][]string{}
	for _, f := range l.Findings {
		if f.Expect == limiterfile.Fail {
			shows[f.Check] = append(shows[f.Check], f.Scenario)
		}
	}
	return shows
}
