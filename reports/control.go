package reports

import (
	"fmt"

	"bucketproof/bucket/check"
	"bucketproof/reports/quantity"
)

// stateOfControl is caught, undecided where a run that could have shown the
// fault did not end or could not decide, and else unexpected: the control was
// missed.
func stateOfControl(r *Report, c ControlResult) state {
	n := countControl(r, c)
	switch {
	case c.Caught:
		return caught
	case n.runs == 0 || n.undecided > 0 || n.skipped > 0:
		return undecided
	}
	return unexpected
}

// stateWithin is what a run came to in its report: of a control that was not
// caught, that, since its own verdict asks no single run to show the fault.
func stateWithin(r *Report, run Run) state {
	s := stateOf(run)
	if r.Selftest == nil {
		return s
	}
	for _, c := range r.Selftest.Controls {
		if c.Name == run.Limiter && !c.Caught {
			s = max(s, stateOfControl(r, c))
		}
	}
	return s
}

// controlRuns is how the runs of a control ended.
type controlRuns struct{ runs, failed, undecided, skipped int }

func countControl(r *Report, c ControlResult) controlRuns {
	var n controlRuns
	for _, run := range r.Runs {
		if run.Limiter != c.Name {
			continue
		}
		n.runs++
		switch v := verdictOf(run, c.Check); {
		case v == check.Fail:
			n.failed++
		case v == check.Undecided, v == check.Skipped && run.Verdict == notDecided:
			n.undecided++
		}
	}
	for _, s := range r.Skipped {
		if s.Limiter == c.Name {
			n.skipped++
		}
	}
	return n
}

// verdictOf is what a check says of a run; "" when it was not made.
func verdictOf(run Run, name string) check.Verdict {
	for _, c := range run.Checks {
		if c.Name == name {
			return check.Verdict(c.Verdict)
		}
	}
	return ""
}

// runOfControl is the index of the run that shows the control: the first that
// its check failed, else its first; -1 when there is none.
func runOfControl(r *Report, c ControlResult) int {
	first := -1
	for i, run := range r.Runs {
		if run.Limiter != c.Name {
			continue
		}
		if verdictOf(run, c.Check) == check.Fail {
			return i
		}
		if first < 0 {
			first = i
		}
	}
	return first
}

// controlWords say how a control was caught, or what its check said instead.
func controlWords(r *Report, c ControlResult) string {
	if c.Caught {
		if c.Evidence == "" {
			return "Caught."
		}
		return sentence(c.Evidence)
	}
	return uncaughtWords(r, c, c.Check+" ")
}

// controlFigure is controlWords for a line that names the check already: the
// scenario with the check's main figure.
func controlFigure(r *Report, c ControlResult) string {
	if !c.Caught {
		return uncaughtWords(r, c, "")
	}
	if i := runOfControl(r, c); i >= 0 {
		for _, found := range r.Runs[i].Checks {
			if figure := mainFigure(found); found.Name == c.Check && found.Verdict == string(check.Fail) && figure != "" {
				return r.Runs[i].Scenario + ": " + figure
			}
		}
	}
	return controlWords(r, c)
}

// uncaughtWords say why a control was not caught; subject is its check, or
// nothing.
func uncaughtWords(r *Report, c ControlResult, subject string) string {
	n := countControl(r, c)
	if stateOfControl(r, c) == unexpected {
		if n.failed > 0 {
			return fmt.Sprintf("Missed: %sfailed by no more than the callers' clocks explain.", subject)
		}
		if n.runs == 1 {
			return fmt.Sprintf("Missed: %sdid not fail in its only run.", subject)
		}
		return fmt.Sprintf("Missed: %sfailed in none of its %d runs.", subject, n.runs)
	}
	switch {
	case n.runs == 0:
		return "Not decided: no run of it ended."
	case n.undecided == 0:
		return fmt.Sprintf("Not decided: %s of it did not take place.", quantity.Things(n.skipped, "run"))
	case n.runs == 1:
		return fmt.Sprintf("Not decided: %scould not tell in its only run.", subject)
	}
	return fmt.Sprintf("Not decided: %scould not tell in %d of its %d runs.", subject, n.undecided, n.runs)
}

// controlCommand shows the control to whoever wants to see it; "" when its
// scenario is not known.
func controlCommand(c ControlResult) string {
	if c.Scenario == "" {
		return ""
	}
	return fmt.Sprintf("harness run %s --limiter %s", c.Scenario, c.Name)
}
