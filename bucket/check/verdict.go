package check

import (
	"bucketproof/bucket/history"
)

// Verdict is what a check says of a history.
type Verdict string

// The four verdicts. Undecided means that the run could not have shown a
// fault, or that unknown outcomes hide one; it is never a pass. Skipped means
// that the check does not apply.
const (
	Pass      Verdict = "pass"
	Fail      Verdict = "fail"
	Undecided Verdict = "undecided"
	Skipped   Verdict = "skipped"
)

// The names of the checks, as they stand in results and in `expect`.
const (
	OverAdmission   = "over-admission"
	SpuriousDenial  = "spurious-denial"
	AcceptRate      = "accept-rate"
	StateAudit      = "state-audit"
	Accounting      = "accounting"
	Replay          = "replay"
	Linearizability = "linearizability"
	Fairness        = "fairness"
	ReplyContract   = "reply-contract"
)

// Result is one check's verdict on one history, with its evidence.
type Result struct {
	Name    string
	Verdict Verdict // the ideal verdict: nothing but the clock's granularity excuses it

	// WithinPrediction: what was found is no more than the limiter's own clock
	// rule explains; see the package comment. True for anything but a failure.
	WithinPrediction bool

	Detail   string             // one sentence for people
	Value    map[string]float64 // figures by their names in results.json; never NaN or infinite
	Evidence *Evidence          // nil where there is nothing to show
	Keys     []KeyResult        // per key, failing ones first, then by name
}

// KeyResult is a check's verdict on one key.
type KeyResult struct {
	Key     string
	Verdict Verdict
	Figure  float64 // the check's main figure: peak excess in tokens, spurious denials, …
}

// Evidence is what a reader needs to see a failure with their own eyes.
type Evidence struct {
	Key        string              `json:"key,omitempty"`
	Window     *Window             `json:"window,omitempty"`
	Operations []history.Operation `json:"-"`                  // the first few concerned, in order of call
	Notes      []string            `json:"notes,omitempty"`    // e.g. what was found under which Redis key
	Lockouts   map[string]float64  `json:"lockouts,omitempty"` // instance → longest unbroken run of spurious denials, seconds
}

// Window is a stretch of time with more (or fewer) tokens than it may have.
type Window struct {
	StartNS int64   `json:"start_ns"`
	EndNS   int64   `json:"end_ns"`
	Granted float64 `json:"granted"` // tokens surely granted inside
	Bound   float64 `json:"bound"`   // C + R·(1 + ρ)·(end − start), without slack
}
