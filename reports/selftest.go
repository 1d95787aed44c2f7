package reports

// Selftest is what `harness selftest` found out about the harness itself.
type Selftest struct {
	Controls    []ControlResult `json:"controls"`
	FalseAlarms int             `json:"false_alarms"` // clean runs in which some check failed
	CleanRuns   int             `json:"clean_runs"`   // runs of correct limiters
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
