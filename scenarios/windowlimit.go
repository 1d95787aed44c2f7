package scenarios

import (
	"math"

	"bucketproof/bucket"
)

// How far a limit is moved, for limiters that count in windows.
const (
	windowTries = 1000 // capacities tried to either side
	windowStep  = 10.0 // ms, of the windows tried if no capacity will do
)

// windowLimit is the limit nearest to l that counts in windows can keep: a
// whole number of requests in a whole number of milliseconds. Half a request is
// one to a bucket and nothing to a count; and PEXPIRE takes no part of a
// millisecond, so that a limiter may well fail a limit that nobody gives it, and
// keep those that it is given. The capacity is moved first, the rate only where
// no capacity near by will do.
func windowLimit(l bucket.Limit) bucket.Limit {
	nearest := math.Max(1, math.Round(l.Capacity))
	for d := 0.0; d <= min(windowTries, nearest/2); d++ {
		for _, n := range []float64{nearest + d, nearest - d} {
			if to := (bucket.Limit{Rate: l.Rate, Capacity: n}); n >= 1 && wholeWindow(to) {
				return to
			}
		}
	}
	about := math.Max(windowStep, math.Round(nearest/l.Rate*1000/windowStep)*windowStep)
	for d := 0.0; d <= about/2; d += windowStep {
		for _, w := range []float64{about + d, about - d} {
			rate := nearest / w * 1000
			if to := (bucket.Limit{Rate: rate, Capacity: nearest}); rate*10 == math.Trunc(rate*10) && wholeWindow(to) {
				return to
			}
		}
	}
	return bucket.Limit{Rate: l.Rate, Capacity: nearest}
}

// wholeWindow reports whether the window is a whole number of milliseconds, as a
// limiter computes it.
func wholeWindow(l bucket.Limit) bool {
	ms := l.Capacity / l.Rate * 1000
	return ms >= 1 && ms == math.Trunc(ms)
}
