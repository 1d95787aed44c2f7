package bucket

import (
	"fmt"
	"math"
	"time"
)

// Limit is what a token bucket promises: Rate tokens a second on the long run,
// and at most Capacity at once. The zero Limit is not valid.
type Limit struct {
	Rate     float64 `json:"rate" yaml:"rate"`         // tokens per second, finite and above 0
	Capacity float64 `json:"capacity" yaml:"capacity"` // tokens, finite and above 0
}

// Validate reports the first thing that makes l no limit: a rate or a capacity
// that is not a finite number above zero.
func (l Limit) Validate() error {
	if err := positive("rate", l.Rate); err != nil {
		return err
	}
	return positive("capacity", l.Capacity)
}

// MaxTokens is the most that a limit can be and still be counted, 2^53 tokens or
// tokens a second: up to there a double counts single tokens, and beyond it one
// taken from a full bucket, or earned too many in a second, does not change the
// number.
const MaxTokens = 1 << 53

// Countable is [Limit.Validate], and reports a rate or a capacity above
// [MaxTokens] too: there no limiter and no check can tell one token more from
// one less.
func (l Limit) Countable() error {
	if err := l.Validate(); err != nil {
		return err
	}
	if err := Countable("rate", l.Rate); err != nil {
		return err
	}
	return Countable("capacity", l.Capacity)
}

// Countable reports one figure of a limit, called name, that is above [MaxTokens].
func Countable(name string, v float64) error {
	if v > MaxTokens {
		return fmt.Errorf("%s is %v, want at most 2^53 (%d): beyond it a double no longer counts single tokens", name, v, int64(MaxTokens))
	}
	return nil
}

func positive(name string, v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) || v <= 0 {
		return fmt.Errorf("%s is %v, want a finite number above 0", name, v)
	}
	return nil
}

// FillTime is how long an empty bucket takes to be full again, C/R. It is
// rounded down to a nanosecond and at most the largest Duration.
func (l Limit) FillTime() time.Duration {
	return seconds(l.Capacity / l.Rate)
}

// String renders l as "100/s, capacity 50".
func (l Limit) String() string {
	return fmt.Sprintf("%v/s, capacity %v", l.Rate, l.Capacity)
}

// seconds converts s seconds to a Duration, saturating where a Duration ends.
func seconds(s float64) time.Duration {
	ns := s * float64(time.Second)
	switch {
	case ns >= math.MaxInt64:
		return math.MaxInt64
	case ns <= math.MinInt64:
		return math.MinInt64
	}
	return time.Duration(ns)
}
