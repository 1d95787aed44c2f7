package reports

import (
	"slices"
	"strings"
	"testing"
)

func TestSelftestHeadline(t *testing.T) {
	run := func(scenario, limiter, name, verdict, outcome string) Run {
		return Run{Scenario: scenario, Limiter: limiter, Verdict: outcome, Checks: []Check{{Name: name, Verdict: verdict, Expected: "pass"}}}
	}
	control := func(name string, caught bool) ControlResult {
		return ControlResult{Name: "control/" + name, Check: "state-audit", Caught: caught}
	}
	shown := run("idle", "control/a", "state-audit", "fail", asExpected)
	quiet := run("idle", "control/b", "state-audit", "pass", asExpected)
	doubt := run("idle", "control/b", "state-audit", "undecided", notDecided)
	alarm := run("clean/001-poll", "memory", "accept-rate", "fail", notExpected)
	unclear := run("clean/002-poll", "memory", "accept-rate", "fail", notDecided)
	other := run("idle", "control/a", "fairness", "fail", notExpected)
	both := []ControlResult{control("a", true), control("b", false)}
	for _, c := range []struct {
		name   string
		want   string
		report Report
	}{
		{"holds", "The harness holds: 1 of 1 negative control caught, 0 false alarms in 20 clean runs.",
			Report{Verdict: "pass", Runs: []Run{shown}, Selftest: &Selftest{both[:1], 0, 20, 0}}},
		{"missed", "The harness does not hold: 1 of 2 negative controls caught (control/b missed by state-audit); 0 false alarms in 20 clean runs.",
			Report{Verdict: "fail", Runs: []Run{shown, quiet}, Unmet: []Unmet{{"control/b", "state-audit", ""}}, Selftest: &Selftest{both, 0, 20, 0}}},
		{"missed, whatever the verdict says", "The harness does not hold: 1 of 2 negative controls caught (control/b missed by state-audit); 0 false alarms in 20 clean runs.",
			Report{Verdict: "pass", Runs: []Run{shown, quiet}, Selftest: &Selftest{both, 0, 20, 0}}},
		{"accused", "The harness does not hold: 1 of 1 negative control caught; 1 false alarm in 20 clean runs (memory in clean/001-poll: accept-rate).",
			Report{Verdict: "fail", Runs: []Run{shown, alarm}, Selftest: &Selftest{both[:1], 1, 20, 0}}},
		{"undecided", "Undecided: 1 of 2 negative controls caught; 0 false alarms in 20 clean runs; 1 of 2 runs undecided.",
			Report{Verdict: "undecided", Runs: []Run{shown, doubt}, Selftest: &Selftest{both, 0, 20, 0}}},
		{"undecided clean run", "Undecided: 1 of 1 negative control caught; 0 false alarms in 20 clean runs (1 undecided); 1 of 2 runs undecided.",
			Report{Verdict: "undecided", Runs: []Run{shown, unclear}, Selftest: &Selftest{both[:1], 0, 20, 1}}},
		{"interrupted", "Undecided: 1 of 2 negative controls caught; 0 false alarms in 0 clean runs; 1 run did not take place.",
			Report{Verdict: "undecided", Runs: []Run{shown}, Skipped: []Skip{{Limiter: "control/b"}}, Selftest: &Selftest{both, 0, 0, 0}}},
		{"something else", "The harness does not hold: 1 of 1 negative control caught; 0 false alarms in 20 clean runs; " +
			"1 other run not as expected (control/a in idle: fairness); 1 other expected fault that no run showed.",
			Report{Verdict: "fail", Runs: []Run{shown, other}, Unmet: []Unmet{{"control/a", "fairness", ""}}, Selftest: &Selftest{both[:1], 0, 20, 0}}},
	} {
		if got := headline(&c.report); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestListedNamesAFew(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, ""}, {[]string{"a"}, " (a)"}, {[]string{"a", "b", "c"}, " (a, b, c)"}, {[]string{"a", "b", "c", "d"}, " (a, b, c, …)"},
	} {
		if got := listed(c.names); got != c.want {
			t.Errorf("listed(%q) = %q, want %q", c.names, got, c.want)
		}
	}
}

func TestControlsAreCaughtMissedOrNotDecided(t *testing.T) {
	run := func(verdict string) Run {
		return Run{Limiter: "control/x", Checks: []Check{{Name: "replay", Verdict: verdict}}}
	}
	for _, c := range []struct {
		name   string
		caught bool
		report Report
		want   state
		whole  state
		words  string
	}{
		{"caught", true, Report{Runs: []Run{run("fail")}}, caught, passed, "Caught."},
		{"passed", false, Report{Runs: []Run{run("pass")}}, unexpected, unexpected, "Missed: replay did not fail in its only run."},
		{"passed often", false, Report{Runs: []Run{run("pass"), run("pass")}}, unexpected, unexpected, "Missed: replay failed in none of its 2 runs."},
		{"not made", false, Report{Runs: []Run{{Limiter: "control/x"}}}, unexpected, unexpected, "Missed: replay did not fail in its only run."},
		{"failed as the clocks explain", false, Report{Runs: []Run{run("fail")}}, unexpected, unexpected,
			"Missed: replay failed by no more than the callers' clocks explain."},
		{"interrupted", false, Report{Runs: []Run{{Limiter: "control/x", Verdict: notDecided, Checks: []Check{{Name: "replay", Verdict: "skipped"}}}}},
			undecided, undecided, "Not decided: replay could not tell in its only run."},
		{"could not tell", false, Report{Runs: []Run{run("undecided")}}, undecided, undecided, "Not decided: replay could not tell in its only run."},
		{"could not tell once", false, Report{Runs: []Run{run("undecided"), run("pass")}}, undecided, undecided,
			"Not decided: replay could not tell in 1 of its 2 runs."},
		{"not run", false, Report{Runs: []Run{{Limiter: "another"}}}, undecided, undecided, "Not decided: no run of it ended."},
		{"not all run", false, Report{Runs: []Run{run("pass")}, Skipped: []Skip{{Limiter: "control/x"}}}, undecided, undecided,
			"Not decided: 1 run of it did not take place."},
	} {
		control := ControlResult{Name: "control/x", Check: "replay", Caught: c.caught}
		c.report.Selftest = &Selftest{Controls: []ControlResult{control}, CleanRuns: 20}
		if got := stateOfControl(&c.report, control); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got.name(), c.want.name())
		}
		if got := controlWords(&c.report, control); got != c.words {
			t.Errorf("%s: %q, want %q", c.name, got, c.words)
		}
		if got := stateOfSelftest(&c.report); got != c.whole {
			t.Errorf("%s: the whole is %s, want %s", c.name, got.name(), c.whole.name())
		}
	}
}

// TestMissedControlIsNoPassInTheMatrix: a control's own run asks for nothing,
// since another one may show the fault.
func TestMissedControlIsNoPassInTheMatrix(t *testing.T) {
	f := selftested(3)
	for _, c := range []struct {
		limiter, scenario string
		want              state
	}{
		{"control/get-set", "atomic-burst", caught},
		{"control/older-now-written", "skew-mixed/4", unexpected},
		{"control/seconds-for-milliseconds", "overload/100-50", undecided},
		{"control/ttl-zero", "idle-burst-short", skipped},
		{"memory", "clean", passed},
	} {
		marks := newMatrix(f.report).at(c.limiter, c.scenario)
		if len(marks) != 1 || marks[0].State != c.want {
			t.Errorf("%s in %s: %v, want one that is %s", c.limiter, c.scenario, marks, c.want.name())
		}
	}
}

func TestJUnitOfSelftest(t *testing.T) {
	report := decodedJUnit(t, selftested(5).report)
	if got := report.Suites[0]; got.Tests != len(someControls)+1 || got.Failures != 2 || got.Skipped != 2 {
		t.Errorf("%d cases, %d failures, %d skipped; want one a control and one for the clean runs, of which two fail and two are skipped",
			got.Tests, got.Failures, got.Skipped)
	}
	var suites []string
	for _, s := range report.Suites {
		suites = append(suites, s.Name)
	}
	if clean := slices.Index(suites, "clean"); clean < 0 || report.Suites[clean].Tests != 5 {
		t.Errorf("suites %q, want the clean runs in one", suites)
	}
	if slices.ContainsFunc(suites, func(name string) bool { return strings.HasPrefix(name, "expectations") }) {
		t.Error("the missed control is told twice")
	}
	if got := decodedJUnit(t, held().report); got.Failures+got.Skipped != 0 {
		t.Errorf("%d failures and %d skipped though the harness holds", got.Failures, got.Skipped)
	}
}

// TestSelftestVerdict: what the selftest found out outweighs what the runs came
// to by themselves, and never betters it.
func TestSelftestVerdict(t *testing.T) {
	missed, shown := ControlResult{Name: "control/x", Check: "replay"}, ControlResult{Name: "control/x", Check: "replay", Caught: true}
	for _, c := range []struct {
		runs, want string
		check      string // what it says of the control's run
		control    ControlResult
		alarms     int
	}{
		{"pass", "pass", "fail", shown, 0},
		{"undecided", "undecided", "fail", shown, 0},
		{"fail", "fail", "fail", shown, 0},
		{"pass", "fail", "fail", shown, 1},
		{"undecided", "fail", "fail", shown, 1},
		{"pass", "fail", "pass", missed, 0},
		{"undecided", "fail", "fail", missed, 0},
		{"pass", "undecided", "undecided", missed, 0},
		{"fail", "fail", "undecided", missed, 0},
	} {
		r := &Report{
			Verdict: c.runs, Runs: []Run{{Limiter: "control/x", Checks: []Check{{Name: "replay", Verdict: c.check}}}},
			Selftest: &Selftest{Controls: []ControlResult{c.control}, FalseAlarms: c.alarms, CleanRuns: 20},
		}
		if got := SelftestVerdict(r); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
