// Package limitertest is the conformance suite of [bucket.Limiter]: what every
// limiter must do when one caller, or several with one clock, ask it in good
// order. It stands beside the limiters and is used by their tests; finding what
// they do under skew, load and faults is the harness's own work.
//
// Nothing here asserts a duration. Elapsed time is measured around the calls,
// and what it may have earned is allowed, so that a slow machine can hide a
// fault but cannot invent one.
package limitertest

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"bucketproof/bucket"
)

// Options say what the suite may ask. The zero Options fit a limiter that
// counts milliseconds and keeps any limit.
type Options struct {
	Limit       bucket.Limit  // zero: 20 tokens/s, capacity 10; at least 2 tokens, and a fill time of well over a round trip
	Granularity time.Duration // of the limiter's clock; zero: 1 ms
	Costs       bool          // it takes any cost, not only 1
	Racy        bool          // its known fault is contention: leave concurrent callers out
	Prefix      string        // of the keys, for a server that others use too
}

func (o Options) withDefaults() Options {
	if o.Limit == (bucket.Limit{}) {
		o.Limit = bucket.Limit{Rate: 20, Capacity: 10}
	}
	if o.Granularity == 0 {
		o.Granularity = time.Millisecond
	}
	return o
}

// Run runs the suite on the limiter that open returns, once a case. Keys are
// new in every case. open should register what closes the limiter with its t.
func Run(t *testing.T, open func(t *testing.T) bucket.Limiter, o Options) {
	o = o.withDefaults()
	if err := o.Limit.Validate(); err != nil || o.Limit.Capacity < 2 {
		t.Fatalf("limit %v does not fit the suite: %v", o.Limit, err)
	}
	for i, c := range cases(o) {
		t.Run(c.name, func(t *testing.T) {
			c.run(newSuite(t, open(t), o, i))
		})
	}
}

// test is one case: what a limiter must do.
type test struct {
	name string
	run  func(*suite)
}

// cases are the tests that o does not leave out.
func cases(o Options) []test {
	out := []test{
		{"starts full", (*suite).startsFull},
		{"denies, then refills", (*suite).refills},
		{"fills to the capacity, not beyond", (*suite).fillsUp},
		{"keys are independent", (*suite).keysAreIndependent},
		{"lists its keys", (*suite).listsKeys},
		{"a cancelled context is no denial", (*suite).cancelled},
	}
	if o.Costs {
		out = append(out, test{"costs", (*suite).costs})
	}
	if !o.Racy {
		out = append(out, test{"concurrent callers", (*suite).concurrent})
	}
	return out
}

// suite is one case in progress.
type suite struct {
	testing.TB
	options Options
	limiter bucket.Limiter
	key     string // no other case's
	began   time.Time
}

func newSuite(t testing.TB, l bucket.Limiter, o Options, n int) *suite {
	s := &suite{TB: t, options: o, limiter: l, began: time.Now()}
	s.key = fmt.Sprintf("%sconformance-%d-%d", o.Prefix, s.began.UnixNano(), n)
	return s
}

// request asks for cost tokens of a bucket of this case. The caller's clock is
// the wall clock at the beginning, and never steps after it.
func (s *suite) request(bucketName string, cost float64) bucket.Request {
	now := s.began.Add(time.Since(s.began))
	return bucket.Request{
		ID:       fmt.Sprintf("%s-%d", s.key, now.UnixNano()),
		Key:      s.key + "-" + bucketName,
		Instance: "conformance",
		Cost:     cost,
		Now:      now,
	}
}

// take makes one call that must be answered.
func (s *suite) take(bucketName string, cost float64) bucket.Decision {
	s.Helper()
	d, err := s.limiter.Take(s.Context(), s.options.Limit, s.request(bucketName, cost))
	if err != nil {
		s.Fatalf("take %v of %s: %v", cost, bucketName, err)
	}
	s.sane(d)
	return d
}

// sane checks what a decision tells beside yes or no.
func (s *suite) sane(d bucket.Decision) {
	s.Helper()
	if d.Remaining > s.options.Limit.Capacity || math.IsInf(d.Remaining, -1) {
		s.Errorf("%v tokens remain of a bucket of %v", d.Remaining, s.options.Limit.Capacity)
	}
}

// burst makes n calls of cost 1, one after another, and returns how many were
// granted before the first denial, how many in all, and the time it took.
func (s *suite) burst(bucketName string, n int) (straight, granted int, took time.Duration) {
	s.Helper()
	start, denied := time.Now(), false
	for range n {
		d := s.take(bucketName, 1)
		denied = denied || !d.Allowed
		if d.Allowed {
			granted++
		}
		if !denied {
			straight++
		}
	}
	return straight, granted, time.Since(start)
}

// whole is how many requests of cost 1 a full bucket holds.
func (s *suite) whole() int { return int(math.Floor(s.options.Limit.Capacity)) }

// bound is the most tokens that calls within a stretch of time may take.
func (s *suite) bound(took time.Duration) float64 {
	return s.options.Limit.Bound(took+s.options.Granularity) + 1e-6
}

// aLittle is a stretch of time that a clock of the granularity surely shows.
func (s *suite) aLittle() time.Duration { return 2 * s.options.Granularity }

// sleep waits, on the real clock: the limiter's may be on another machine.
func (s *suite) sleep(d time.Duration) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), d)
	defer cancel()
	<-ctx.Done()
}
