package reports

import "strings"

// findings are what a reader of a run that is not as expected, or not decided,
// needs to know, a line each: the checks whose verdict was not expected, then
// why others could not be decided.
func findings(run Run) []string {
	var lines []string
	for _, c := range run.Checks {
		if stateOfCheck(run, c) == unexpected {
			lines = append(lines, c.Name+": "+strings.Join(sentences(run, c), " "))
		}
	}
	lines = append(lines, doubts(run)...)
	for _, w := range run.Warnings {
		if !mentioned(lines, w) {
			lines = append(lines, "warning: "+w)
		}
	}
	return lines
}

// doubts are the undecided checks of a run. Those with one reason share a
// line, without what was seen all the same: a slow machine would otherwise be
// told of in as many words as there are checks.
func doubts(run Run) []string {
	var reasons []string
	checks := make(map[string][]Check)
	for _, c := range run.Checks {
		if stateOfCheck(run, c) != undecided {
			continue
		}
		reason, _, _ := strings.Cut(c.Detail, "; ")
		if checks[reason] == nil {
			reasons = append(reasons, reason)
		}
		checks[reason] = append(checks[reason], c)
	}
	var lines []string
	for _, reason := range reasons {
		list := checks[reason]
		if len(list) == 1 {
			lines = append(lines, list[0].Name+": "+strings.Join(sentences(run, list[0]), " "))
			continue
		}
		var names []string
		for _, c := range list {
			names = append(names, c.Name)
		}
		lines = append(lines, strings.Join(names, ", ")+": "+sentence(reason))
	}
	return lines
}

// mentioned says whether a warning is told already.
func mentioned(lines []string, warning string) bool {
	for _, line := range lines {
		if strings.Contains(strings.ToLower(line), strings.ToLower(strings.TrimSuffix(warning, "."))) {
			return true
		}
	}
	return false
}
