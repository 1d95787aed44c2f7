package capacity

import (
	"strings"
	"testing"
)

func TestRouting(t *testing.T) {
	for _, c := range []struct {
		before, between, after []float64
		want                   string
	}{
		{[]float64{5, 5, 5}, []float64{35, 40, 40}, []float64{35, 140, 40}, "the nodes made 30 %, 35 %, 35 %; all decisions of a hot key were made on one node"},
		{[]float64{0, 0}, []float64{10, 10}, []float64{60, 60}, "the nodes made 50 %, 50 %; a hot key's decisions were not all made on one node (50 %, 50 %)"},
		{[]float64{0, 0}, []float64{0, 0}, []float64{0, 0}, "the nodes made none; a hot key's decisions were not all"},
	} {
		if got := routing(c.before, c.between, c.after); !strings.Contains(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
