package reports

import "bucketproof/bucket/check"

// state is what a run came to, in the five ways the pages tell apart. The
// order is by how much a reader wants to see it.
type state int

const (
	absent     state = iota // no such run
	skipped                 // did not take place
	passed                  // nothing found, nothing expected
	caught                  // a fault was found, as expected
	undecided               // could not have shown a fault, or a fault is hidden
	unexpected              // a verdict is not the expected one
)

// The verdicts of a run.
const (
	asExpected    = "as-expected"
	notExpected   = "unexpected"
	notDecided    = "undecided"
	embeddedRedis = "embedded"
)

// stateOf sums up a run.
func stateOf(run Run) state {
	switch run.Verdict {
	case notExpected:
		return unexpected
	case notDecided:
		return undecided
	}
	for _, c := range run.Checks {
		if c.Verdict == string(check.Fail) {
			return caught
		}
	}
	return passed
}

// name is the state in style sheets and identifiers.
func (s state) name() string {
	return [...]string{"absent", "skipped", "passed", "caught", "undecided", "unexpected"}[s]
}

// words are the state for people.
func (s state) words() string {
	return [...]string{
		"not run", "skipped", "no fault found, as expected", "fault found, as expected", "undecided", "not as expected",
	}[s]
}

// harm is the state of a limiter under a disturbance, in style sheets: whether
// it was expected to break there is another question.
func (s state) harm() string {
	return map[state]string{passed: "unharmed", caught: "broke", undecided: "undecided"}[s]
}

// symbol is the state in one character.
func (s state) symbol() string {
	return [...]string{"·", "–", "✓", "◆", "?", "✗"}[s]
}

// stateOfCheck sums up one check of a run: what was found, and whether it was
// expected. What a run was expected to show may depend on the other runs of
// its limiter, so the run's own verdict comes first.
func stateOfCheck(run Run, c Check) state {
	switch check.Verdict(c.Verdict) {
	case check.Skipped:
		return skipped
	case check.Undecided:
		return undecided
	case check.Fail:
		if c.Expected == string(check.Pass) && run.Verdict != asExpected {
			return unexpected
		}
		return caught
	}
	if c.Expected == string(check.Fail) && run.Verdict != asExpected {
		return unexpected
	}
	return passed
}

// decided says whether a check came to a verdict, so that its figures mean
// something.
func decided(c Check) bool {
	return c.Verdict == string(check.Pass) || c.Verdict == string(check.Fail)
}
