package plot

import (
	"testing"

	"gonum.org/v1/plot/vg"
)

func TestBelow(t *testing.T) {
	for _, c := range []struct {
		name           string
		a, b, from, to vg.Point
		seen           bool
	}{
		{"inside", vg.Point{X: 0, Y: 1}, vg.Point{X: 10, Y: 9}, vg.Point{X: 0, Y: 1}, vg.Point{X: 10, Y: 9}, true},
		{"leaves", vg.Point{X: 0, Y: 0}, vg.Point{X: 10, Y: 20}, vg.Point{X: 0, Y: 0}, vg.Point{X: 5, Y: 10}, true},
		{"comes back", vg.Point{X: 0, Y: 20}, vg.Point{X: 10, Y: 0}, vg.Point{X: 5, Y: 10}, vg.Point{X: 10, Y: 0}, true},
		{"outside", vg.Point{X: 0, Y: 20}, vg.Point{X: 10, Y: 30}, vg.Point{}, vg.Point{}, false},
	} {
		from, to, seen := below(c.a, c.b, 10)
		if seen != c.seen || seen && (from != c.from || to != c.to) {
			t.Errorf("%s: %v to %v, %v", c.name, from, to, seen)
		}
	}
}
