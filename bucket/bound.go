package bucket

import "time"

// Bound is the most tokens a bucket of limit l grants in any window of length
// d ≥ 0: C + R·d.
func (l Limit) Bound(d time.Duration) float64 {
	return l.Capacity + l.Rate*d.Seconds()
}

// Skew describes what callers' clocks did in a window: what a limiter that
// trusts the caller's clock can be expected to grant beyond its bound.
type Skew struct {
	Spread      time.Duration // S: largest minus smallest clock offset among the calls
	Granularity time.Duration // g: the clock's smallest step
	Age         time.Duration // D: longest time from reading the clock to the decision
	Expiries    int           // k: times the key may have expired in the window
	Leaps       int           // e: times it may have expired there before its time, its server's clock having gone forward
}

// PredictedExcess is the most tokens beyond [Limit.Bound] that the clocks
// alone explain for a limiter on the caller's clock, seen from outside:
//
//	R·(S + g) + k·R·(S + D + g) + e·(C + R·(S + D + g))
//
// While the key lives a spread S is worth R·S tokens once, not again and again.
// Each expiry forgets the stored time, so the next caller can earn a stretch
// that was earned before: again R·S, and R·D more for a reading that arrived
// late. A key that expires early is a full bucket whatever was in it, and so C
// more.
func (l Limit) PredictedExcess(s Skew) float64 {
	alive := (s.Spread + s.Granularity).Seconds()
	expired := (s.Spread + s.Age + s.Granularity).Seconds()
	return l.Rate*(alive+float64(s.Expiries+s.Leaps)*expired) + float64(s.Leaps)*l.Capacity
}
