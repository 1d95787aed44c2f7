package check

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"bucketproof/bucket"
)

// tolerance is what two sums of tokens may differ by and count as equal.
const tolerance = 1e-6

// rules are a Spec in the units of a sweep: tokens and nanoseconds.
type rules struct {
	capacity float64           // C, tokens
	rate     float64           // R, tokens per ns
	fast     float64           // R·(1 + ρ), for the upper bound
	slow     float64           // R·(1 − ρ), for the lower bound
	slack    float64           // R·(g + clock stray), tokens
	charges  float64           // 1 + retries: what an unknown may cost, in costs
	empty    bool              // the lower bound starts with an empty bucket
	clock    bucket.TimeSource // whose readings decide; of a TIME whose shift is known, as if it were callers'
	life     int64             // of an idle key for the prediction, ns; 0: none expires, or nothing is predicted
	steady   bool              // one clock decides everything, and never goes back
	grain    int64             // g + clock stray, ns
	frame    *frame            // of a contract that counts in windows; nil: a token bucket
}

func (s Spec) rules() (rules, error) {
	if err := s.validate(); err != nil {
		return rules{}, fmt.Errorf("specification: %w", err)
	}
	rate := s.Limit.Rate / 1e9
	life := int64(0)
	if s.clock() == bucket.CallerTime {
		life = s.life()
	}
	slack := rate * float64(s.step())
	if s.Contract.Windowed() {
		slack = 0 // the clock's step is taken from the windows' length
	}
	return rules{
		frame:    s.frame(),
		life:     life,
		capacity: s.Limit.Capacity,
		rate:     rate,
		fast:     rate * (1 + s.RateTolerance),
		slow:     rate * (1 - s.RateTolerance),
		slack:    slack,
		charges:  1 + float64(s.Retries),
		empty:    s.EmptyStart,
		clock:    s.clock(),
		steady:   s.Time == bucket.ServerTime && !s.ShiftedTime,
		grain:    int64(s.step()),
	}, nil
}

func (s Spec) validate() error {
	if err := s.Limit.Validate(); err != nil {
		return err
	}
	switch {
	case s.Contract != "" && s.Contract != bucket.TokenBucket && !s.Contract.Windowed():
		return fmt.Errorf("contract is %q, want %s, %s or %s", s.Contract, bucket.TokenBucket, bucket.SlidingWindow, bucket.FixedWindow)
	case s.Contract.Windowed() && s.Model != nil:
		return fmt.Errorf("the model is a token bucket, and the contract %s", s.Contract)
	case s.Granularity < 0:
		return fmt.Errorf("granularity is %v, want 0 or more", s.Granularity)
	case s.ClockStray < 0:
		return fmt.Errorf("clock stray is %v, want 0 or more", s.ClockStray)
	case !(s.RateTolerance >= 0 && s.RateTolerance < 1):
		return fmt.Errorf("rate tolerance is %v, want it in [0, 1)", s.RateTolerance)
	case s.Retries < 0:
		return fmt.Errorf("retries are %d, want 0 or more", s.Retries)
	case s.Shift != nil && !s.ShiftedTime:
		return errors.New("a shift of TIME is given that was not shown")
	case slices.ContainsFunc(s.Leaps, func(l Leap) bool { return l.To < l.From }):
		return errors.New("a leap ends before it begins")
	case s.TTL < 0:
		return fmt.Errorf("TTL is %v, want 0 or more", s.TTL)
	case s.Offered < 0:
		return fmt.Errorf("offered is %d, want 0 or more", s.Offered)
	}
	return nil
}

// clock is whose readings decide. A server's TIME that was shifted, we know how
// far, goes back and leaps as callers' clocks do, and what is said of those holds
// with o between the least and the most of the shift.
//
// Of windows nothing is predicted, so that it matters there no more.
func (s Spec) clock() bucket.TimeSource {
	if s.Contract.Windowed() {
		return ""
	}
	if s.Shift != nil && s.Time == bucket.ServerTime {
		return bucket.CallerTime
	}
	return s.Time
}

// wait is the longest that a request of so many tokens has to wait for, in ns, if
// nobody asks meanwhile.
func (r *rules) wait(cost float64) float64 {
	if r.frame != nil {
		return r.frame.window
	}
	return cost / r.rate
}

// span is what C/R is called in sentences.
func (r *rules) span() string {
	if r.frame != nil {
		return "window"
	}
	return "refill"
}

// oracle is what a perfect limiter of the contract is called in sentences.
func (r *rules) oracle() string {
	switch {
	case r.frame == nil:
		return "bucket"
	case r.frame.contract == bucket.FixedWindow:
		return "counter"
	}
	return "log"
}

// step is g as seen on the history's clock: what no window's length is exact to.
func (s Spec) step() time.Duration { return s.Granularity + s.ClockStray }

// life is how long an idle key lives by the prediction's account, in ns;
// 0: so long that none expires.
func (s Spec) life() int64 {
	ns := float64(s.TTL)
	if s.TTL == 0 {
		ns = s.Limit.TTLMillis() * 1e6
	}
	if ns >= math.MaxInt64/4 {
		return 0
	}
	return int64(ns)
}
