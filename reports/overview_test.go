package reports

import "testing"

// TestOnlyClockSpreadsAreDrawn: at another limit or load the excess means
// something else, and a line from point to point would mislead.
func TestOnlyClockSpreadsAreDrawn(t *testing.T) {
	for _, c := range []struct {
		name   string
		points []string
		drawn  int
	}{
		{"spreads", []string{"0s", "10ms", "1.5s"}, 1},
		{"limits", []string{"100-50", "1-1"}, 0},
		{"loads", []string{"0.5", "2"}, 0},
		{"both", []string{"10ms", "100-50"}, 0},
		{"clean runs", []string{"000-poll-20-1", "001-overload"}, 0},
	} {
		r := &Report{}
		for i, point := range c.points {
			r.Runs = append(r.Runs, Run{Scenario: "sweep/" + point, Limiter: "a", Time: "caller", Checks: []Check{
				overAdmission("fail", true, map[string]float64{"peak_excess": float64(3 * i)}),
			}})
		}
		if got := len(sweepPages(r)); got != c.drawn {
			t.Errorf("%s: %d pictures, want %d", c.name, got, c.drawn)
		}
	}
}
