// Package control holds the negative controls: limiters that are each broken
// in one documented way, as a real limiter once was. They stand beside the
// limiters under test in the flow and are driven in the same way; a check that
// does not catch its control proves nothing about the others.
//
// A control is one file: its code, or the lines of its script in which it differs
// from a token bucket that has no fault, and a value that says what it stands for.
// [All] lists them. [Control.Repaired] is each of them without its fault, which
// must go by uncaught.
package control

import (
	"fmt"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
	"bucketproof/bucket/lua"

	"github.com/redis/go-redis/v9"
)

// Control is one limiter that is broken on purpose. It is a value; nothing in
// it changes.
type Control struct {
	Name      string // "control/…"
	StandsFor string // the root cause, in one sentence
	Threads   string // where it happened: public issues, separated by commas
	Check     string // the check that must catch it
	Scenario  string // the named scenario that shows it

	Time        bucket.TimeSource
	Granularity time.Duration
	State       *limiterfile.StateFields // for the state audit; nil: not told
	UsesCost    bool                     // takes any cost; else every request costs 1
	Model       *bucket.Rule             // the rule that each of its decisions follows, and only their order does not; nil: none
	Expect      map[string]limiterfile.Expectation

	// ByClocks says that the fault is to trust its callers' clocks, so that a
	// failure that these explain shows it. Of any other control a failure counts
	// only if they do not: without its fault it would fail as far as that, too.
	ByClocks bool

	// One written in Go.
	open, openRepaired func(c redis.UniversalClient) (bucket.Limiter, error)

	// One that is a script.
	own    lines // peculiar to it, and right
	fault  lines // what is wrong
	repair lines // what is right in its place; an empty part is as without the fault's
}

// All returns the controls in the order of their names.
func All() []Control {
	return []Control{
		denyCharged,
		denyResetsClock,
		floorRefill,
		getSet,
		lateCommand,
		localCache,
		noRefillAfterStepBack,
		noTTL,
		olderNowWritten,
		overflowAfterIdle,
		remainingTruncated,
		retryAfterTooShort,
		secondsForMilliseconds,
		ttlInPeriods,
		ttlThousandfold,
		ttlZero,
		wholeSeconds,
		zeroRate,
	}
}

// hashState is where most controls keep their state.
var hashState = &limiterfile.StateFields{
	Tokens: limiterfile.StateField{Hash: "tokens"},
	Time:   limiterfile.StateField{Hash: "ts"},
}

// Open returns the limiter on c, which stays the caller's to close. The limiter
// is safe for concurrent use and is a [bucket.KeyLister].
func (c Control) Open(client redis.UniversalClient) (bucket.Limiter, error) {
	if c.open != nil {
		return c.open(client)
	}
	f, err := c.limiterFile()
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", c.Name, err)
	}
	l, err := lua.New(f, client)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", c.Name, err)
	}
	return l, nil
}

// OpenWitnessed is [Control.Open] with a witness, for a control that is a
// script; see [Control.Script].
func (c Control) OpenWitnessed(client lua.BlockClient) (bucket.Limiter, error) {
	f, err := c.limiterFile()
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", c.Name, err)
	}
	l, err := lua.NewWitnessed(f, client)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", c.Name, err)
	}
	return l, nil
}

// Script reports whether the control is one script, so that it can be asked
// with a witness; one written in Go sends several commands, or none.
func (c Control) Script() bool { return c.open == nil }

// Repaired returns the control without its fault, and else as it is: the same
// name, clock, state and expectations. Whatever catches it is mistaken, or shows
// another fault than the control's.
func (c Control) Repaired() Control {
	c.fault = c.repair
	if c.open == nil {
		return c
	}
	if c.open = c.openRepaired; c.open == nil {
		c.open = func(redis.UniversalClient) (bucket.Limiter, error) {
			return nil, fmt.Errorf("%s has no repair", c.Name)
		}
	}
	return c
}
