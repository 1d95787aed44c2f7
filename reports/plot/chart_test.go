package plot

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot/vg"

	"bucketproof/reports/quantity"
)

func TestScaleTicks(t *testing.T) {
	sty := style(tickSize, muted)
	for _, c := range []struct {
		name   string
		scale  scale
		length float64
		want   string
	}{
		{"linear", scale{high: 100}, 300, "0 20 40 60 80 100"},
		{"from above 0", scale{low: 16_000, high: 24_000}, 300, "16,000 18,000 20,000 22,000 24,000"},
		{"in words", scale{high: 4e6, words: bytesLabel}, 200, "0 1 MB 2 MB 3 MB 4 MB"},
		{"a decade", scale{low: 100, high: 1000, log: true}, 300, "100 200 500 1,000"},
		{"decades", scale{low: 100, high: 1e6, log: true, words: quantity.Micros}, 300, "100 µs 1 ms 10 ms 100 ms 1 s"},
		{"less than a decade, between round numbers", scale{low: 110, high: 190, log: true}, 300, "110 190"},
		{"wanted", scale{low: 1, high: 512, log: true, at: []float64{1, 4, 32, 512}}, 300, "1 4 32 512"},
		{"wanted without room", scale{low: 1, high: 512, log: true, at: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512}}, 120, "1 2 4 8 32 128 512"},
	} {
		list := c.scale.ticks(vg.Length(c.length), 50, sty)
		var labels []string
		for _, tick := range list {
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestExtentAndHighest(t *testing.T) {
	lists := [][]XY{{{3, 7}, {5, 2}}, nil, {{4, math.NaN()}}}
	if low, high := extent(lists...); low != 3 || high != 5 {
		t.Errorf("from %v to %v, want 3 to 5", low, high)
	}
	if got := highest(lists...); got != 7 {
		t.Errorf("highest %v, want 7", got)
	}
	if low, high := extent(); !(low > 0 && high > low) {
		t.Errorf("of nothing: from %v to %v, want something to draw", low, high)
	}
}

// TestDelaysShowEveryStep: no step lies outside the axes, however far it is from
// the medians, and what is needed for the names lies below all of them.
func TestDelaysShowEveryStep(t *testing.T) {
	d := Delays{Objective: 5000, Lines: []Delay{{
		Name: "a", P50: []XY{{1000, 200}, {2000, 300}}, P99: []XY{{1000, 900}, {2000, 7000}}, P999: []XY{{1000, 2000}, {2000, 9000}},
		Met: []XY{{1000, 900}}, Other: []XY{{2000, 7000}, {2000, 90_000}, {2500, 10}}, Knee: 1000,
	}}}
	x, y := d.scales()
	for _, v := range append(d.Lines[0].Met, d.Lines[0].Other[:2]...) {
		if v.X < x.low || v.X > x.high || v.Y <= y.low || v.Y > y.high {
			t.Errorf("%v lies outside %v to %v, %v to %v", v, x.low, x.high, y.low, y.high)
		}
	}
	if y.low >= 200 {
		t.Errorf("the axis begins at %v µs and leaves no room for names below 200", y.low)
	}
}

// TestPicturesOfNothing: whatever is missing, a picture is drawn, and no number
// in it is none.
func TestPicturesOfNothing(t *testing.T) {
	nan := math.NaN()
	for name, f := range map[string]Figure{
		"throughput":         Throughput{Title: "t"}.Wide(),
		"throughput, no law": Throughput{Lines: []Scaling{{Name: "a", Plain: []XY{{1, 10}}}}}.Narrow(),
		"throughput of 0":    Throughput{Lines: []Scaling{{Name: "a", Plain: []XY{{1, 0}, {2, 0}}}}}.Narrow(),
		"delays":             Delays{}.Wide(),
		"delays, one step":   Delays{Lines: []Delay{{Name: "a", P50: []XY{{10, 1}}, Other: []XY{{10, nan}}}}}.Narrow(),
		"delays, no answer":  Delays{Lines: []Delay{{Name: "a", Other: []XY{{10, 0}}}}}.Narrow(),
		"footprint":          Footprint{}.Wide(),
		"footprint, a point": Footprint{Lines: []Memory{{Name: "a", Measured: []XY{{1000, 1e5}}}}}.Narrow(),
		"footprint of 0":     Footprint{Lines: []Memory{{Name: "a", Measured: []XY{{0, 0}, {1000, 0}}, Each: 100}}}.Narrow(),
	} {
		svg := f.SVG()
		for _, bad := range []string{"NaN", "Inf", "-9223372036854775808"} {
			if bytes.Contains(svg, []byte(bad)) {
				t.Errorf("%s: %s in the picture", name, bad)
			}
		}
	}
}

// TestManyLimitersFitOnePicture: as many as a picture tells apart, all of them in
// the legend.
func TestManyLimitersFitOnePicture(t *testing.T) {
	var lines []Scaling
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		lines = append(lines, Scaling{Name: name, Plain: []XY{{1, 10}, {8, 50}}})
	}
	var labels []string
	for _, e := range (Throughput{Lines: lines}).legend() {
		labels = append(labels, e.label)
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "d", "e", "f"}, labels); diff != "" {
		t.Error(diff)
	}
}
