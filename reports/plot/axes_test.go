package plot

import (
	"math"
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		n         int
		least     float64
		want      []string
	}{
		{0, 300, 4, 1, []string{"0", "100", "200", "300"}},
		{-20, 390, 5, 1, []string{"0", "100", "200", "300"}},
		{0, 2.5, 5, 0, []string{"0.0", "0.5", "1.0", "1.5", "2.0", "2.5"}},
		{-0.01, 1, 3, 0, []string{"0.0", "0.5", "1.0"}},
		{0, 1.3, 8, 1, []string{"0", "1"}},
		{0, 12000, 3, 1, []string{"0", "5,000", "10,000"}},
		{5, 5, 3, 0, []string{"5"}},
	} {
		got := ticks(c.low, c.high, c.n, c.least)
		if len(got) != len(c.want) {
			t.Errorf("ticks(%v, %v, %d): %v, want %v", c.low, c.high, c.n, got, c.want)
			continue
		}
		for i, tick := range got {
			if tick.Label != c.want[i] {
				t.Errorf("ticks(%v, %v, %d): label %q, want %q", c.low, c.high, c.n, tick.Label, c.want[i])
			}
		}
	}
}

func TestTicksAreFewDistinctAndInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-1e6, 1e6).Draw(t, "low")
		span := math.Pow(10, rapid.Float64Range(-3, 9).Draw(t, "log of span"))
		n := rapid.IntRange(2, 10).Draw(t, "n")
		if span < math.Abs(low)*1e-9 {
			t.Skip("below what float64 tells apart")
		}
		list := ticks(low, low+span, n, 0)
		if len(list) == 0 || len(list) > n+1 {
			t.Fatalf("%d ticks for n = %d", len(list), n)
		}
		seen := make(map[string]bool)
		for _, tick := range list {
			if seen[tick.Label] {
				t.Fatalf("label %q twice in %v", tick.Label, list)
			}
			seen[tick.Label] = true
			if tick.Value < low-1e-6*span || tick.Value > low+span*(1+1e-6) {
				t.Fatalf("tick %v outside [%v, %v]", tick.Value, low, low+span)
			}
		}
	})
}

func TestTimeUnit(t *testing.T) {
	for _, c := range []struct {
		span float64
		want string
	}{{1e3, "ns"}, {5e4, "µs"}, {5e7, "ms"}, {5e9, "s"}, {1e12, "min"}} {
		if _, got := timeUnit(c.span); got != c.want {
			t.Errorf("unit of %v ns is %s, want %s", c.span, got, c.want)
		}
	}
}

func TestDecades(t *testing.T) {
	for _, c := range []struct {
		low, high, height float64
		want              []string
	}{
		{2, 4, 300, []string{"100 µs", "200 µs", "500 µs", "1 ms", "2 ms", "5 ms", "10 ms"}},
		{0, 7, 200, []string{"1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"}},
		{2.05, 2.1, 200, []string{"118.9 µs"}},
	} {
		list := decades(c.low, c.high, vg.Length(c.height))
		var labels []string
		for _, tick := range list {
			labels = append(labels, tick.Label)
		}
		if len(labels) != len(c.want) {
			t.Errorf("decades(%v, %v): %q, want %q", c.low, c.high, labels, c.want)
			continue
		}
		for i := range labels {
			if labels[i] != c.want[i] {
				t.Errorf("decades(%v, %v): %q, want %q", c.low, c.high, labels, c.want)
			}
		}
	}
}
