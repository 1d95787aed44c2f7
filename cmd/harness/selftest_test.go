package main

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bucketproof/bucket/control"
	"bucketproof/reports"
	"bucketproof/scenarios"
)

// selftest runs `harness selftest` in this process with other controls in the
// places of its own.
func selftest(t *testing.T, controls []control.Control, clean int) (*reports.Report, error) {
	t.Helper()
	dir := t.TempDir()
	j := newJob(streams{strings.NewReader(""), io.Discard, io.Discard}, runFlags{
		redis: redisDefault(), out: dir, seed: 1, quick: true, witness: string(scenarios.WitnessAuto), format: "text",
	}, "selftest")
	j.limiters.controls = controls
	err := j.selftest(t.Context(), controls, clean)
	r, readErr := reports.Read(dir)
	if readErr != nil {
		t.Fatal(errors.Join(err, readErr))
	}
	return r, err
}

// TestSelftestIsHonest: with its fault each control is caught, and without it
// none is. The verdict then is a failure for each of them alone, whatever the
// others came to.
func TestSelftestIsHonest(t *testing.T) {
	if testing.Short() {
		t.Skip("two selftests take half a minute")
	}
	controls := control.All()
	var repaired []control.Control
	for _, c := range controls {
		repaired = append(repaired, c.Repaired())
	}
	broken, err := selftest(t, controls, minClean)
	if s := statusOf(err); err != nil && s != statusUndecided {
		t.Errorf("exit status %d with the faults: %v, %+v", s, err, broken.Selftest)
	}
	twins, err := selftest(t, repaired, 0)
	if s := statusOf(err); s != statusFail {
		t.Errorf("exit status %d without them: %v, want %d", s, err, statusFail)
	}
	undecided := slices.DeleteFunc(repaired, func(c control.Control) bool { return !undecidedIn(twins, c) })
	again := twins
	if len(undecided) > 0 {
		again, _ = selftest(t, undecided, 0)
	}
	for i, c := range controls {
		t.Run(strings.TrimPrefix(c.Name, "control/"), func(t *testing.T) {
			if row := broken.Selftest.Controls[i]; row.Name != c.Name || !row.Caught && !undecidedIn(broken, c) {
				t.Errorf("with its fault it is not caught, though its runs were decided: %+v", row)
			}
			from := twins
			if undecidedIn(twins, c) {
				from = again
			}
			switch r := conclude(controls, c, broken, from); {
			case caught(r, c.Name):
				t.Errorf("without its fault it is caught: %+v", r.Selftest.Controls[i])
			case r.Verdict == "undecided":
				t.Skip("this machine is too slow to decide, twice")
			case r.Verdict != "fail":
				t.Errorf("one repaired control leaves the verdict %s", r.Verdict)
			}
		})
	}
}

// caught reports whether the row of a control says so.
func caught(r *reports.Report, name string) bool {
	return slices.ContainsFunc(r.Selftest.Controls, func(c reports.ControlResult) bool { return c.Name == name && c.Caught })
}

// conclude is what a selftest would come to that caught all controls but c,
// which has no fault: the runs of broken with those of twins for c, and no word
// of what the limiters were expected to show.
func conclude(controls []control.Control, c control.Control, broken, twins *reports.Report) *reports.Report {
	r := &reports.Report{Verdict: "pass"}
	for _, from := range []*reports.Report{broken, twins} {
		for _, run := range from.Runs {
			if (run.Limiter == c.Name) == (from == twins) {
				r.Runs = append(r.Runs, run)
			}
		}
	}
	concludeSelftest(r, controls)
	for i := range r.Selftest.Controls { // as if every other one had been caught
		row := &r.Selftest.Controls[i]
		row.Caught = row.Caught || row.Name != c.Name
	}
	r.Verdict, r.Selftest.FalseAlarms = "pass", 0
	r.Verdict = reports.SelftestVerdict(r)
	return r
}

// undecidedIn reports whether the check of c was undecided in one of its runs.
func undecidedIn(r *reports.Report, c control.Control) bool {
	return slices.ContainsFunc(r.Runs, func(run reports.Run) bool {
		return run.Limiter == c.Name && slices.ContainsFunc(run.Checks, func(found reports.Check) bool {
			return found.Name == c.Check && found.Verdict == "undecided"
		})
	})
}

// TestCatchIsBeyondTheClocks: what the callers' clocks explain is no catch,
// unless to trust them is the fault, and no other check's failure is one.
func TestCatchIsBeyondTheClocks(t *testing.T) {
	for _, tt := range []struct {
		check, verdict   string
		byClocks, within bool
		want             bool
	}{
		{"over-admission", "fail", false, false, true},
		{"over-admission", "fail", false, true, false},
		{"over-admission", "fail", true, true, true},
		{"over-admission", "undecided", true, false, false},
		{"over-admission", "pass", true, true, false},
		{"state-audit", "fail", true, false, false},
	} {
		c := control.Control{Name: "control/x", Check: "over-admission", ByClocks: tt.byClocks}
		r := &reports.Report{Verdict: "pass", Runs: []reports.Run{
			{Limiter: "control/y", Checks: []reports.Check{{Name: "over-admission", Verdict: "fail"}}},
			{Limiter: c.Name, Checks: []reports.Check{{Name: tt.check, Verdict: tt.verdict, WithinPrediction: tt.within}}},
		}}
		concludeSelftest(r, []control.Control{c})
		if got := r.Selftest.Controls[0].Caught; got != tt.want {
			t.Errorf("%+v: caught is %v", tt, got)
		}
	}
}

// TestUndecidedCleanRunIsNoAlarm: a clean run that was not decided accuses
// nobody, whatever was seen in it, and is told.
func TestUndecidedCleanRunIsNoAlarm(t *testing.T) {
	failing := []reports.Check{{Name: "accept-rate", Verdict: "fail"}}
	r := &reports.Report{Verdict: "undecided", Runs: []reports.Run{
		{Scenario: "clean/000-poll", Verdict: "as-expected"},
		{Scenario: "clean/001-poll", Verdict: "undecided", Checks: failing},
		{Scenario: "clean/002-poll", Verdict: "unexpected", Checks: failing},
		{Scenario: "poll", Verdict: "unexpected", Checks: failing},
	}}
	concludeSelftest(r, nil)
	if got := *r.Selftest; got.CleanRuns != 3 || got.UndecidedRuns != 1 || got.FalseAlarms != 1 {
		t.Errorf("%+v, want 3 clean runs, 1 undecided, 1 false alarm", got)
	}
}

// planned lists clean runs as limiter and point, in order.
func planned(t *testing.T, seed uint64, n int) (names []string, plans []scenarios.Plan) {
	t.Helper()
	plans, err := cleanPlans(newLimiters(), scenarios.Selection{Seed: seed, Witness: scenarios.WitnessAuto}, n)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range plans {
		point, ok := strings.CutPrefix(p.Scenario.Name, fmt.Sprintf("%s%03d-", cleanPrefix, i))
		if !ok {
			t.Fatalf("run %d is named %s", i, p.Scenario.Name)
		}
		names = append(names, p.Subject.Name+" "+point)
	}
	return names, plans
}

// TestCleanRunsCoverTheSuite: enough of them meet each point of the standard
// suite whose clocks agree with each limiter that must pass it; the first few
// are brief and meet every limiter; all come from the seed.
func TestCleanRunsCoverTheSuite(t *testing.T) {
	names, plans := planned(t, 7, 1000)
	met := map[string]bool{}
	for i, p := range plans {
		met[names[i]] = true
		if i < minClean && p.Scenario.Length() > brief {
			t.Errorf("%s takes %v and is among the first %d", names[i], p.Scenario.Length(), minClean)
		}
		if p.Scenario.Latency || !p.Scenario.Synchronized() {
			t.Errorf("%s measures latency or has clocks that differ", names[i])
		}
	}
	standard, _ := scenarios.SuiteOf("standard")
	want := 0
	for _, name := range standard {
		s, err := scenarios.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if s.Latency || !s.Synchronized() {
			continue
		}
		for _, p := range s.Points() {
			for _, limiter := range cleanLimiters {
				if s.Expect[limiter] != nil {
					continue // it need not pass everything
				}
				want++
				if run := limiter + " " + strings.ReplaceAll(p.Name, "/", "-"); !met[run] {
					t.Errorf("no run of %s", run)
				}
			}
		}
	}
	if len(met) != want || want < 60 {
		t.Errorf("%d different runs, want %d, and at least 60", len(met), want)
	}
	if again, _ := planned(t, 7, 1000); !reflect.DeepEqual(names, again) {
		t.Error("the same seed gives other runs")
	}
	if others, _ := planned(t, 8, minClean); reflect.DeepEqual(names[:minClean], others) {
		t.Error("another seed gives the same runs")
	}
	for i, p := range plans[1:] {
		if p.Seed == plans[i].Seed {
			t.Errorf("two runs in turn have the seed %d", p.Seed)
		}
	}
}
