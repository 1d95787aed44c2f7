package control

import (
	"strings"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/backend/backendtest"
	"bucketproof/bucket/check"
)

// TestRepairedConforms tells the stories to each control without its fault:
// then there is nothing left to find. Scripts on callers' clocks are put on the
// server's for it, since some stories are about callers that disagree.
func TestRepairedConforms(t *testing.T) {
	for _, c := range All() {
		if c.Name == getSet.Name {
			continue // it is the reference then
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			c := c.Repaired()
			if c.Time == bucket.CallerTime {
				c.Time, c.Granularity, c.own.clock = bucket.ServerTime, time.Microsecond, serverMillis
			}
			for _, s := range stories {
				r := newRig(t, c, s.limit)
				s.tell(r)
				for name, res := range r.judge() {
					if res.Verdict == check.Fail {
						t.Errorf("%s: granted %s, and %s fails: %s", s.name, r.granted(), name, res.Detail)
					}
				}
			}
		})
	}
}

// TestOneLineIsTheFault: what is wrong with a script is marked in it, once, and
// is gone when it is repaired; of a control written in Go there are two ways to
// open it.
func TestOneLineIsTheFault(t *testing.T) {
	for _, c := range All() {
		if !c.Script() {
			if c.openRepaired == nil || c.own != (lines{}) || c.fault != (lines{}) || c.repair != (lines{}) {
				t.Errorf("%s is written in Go and has no repair, or lines of a script", c.Name)
			}
			continue
		}
		const mark = "-- the fault"
		if n := strings.Count(c.text(), mark); n != 1 {
			t.Errorf("%s marks %d faults, want one:\n%s", c.Name, n, c.text())
		}
		if text := c.Repaired().text(); strings.Contains(text, mark) {
			t.Errorf("%s has a fault when it is repaired:\n%s", c.Name, text)
		}
		if _, err := c.Repaired().limiterFile(); err != nil {
			t.Errorf("%s repaired: %v", c.Name, err)
		}
	}
}

// TestNoRepairIsTold: a control in Go that says of no repair does not become a
// limiter that happens to be right.
func TestNoRepairIsTold(t *testing.T) {
	c := getSet
	c.openRepaired = nil
	if _, err := c.Repaired().Open(backendtest.Embedded(t).Client()); err == nil {
		t.Error("opened a repair that there is not")
	}
}
