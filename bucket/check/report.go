package check

import "time"

// Report is what the history as a whole shows and what each check says of it.
type Report struct {
	Summary Summary
	Results []Result // one a check, always the same checks in the same order
}

// Summary is the figures of a history that belong to no single check.
type Summary struct {
	Counts
	Start, End int64 // first call and last call or return, ns on the history's clock

	// TheoryAllowed is what an ideal bucket a key would have granted of the
	// answered requests, decided at their calls, in tokens.
	TheoryAllowed float64

	// PredictedPeakExcess is what the limiter's clock rule explains in the worst
	// window of the run, in tokens beyond C + R·(b − a); see Spec.Time.
	PredictedPeakExcess float64

	// MaxInFlight is the most answered requests that were under way at once on
	// one key. Below 2 nothing was shown about atomicity.
	MaxInFlight int

	// Exact says that over-admission and spurious-denial were judged at the
	// instants at which the server decided, not on [call, return].
	Exact bool

	// Within is the longest stretch of time that an answered request is known to
	// have been decided in, ≥ 0: return − call or, where Exact, from the server's
	// instant before the decision to the one after it. What overlaps hides from the
	// two checks.
	Within time.Duration

	Instances []InstanceSummary // by name
}
