package check

import (
	"math"
	"testing"
)

// A weighted counter grants up to 2·N − 1 in less than W, or 2·N if it takes
// whole tokens of the window before, and no more; in any window of length d no
// more than N + N·d/W, and one more with the floor. All runs without an end of
// requests are tried, from each of their beginnings on.
func TestWeightedCounterAtItsWorst(t *testing.T) {
	const w = 420 // ticks: a multiple of all N
	for name, round := range map[string]func(float64) float64{
		"whole": func(x float64) float64 { return math.Floor(x + 1e-9) },
		"exact": func(x float64) float64 { return math.Round(x*1e9) / 1e9 },
	} {
		for n := 1.0; n <= 7; n++ {
			worst, most := 0, 2*int(n)-1
			spare := 0.0
			if name == "whole" {
				most, spare = most+1, 1
			}
			for begin := range w {
				c := weightedCounter{n: n, w: w, round: round, counts: map[float64]float64{}}
				var at []int
				for now := begin; now < 4*w; now++ {
					for c.decide(float64(now), 1) {
						at = append(at, now)
					}
				}
				for i, a := range at {
					for j, b := range at[i:] {
						if b-a < w {
							worst = max(worst, j+1)
						}
						if over := float64(j+1) - n - n*float64(b-a)/w - spare; over > 1e-6 {
							t.Fatalf("%s, N = %v: %d in %d ticks, %v too many", name, n, j+1, b-a, over)
						}
					}
				}
			}
			if worst != most {
				t.Errorf("%s, N = %v: at most %d in less than W, want %d", name, n, worst, most)
			}
		}
	}
}
