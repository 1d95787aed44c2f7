package scenarios

import (
	"math"
	"testing"

	"bucketproof/bucket"
)

// Every scenario of the catalogue has a limit for limiters that count in
// windows: whole, and no farther from the one written than half of it.
func TestWindowLimits(t *testing.T) {
	for from, want := range map[bucket.Limit]bucket.Limit{
		{Rate: 100, Capacity: 50}:   {Rate: 100, Capacity: 50},
		{Rate: 0.5, Capacity: 3.5}:  {Rate: 0.5, Capacity: 4},
		{Rate: 15, Capacity: 20}:    {Rate: 15, Capacity: 21},
		{Rate: 130, Capacity: 20}:   {Rate: 130, Capacity: 26},
		{Rate: 33.3, Capacity: 7.5}: {Rate: 32, Capacity: 8},
	} {
		if got := windowLimit(from); got != want {
			t.Errorf("%v becomes %v, want %v", from, got, want)
		}
	}
	for _, name := range Names() {
		s, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range append([]bucket.Limit{s.Limit}, s.Sweep.Limit...) {
			to := windowLimit(l)
			if !wholeWindow(to) || to.Capacity != math.Trunc(to.Capacity) ||
				math.Abs(to.Capacity/l.Capacity-1) > 0.5 || math.Abs(to.Rate/l.Rate-1) > 0.5 {
				t.Errorf("%s: %v becomes %v", name, l, to)
			}
		}
	}
}
