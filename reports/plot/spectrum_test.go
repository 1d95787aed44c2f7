package plot

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestSpectrumIsTheDistribution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(1, 1e9), 1, 3000).Draw(t, "values")
		s := NewSpectrum(slices.Clone(values))
		last := Quantile{Part: -1}
		for _, q := range s.Points {
			if q.Part <= last.Part || q.Micros < last.Micros {
				t.Fatalf("%v after %v", q, last)
			}
			last = q
			// By definition: so many values are at most this.
			below := 0
			for _, v := range values {
				if float64(v)/1e3 <= q.Micros {
					below++
				}
			}
			if float64(below) < q.Part*float64(len(values))-1e-6 {
				t.Fatalf("%d of %d values are at most %v µs, want %v of them", below, len(values), q.Micros, q.Part)
			}
		}
		if last.Part != 1 || last.Micros != float64(slices.Max(values))/1e3 {
			t.Fatalf("ends with %v, want the largest value", last)
		}
		if len(s.Points) > 200 {
			t.Fatalf("%d points", len(s.Points))
		}
	})
}

func TestSpectrumOfNothing(t *testing.T) {
	if s := NewSpectrum(nil); len(s.Points) != 0 || s.Count != 0 {
		t.Errorf("got %v", s)
	}
}

func TestRarity(t *testing.T) {
	s := Spectrum{Count: 1000}
	for _, c := range []struct{ part, want float64 }{{0, 0}, {0.9, 1}, {0.99, 2}, {1, math.Log10(2000)}} {
		if got := s.rarity(c.part); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("rarity(%v) = %v, want %v", c.part, got, c.want)
		}
	}
}
