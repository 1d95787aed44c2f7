package bucket

import (
	"context"
	"math"
	"sync"
	"time"
)

var nan = math.NaN()

// Memory is a perfect token bucket in this process: a [State] a key behind one
// mutex, on one clock that never goes back. It is the oracle that no check may
// accuse, and the fastest limiter there is, so the load generator's ceiling.
// It is safe for concurrent use by any number of instances.
type Memory struct {
	elapsed func() time.Duration

	mu     sync.Mutex
	states map[string]State
}

// NewMemory returns an empty Memory. elapsed is the process's clock: the time
// since any fixed instant, never going back. It is called under the mutex, so
// that the order of decisions is the order of readings.
func NewMemory(elapsed func() time.Duration) *Memory {
	return &Memory{elapsed: elapsed, states: make(map[string]State)}
}

// memoryRule counts nanoseconds.
var memoryRule = Rule{TicksPerSecond: 1e9}

// Take decides r; it never fails. Remaining is exact and RetryAfter is the
// time until the request would be granted if nobody else took tokens.
func (m *Memory) Take(_ context.Context, l Limit, r Request) (Decision, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, allowed := memoryRule.Take(m.states[r.Key], l, float64(m.elapsed()), r.Cost)
	m.states[r.Key] = s
	d := Decision{Allowed: allowed, Remaining: s.Tokens}
	switch {
	case allowed:
	case r.Cost > l.Capacity:
		d.RetryAfter = -1 // never: nothing to tell
	default:
		d.RetryAfter = seconds((r.Cost-s.Tokens)/l.Rate) + time.Nanosecond // rounded up
	}
	return d, nil
}
