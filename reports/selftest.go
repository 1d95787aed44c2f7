package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"bucketproof/bucket/check"
	"bucketproof/reports/quantity"
)

// Selftest is what `harness selftest` found out about the harness itself.
type Selftest struct {
	Controls    []ControlResult `json:"controls"`
	FalseAlarms int             `json:"false_alarms"` // clean runs in which some check failed
	CleanRuns   int             `json:"clean_runs"`   // runs of correct limiters

	// UndecidedRuns are the clean runs that came to no verdict, on a machine that
	// was too slow: neither an alarm nor the proof that there is none.
	UndecidedRuns int `json:"undecided_runs"`
}

// ControlResult is whether a negative control was caught.
type ControlResult struct {
	Name      string `json:"name"`
	Check     string `json:"check"` // that must catch it
	Caught    bool   `json:"caught"`
	StandsFor string `json:"stands_for"`         // the root cause
	Threads   string `json:"threads,omitempty"`  // where it happened
	Scenario  string `json:"scenario,omitempty"` // that shows it
	Evidence  string `json:"evidence,omitempty"` // scenario and sentence with which it was caught
}

// clean runs of a selftest are the points of a scenario of this name.
const cleanScenario = "clean"

// aboutClean stands where a scenario says what it provokes.
const aboutClean = "Correct limiters on clocks that agree, each run with a seed of its own: any check that fails here is a false alarm."

// aboutControls says what the table of controls shows.
const aboutControls = "Each control is a limiter that is broken on purpose, in the way a published one was; the check beside it must fail."

// mostNamed is how many missed controls and false alarms are named in a line.
const mostNamed = 3

// selftestHeadline says whether the harness holds, and what it missed.
func selftestHeadline(r *Report) string {
	parts := []string{caughtWords(r), alarmWords(r)}
	state := topState(r)
	if state == passed {
		return "The harness holds: " + strings.Join(parts, ", ") + "."
	}
	parts[0] += listed(missed(r))
	parts[1] += listed(alarmNames(r))
	n := tally(r)
	if bad := otherwiseUnexpected(r); len(bad) > 0 {
		parts = append(parts, quantity.Things(len(bad), "other run")+" not as expected"+listed(bad))
	}
	if unmet := untold(r); len(unmet) > 0 {
		parts = append(parts, quantity.Things(len(unmet), "other expected fault")+" that no run showed")
	}
	if n.states[undecided] > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s undecided", n.states[undecided], quantity.Things(len(r.Runs), "run")))
	}
	if len(r.Skipped) > 0 {
		parts = append(parts, quantity.Things(len(r.Skipped), "run")+" did not take place")
	}
	verdict := "The harness does not hold: "
	if state == undecided {
		verdict = "Undecided: "
	}
	return verdict + strings.Join(parts, "; ") + "."
}

// caughtWords counts the controls that were caught.
func caughtWords(r *Report) string {
	if len(r.Selftest.Controls) == 0 {
		return "no negative control was run"
	}
	n := 0
	for _, c := range r.Selftest.Controls {
		if c.Caught {
			n++
		}
	}
	return fmt.Sprintf("%d of %s caught", n, quantity.Things(len(r.Selftest.Controls), "negative control"))
}

// alarmWords counts the clean runs in which a check failed, and those that came
// to no verdict.
func alarmWords(r *Report) string {
	words := fmt.Sprintf("%s in %s", quantity.Things(r.Selftest.FalseAlarms, "false alarm"), quantity.Things(r.Selftest.CleanRuns, "clean run"))
	if n := r.Selftest.UndecidedRuns; n > 0 {
		words += fmt.Sprintf(" (%d undecided)", n)
	}
	return words
}

// listed puts the first few names in brackets; "" for none.
func listed(names []string) string {
	if len(names) == 0 {
		return ""
	}
	words := strings.Join(names[:min(len(names), mostNamed)], ", ")
	if len(names) > mostNamed {
		words += ", …"
	}
	return " (" + words + ")"
}

// missed names the controls that their checks did not catch.
func missed(r *Report) []string {
	var names []string
	for _, c := range r.Selftest.Controls {
		if stateOfControl(r, c) == unexpected {
			names = append(names, fmt.Sprintf("%s missed by %s", c.Name, c.Check))
		}
	}
	return names
}

// stateOfSelftest is unexpected when the harness misses a fault or accuses the
// innocent, whatever else the runs came to.
func stateOfSelftest(r *Report) state {
	worst := stateOfAlarms(r)
	for _, c := range r.Selftest.Controls {
		if s := stateOfControl(r, c); s != caught {
			worst = max(worst, s)
		}
	}
	return worst
}

// SelftestVerdict is r.Verdict after what the selftest in r found out: a missed
// control and a false alarm fail, whatever the runs came to by themselves.
func SelftestVerdict(r *Report) string {
	switch s := stateOfSelftest(r); {
	case s == unexpected:
		return "fail"
	case s == undecided && r.Verdict == "pass":
		return "undecided"
	}
	return r.Verdict
}

// stateOfAlarms is passed when no correct limiter was accused.
func stateOfAlarms(r *Report) state {
	switch {
	case r.Selftest.FalseAlarms > 0:
		return unexpected
	case r.Selftest.CleanRuns == 0:
		return undecided
	}
	return passed
}

// falseAlarms are the indices of the clean runs in which a check failed; one that
// was undecided accuses nobody.
func falseAlarms(r *Report) []int {
	var list []int
	for i, run := range r.Runs {
		if isClean(run) && run.Verdict != notDecided && len(failed(run)) > 0 {
			list = append(list, i)
		}
	}
	return list
}

func alarmNames(r *Report) []string {
	var names []string
	for _, i := range falseAlarms(r) {
		run := r.Runs[i]
		names = append(names, fmt.Sprintf("%s in %s: %s", run.Limiter, run.Scenario, strings.Join(failed(run), ", ")))
	}
	return names
}

// otherwiseUnexpected names the runs whose verdict is not explained by a
// missed control or a false alarm.
func otherwiseUnexpected(r *Report) []string {
	alarms := falseAlarms(r)
	var names []string
	for i, run := range r.Runs {
		if stateOf(run) == unexpected && !slices.Contains(alarms, i) {
			names = append(names, fmt.Sprintf("%s in %s: %s", run.Limiter, run.Scenario, strings.Join(checkNames(run, unexpected), ", ")))
		}
	}
	return names
}

// untold are the unmet expectations that the controls of a selftest do not
// tell already.
func untold(r *Report) []Unmet {
	if r.Selftest == nil {
		return r.Unmet
	}
	return slices.DeleteFunc(slices.Clone(r.Unmet), func(u Unmet) bool {
		return slices.ContainsFunc(r.Selftest.Controls, func(c ControlResult) bool {
			return c.Name == u.Limiter && c.Check == u.Check && !c.Caught
		})
	})
}

// ranked are the controls with those to look at first.
func ranked(r *Report) []ControlResult {
	return slices.SortedStableFunc(slices.Values(r.Selftest.Controls), func(a, b ControlResult) int {
		return cmp.Compare(stateOfControl(r, b), stateOfControl(r, a))
	})
}

func isClean(run Run) bool {
	return strings.HasPrefix(run.Scenario, cleanScenario+"/")
}

// failed names the checks of a run that failed.
func failed(run Run) []string {
	var names []string
	for _, c := range run.Checks {
		if c.Verdict == string(check.Fail) {
			names = append(names, c.Name)
		}
	}
	return names
}
