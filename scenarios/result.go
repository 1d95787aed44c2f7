package scenarios

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/check"
	"bucketproof/bucket/history"
	"bucketproof/scenarios/clock"
	"bucketproof/scenarios/load"
)

// Outcome is whether a run showed what it was expected to show.
type Outcome string

// The three outcomes.
const (
	AsExpected Outcome = "as-expected"
	Unexpected Outcome = "unexpected"
	Undecided  Outcome = "undecided"
)

// Result is one limiter in one scenario: what happened and what it means.
type Result struct {
	Scenario Scenario // as it was run: the point, scaled to the limit
	Limiter  string
	Source   string // the library it comes from, with its version; "": it is none
	Time     bucket.TimeSource
	Limit    bucket.Limit
	Seed     uint64
	Witness  bool // the limiter was asked with one
	Duration time.Duration
	Clocks   map[string]clock.Model // by instance

	// ServerClock is the TIME that the limiter was shown, against the server's own;
	// nil: that.
	ServerClock *clock.Model

	Operations  []history.Operation // in order of call
	Spec        check.Spec          // what they were judged against
	Report      check.Report
	Verdicts    []Verdict    // one a check, in the checks' order
	Predictions []Prediction // what theory says of figures, by name
	Latency     *load.Latency
	Errors      []load.Failure // why requests were unsent or unknown
	Warnings    []string       // what qualifies the figures
	Hazy        bool           // a fault that the limiter must show in some run may have been hidden here
	Repeated    bool           // was undecided at first, and this is the repetition
	Outcome     Outcome
}

// Verdict is a check's result beside what was expected of it.
type Verdict struct {
	check.Result
	Expected Expectation
	Known    string // why the limiter fails the check, where it does and that is known
}

// predictable reports whether theory predicts the check's figure: only the two
// bounds have a predicted one.
func (v Verdict) predictable() bool {
	return v.Name == check.OverAdmission || v.Name == check.SpuriousDenial
}

// Expected is what is expected of a check of a limiter in a scenario: the
// scenario's word if it has one for the limiter, else the limiter's own, where
// a failure may show in any run of the command, else a pass.
func Expected(s *Scenario, sub *Subject, name string) Expectation {
	if e, ok := s.Expect[sub.Name]; ok {
		return e.Of(name)
	}
	if e := sub.Expect.Of(name); e != ExpectFail {
		return e
	}
	return ExpectAny
}

// OutcomeOf compares verdicts with what was expected of them. predicted says
// that theory predicts the limiter's figures, so that a failure beyond the
// prediction is unexpected even where a failure is not.
func OutcomeOf(verdicts []Verdict, predicted bool) Outcome {
	outcome := AsExpected
	for _, v := range verdicts {
		switch {
		case v.Verdict == check.Fail && predicted && v.predictable() && !v.WithinPrediction:
			return Unexpected
		case v.Expected.met(v.Verdict):
		case v.Name == check.Linearizability && v.Verdict == check.Undecided && v.Expected == ExpectPass:
			// A second opinion that gave up takes nothing from the first: the checks
			// that decide have decided without it. CONTRIBUTING.md says so, too.
		case v.Verdict == check.Undecided:
			outcome = Undecided
		default:
			return Unexpected
		}
	}
	return outcome
}
