package plot

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

// TestSizeLabelsStandApart: no two labels of an axis cover each other, the
// largest size has one, and every size has a tick.
func TestSizeLabelsStandApart(t *testing.T) {
	sty := style(tickSize, muted)
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfNDistinct(rapid.SampledFrom([]float64{0, 1e-6, 1e-3, 2e-3, 0.01, 0.05, 0.1, 0.25, 0.3, 0.5, 1, 2, 5, 3600}), 1, 14, rapid.ID).Draw(t, "sizes")
		var p Panel
		for _, size := range list {
			p.Lines = append(p.Lines, Answer{Points: []Point{{Size: size}}})
		}
		s := p.sizes()
		width := vg.Length(rapid.IntRange(120, 700).Draw(t, "width"))
		ticks := s.ticks(width, s.span(), "s", sty)
		if len(ticks) != len(list) || ticks[len(ticks)-1].Label == "" {
			t.Fatalf("ticks %v of %v", ticks, list)
		}
		end := math.Inf(-1)
		for i, tick := range ticks {
			if i > 0 && tick.Value <= ticks[i-1].Value {
				t.Fatalf("ticks %v are not in order", ticks)
			}
			if tick.Label == "" {
				continue
			}
			x := (tick.Value - s.low()) / s.span() * float64(width)
			half := float64(sty.Width(tick.Label)) / 2
			if x-half < end {
				t.Fatalf("label %s begins at %.1f, the one before ends at %.1f", tick.Label, x-half, end)
			}
			end = x + half
		}
	})
}

// TestAxes: what reads best.
func TestAxes(t *testing.T) {
	point := func(size, measured float64) Point {
		return Point{Size: size, Measured: measured, Predicted: math.NaN()}
	}
	for _, c := range []struct {
		name         string
		lines        [][]Point
		part         bool
		logX, logY   bool
		highestValue float64
	}{
		{"near sizes", [][]Point{{point(0.1, 10), point(0.5, 50)}}, false, false, false, 50},
		{"sizes far apart", [][]Point{{point(0.001, 0.1), point(0.5, 50)}}, false, true, false, 50},
		{"and none", [][]Point{{point(0, 0), point(0.001, 0.1), point(0.5, 50)}}, false, true, false, 50},
		{"none and one", [][]Point{{point(0, 0), point(0.5, 50)}}, false, false, false, 50},
		{"steps back", [][]Point{{point(-1, 3), point(-0.001, 3)}}, false, false, false, 3},
		{"one limiter far above", [][]Point{{point(0.1, 10), point(0.5, 50)}, {point(0.1, 500), point(0.5, 2000)}}, false, false, true, 2000},
		{"beside one at nothing", [][]Point{{point(0.1, 0), point(0.5, 0.4)}, {point(0.1, 500), point(0.5, 2000)}}, false, false, false, 2000},
		{"parts", [][]Point{{point(0.1, 0.02)}, {point(0.1, 1)}}, true, false, false, 1},
		{"a prediction within reach", [][]Point{{{0.1, 10, 12, 2, false}}}, false, false, false, 13},
		{"a prediction out of reach", [][]Point{{{0.1, 10, 100, 2, true}}}, false, false, false, 10},
		{"nothing measured", [][]Point{{{0.1, math.NaN(), 5, 0, false}}}, false, false, false, 0},
	} {
		p := Panel{Part: c.part}
		for _, points := range c.lines {
			p.Lines = append(p.Lines, Answer{Points: points})
		}
		if got := p.sizes().log; got != c.logX {
			t.Errorf("%s: sizes on a logarithmic axis: %v", c.name, got)
		}
		v := p.values()
		if v.log != c.logY || v.most != c.highestValue {
			t.Errorf("%s: values up to %v, logarithmic: %v; want %v, %v", c.name, v.most, v.log, c.highestValue, c.logY)
		}
	}
}

// TestPredictionsThatAreOneLine: limiters with the same predictions share a
// line, so that none hides another.
func TestPredictionsThatAreOneLine(t *testing.T) {
	a := []Point{{Size: 1, Predicted: 10, Tolerance: 1}, {Size: 2, Predicted: math.NaN()}, {Size: 3, Predicted: 50, Tolerance: 1}}
	for _, c := range []struct {
		name string
		b    []Point
		want bool
	}{
		{"the same", a, true},
		{"within the tolerance", []Point{{Size: 1, Predicted: 10.5}, {Size: 3, Predicted: 50}}, true},
		{"another", []Point{{Size: 1, Predicted: 0}, {Size: 3, Predicted: 0}}, false},
		{"of other sizes", []Point{{Size: 1, Predicted: 10}, {Size: 4, Predicted: 50}}, false},
		{"of fewer sizes", []Point{{Size: 1, Predicted: 10}}, false},
	} {
		if got := slices.EqualFunc(foretold(a), foretold(c.b), alike); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestBrokenName(t *testing.T) {
	sty := style(tickSize, text)
	for _, c := range []struct {
		name  string
		width vg.Length
		want  []string
	}{
		{"app-clock", 100, []string{"app-clock"}},
		{"control/older-now-written", 80, []string{"control/older-", "now-written"}},
		{"redis-time", 30, []string{"redis-", "time"}},
		{"", 30, []string{""}},
	} {
		if got := brokenName(c.name, c.width, sty); !slices.Equal(got, c.want) {
			t.Errorf("%s in %v: %q, want %q", c.name, c.width, got, c.want)
		}
	}
}
