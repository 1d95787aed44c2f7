package plot

import (
	"math"
	"slices"
)

// Spectrum is a distribution of latencies by percentile, dense towards the
// slowest.
type Spectrum struct {
	Points []Quantile // in order
	Count  int        // of the values behind it
}

// Quantile is the latency that a part of all requests stayed below or at.
type Quantile struct {
	Part   float64 // 0..1
	Micros float64
}

// perDecade is how many points a tenfold of rarity has: 90 % to 99 %, 99 % to
// 99.9 %.
const perDecade = 24

// NewSpectrum sorts nanos and makes a spectrum of it, with the largest value
// last. No value: no points.
func NewSpectrum(nanos []int64) Spectrum {
	n := len(nanos)
	if n == 0 {
		return Spectrum{}
	}
	slices.Sort(nanos)
	s := Spectrum{Count: n}
	last := -1
	for i := 0; ; i++ {
		rarity := math.Pow(10, -float64(i)/perDecade)
		at := int(math.Ceil((1-rarity)*float64(n))) - 1
		if at = max(at, 0); at >= n-1 || rarity*float64(n) < 1 {
			break
		}
		if at != last {
			s.Points = append(s.Points, Quantile{Part: float64(at+1) / float64(n), Micros: float64(nanos[at]) / 1e3})
		}
		last = at
	}
	s.Points = append(s.Points, Quantile{Part: 1, Micros: float64(nanos[n-1]) / 1e3})
	return s
}

// Summary makes a spectrum of the few percentiles of a summary, where the
// latencies themselves are not at hand.
func Summary(points []Quantile) Spectrum {
	return Spectrum{Points: points, Count: 1e4}
}

// rarity is the place of a part on an axis of nines: 0 for 0 %, 1 for 90 %,
// 2 for 99 %. The largest of n values stands where one of 2n would.
func (s Spectrum) rarity(part float64) float64 {
	return -math.Log10(max(1-part, 0.5/float64(max(s.Count, 1))))
}
