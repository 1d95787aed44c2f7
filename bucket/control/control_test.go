package control

import (
	"slices"
	"strings"
	"testing"

	"bucketproof/bucket/check"
	"bucketproof/bucket/limiterfile"
)

// TestEachFaultIsCaught tells every story to every control. The check that a
// control names must fail in one of them, and in none may a check fail that
// the control expects to pass: its fault is its only one.
func TestEachFaultIsCaught(t *testing.T) {
	for _, c := range All() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			caught := false
			for _, s := range stories {
				r := newRig(t, c, s.limit)
				s.tell(r)
				for name, res := range r.judge() {
					if res.Verdict != check.Fail {
						continue
					}
					caught = caught || name == c.Check
					if want := c.Expect[name]; want != limiterfile.Fail && want != limiterfile.Any {
						t.Errorf("%s: %s must pass, and fails: %s", s.name, name, res.Detail)
					}
				}
			}
			if !caught && c.Name != getSet.Name { // which takes concurrency
				t.Errorf("%s was not caught by %s in any story", c.Name, c.Check)
			}
		})
	}
}

// TestControlsSayWhatTheirFilesSay holds the two places together that tell of a
// control's clock and state.
func TestControlsSayWhatTheirFilesSay(t *testing.T) {
	var names []string
	for _, c := range All() {
		names = append(names, c.Name)
		if c.Expect[c.Check] != limiterfile.Fail {
			t.Errorf("%s is to be caught by %s and does not expect it to fail", c.Name, c.Check)
		}
		if c.StandsFor == "" || c.Threads == "" {
			t.Errorf("%s does not say what it stands for", c.Name)
		}
		if c.open != nil {
			continue
		}
		f, err := c.limiterFile()
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if want := strings.Replace(c.Name, "/", "-", 1); f.Name != want {
			t.Errorf("%s: the file says name %s, want %s", c.Name, f.Name, want)
		}
		if f.Time != c.Time || f.Granularity != c.Granularity || f.UsesCost != c.UsesCost {
			t.Errorf("%s: the file says %s's clock, %v, cost %v", c.Name, f.Time, f.Granularity, f.UsesCost)
		}
		if f.State == nil || c.State == nil || *f.State != *c.State {
			t.Errorf("%s: the file says state %v", c.Name, f.State)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("not in order: %v", names)
	}
}
