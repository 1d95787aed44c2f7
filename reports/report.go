// Package reports shows results: one [Report], written as results.json and
// rendered as HTML, Markdown and JUnit, with pictures from package plot. It
// stands at the right of the flow (bucket → scenarios → reports) and computes
// no verdicts: what it shows was decided before.
package reports

import (
	"encoding/json"
	"time"

	"bucketproof/bucket"
	"bucketproof/scenarios/capacity"
)

// SchemaVersion is the version of results.json that this package writes and
// reads. It changes when a field changes its meaning or goes away; new fields
// alone do not change it.
const SchemaVersion = 1

// Report is everything one command found out; it is results.json.
type Report struct {
	SchemaVersion int       `json:"schema_version"`
	Verdict       string    `json:"verdict"` // pass: everything as expected | fail | undecided
	Command       string    `json:"command"` // the command that repeats this, seed included
	Seed          uint64    `json:"seed"`
	StartedAt     time.Time `json:"started_at"`
	FinishedAt    time.Time `json:"finished_at"`
	Harness       Harness   `json:"harness"`
	Redis         Redis     `json:"redis"`
	Runs          []Run     `json:"runs"`
	Skipped       []Skip    `json:"skipped"`
	Unmet         []Unmet   `json:"unmet"`              // expectations over the whole command that no run met
	Selftest      *Selftest `json:"selftest,omitempty"` // of `harness selftest` alone
	Warnings      []string  `json:"warnings,omitempty"` // what qualifies every figure here

	Capacity []capacity.Result `json:"capacity,omitempty"` // of `harness capacity` alone
}

// Harness says what measured.
type Harness struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	CPUs    int    `json:"cpus"`
}

// Redis says what was measured against. Address never holds a password.
type Redis struct {
	Kind    string `json:"kind"`             // process | container | embedded | external | none
	Engine  string `json:"engine,omitempty"` // redis | valkey | miniredis
	Version string `json:"version"`
	Address string `json:"address"`

	// How far the server's own clock was ahead of the harness's machine's when the
	// command began, and what it gained since, on average and per second; nil: not
	// measured, or too briefly to tell. Each is off by no more than its uncertainty.
	ClockOffsetS             *float64 `json:"clock_offset_s,omitempty"`
	ClockUncertaintyS        *float64 `json:"clock_uncertainty_s,omitempty"`
	ClockDriftPPM            *float64 `json:"clock_drift_ppm,omitempty"`
	ClockDriftUncertaintyPPM *float64 `json:"clock_drift_uncertainty_ppm,omitempty"`
}

// Run is one limiter in one scenario.
type Run struct {
	Scenario  string  `json:"scenario"` // with the point of a sweep: skew-drain/10ms
	About     string  `json:"about,omitempty"`
	Limiter   string  `json:"limiter"`
	Library   string  `json:"library,omitempty"` // where the limiter comes from, as a go command takes it: module@version
	Time      string  `json:"time"`              // caller | server | process
	Witness   bool    `json:"witness"`
	Contract  string  `json:"contract,omitempty"` // sliding-window | fixed-window; "": token-bucket
	Limit     Limit   `json:"limit"`
	DurationS float64 `json:"duration_s"`
	Dir       string  `json:"dir"` // of its history, relative to results.json, with forward slashes

	Linearizability string `json:"linearizability,omitempty"` // Porcupine's picture of a failing run, a path like Dir

	// ServerClock is how the server's clock differed from true time; nil: not at all.
	// Server says how it came to that.
	ServerClock *Clock `json:"server_clock,omitempty"`

	// Server is shown: the limiter was shown another TIME, and keys expire by the
	// server's own clock; own: the wall clock of a server of the run's own was set,
	// TIME and expiries with it; failover: a replica with that clock took over. "":
	// the server was left alone.
	Server string `json:"server,omitempty"`

	// Disturbance is what the scenario does to the clocks, where it names one;
	// nil: nothing, or not told.
	Disturbance *Disturbance `json:"disturbance,omitempty"`

	// Predictions are the figures that theory predicts of this limiter here, beside
	// those measured, in the order of their names.
	Predictions []Prediction `json:"predictions,omitempty"`

	Counts    Counts     `json:"counts"`
	Theory    Theory     `json:"theory"`
	Instances []Instance `json:"instances"`
	Checks    []Check    `json:"checks"`

	LatencyMeasured  bool     `json:"latency_measured"`   // ran alone, for its latencies; otherwise they are by the way
	LatencyUS        *Latency `json:"latency_us"`         // from the due time; null when nothing was answered
	ServiceLatencyUS *Latency `json:"service_latency_us"` // from the call
	ScheduleLagUS    *Latency `json:"schedule_lag_us"`    // from the due time to the call

	Repeated bool     `json:"repeated,omitempty"` // was undecided at first and ran once more, alone
	Warnings []string `json:"warnings,omitempty"`
	Errors   []Error  `json:"errors,omitempty"` // why requests were unsent or unknown
	Verdict  string   `json:"verdict"`          // as-expected | unexpected | undecided
}

// Limit is a rate in tokens per second and a capacity in tokens.
type Limit struct {
	Rate     float64 `json:"rate"`
	Capacity float64 `json:"capacity"`
}

// Disturbance is one thing that is done to clocks, and how much of it.
type Disturbance struct {
	Kind string  `json:"kind"` // spread | drift | jitter | strobe | freeze | step-back | step-forward | step-both | leaves | held | silence | server-step-back | server-step-forward | server-set-back | server-set-forward | failover-behind | failover-ahead
	Of   string  `json:"of"`   // whose clock: caller | server
	Size float64 `json:"size"` // 0 or more
	Unit string  `json:"unit"` // s | ppm
}

// Prediction is a figure that theory predicts, beside the one measured.
type Prediction struct {
	Figure    string  `json:"figure"`    // peak_excess | excess_per_s | lockout_s | slow_share | spurious_denials
	Unit      string  `json:"unit"`      // tokens | tokens/s | s | share | denials
	Measured  float64 `json:"measured"`  // in Unit
	Predicted float64 `json:"predicted"` // in Unit
	Tolerance float64 `json:"tolerance"` // what granularity, the calls' own length and sampling are worth, in Unit; 0 or more
	Within    bool    `json:"within"`    // Measured and Predicted differ by no more than Tolerance
}

// Counts are requests by outcome; Offered is their sum.
type Counts struct {
	Offered int64 `json:"offered"`
	Allowed int64 `json:"allowed"`
	Denied  int64 `json:"denied"`
	Unsent  int64 `json:"unsent"`
	Unknown int64 `json:"unknown"`
}

// isWindowed reports whether the limiter counts in windows.
func (r Run) isWindowed() bool { return bucket.Contract(r.Contract).Windowed() }

// ideal is what a perfect limiter of the run's contract is called.
func (r Run) ideal() string {
	switch bucket.Contract(r.Contract) {
	case bucket.SlidingWindow:
		return "an exact log"
	case bucket.FixedWindow:
		return "an exact counter"
	}
	return "an ideal bucket"
}

// Theory is what an ideal bucket makes of the same arrivals, or an exact log or
// counter where windows count.
type Theory struct {
	Allowed             float64 `json:"allowed"`               // grants of an ideal bucket replayed at the calls
	Ratio               float64 `json:"ratio"`                 // granted / Allowed; 0 when Allowed is 0
	PredictedPeakExcess float64 `json:"predicted_peak_excess"` // tokens the clocks explain
}

// Instance is one simulated caller.
type Instance struct {
	Name            string  `json:"name"`
	Clock           Clock   `json:"clock"`
	Counts          Counts  `json:"counts"`
	Share           float64 `json:"share"` // of all grants, 0..1
	LongestLockoutS float64 `json:"longest_lockout_s"`
}

// Clock is how an instance's clock, or the server's, differs from true time; the zero Clock is
// synchronized.
type Clock struct {
	OffsetS  float64 `json:"offset_s"`
	DriftPPM float64 `json:"drift_ppm"`
	JitterS  float64 `json:"jitter_s"`
	Steps    []Step  `json:"steps,omitempty"`
	Strobe   *Strobe `json:"strobe,omitempty"`
	Freeze   *Freeze `json:"freeze,omitempty"`
}

// Strobe is a clock that goes to and fro: true for EveryS, ByS ahead for as
// long, and again.
type Strobe struct {
	ByS    float64 `json:"by_s"`
	EveryS float64 `json:"every_s"`
}

// Freeze is a clock that stands still for a while and then goes on from there.
type Freeze struct {
	AtS  float64 `json:"at_s"`
	ForS float64 `json:"for_s"`
}

// Step is a jump of a clock.
type Step struct {
	AtS float64 `json:"at_s"`
	ByS float64 `json:"by_s"`
}

// Check is one check's verdict.
type Check struct {
	Name             string             `json:"name"`
	Verdict          string             `json:"verdict"`  // pass | fail | undecided | skipped
	Expected         string             `json:"expected"` // pass | fail | any
	WithinPrediction bool               `json:"within_prediction"`
	Detail           string             `json:"detail"`
	Known            string             `json:"known,omitempty"` // why the limiter fails the check, as its source explains it
	Value            map[string]float64 `json:"value"`
	Evidence         json.RawMessage    `json:"evidence,omitempty"` // see Evidence
	Keys             []KeyVerdict       `json:"keys,omitempty"`     // per key, in check only or where one failed
}

// KeyVerdict is a check's verdict on one key.
type KeyVerdict struct {
	Key     string  `json:"key"`
	Verdict string  `json:"verdict"`
	Figure  float64 `json:"figure"`
}

// Evidence is the part of a check's evidence that renderers draw and print.
type Evidence struct {
	Key        string             `json:"key,omitempty"`
	Window     *Window            `json:"window,omitempty"`
	Operations []Operation        `json:"operations,omitempty"`
	Notes      []string           `json:"notes,omitempty"`
	Lockouts   map[string]float64 `json:"lockouts,omitempty"` // instance → seconds
}

// Window is the stretch of time that holds too many (or too few) grants.
type Window struct {
	StartNS int64   `json:"start_ns"`
	EndNS   int64   `json:"end_ns"`
	Granted float64 `json:"granted"`
	Bound   float64 `json:"bound"`
}

// Operation is a request in evidence, with the fields of the history file.
type Operation struct {
	CallNS   int64   `json:"call_ns"`
	ReturnNS *int64  `json:"return_ns,omitempty"`
	Outcome  string  `json:"outcome"`
	Key      string  `json:"key,omitempty"`
	Instance string  `json:"instance,omitempty"`
	Cost     float64 `json:"cost"`
	NowMS    float64 `json:"now_ms,omitempty"`
}

// Latency is a summary in microseconds, three significant digits.
type Latency struct {
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
	Mean float64 `json:"mean"`
}

// Error is a reason why requests had no usable answer, with how many had it.
type Error struct {
	Text  string `json:"text"`
	Count int64  `json:"count"`
}

// Skip is a run that did not take place.
type Skip struct {
	Scenario string `json:"scenario"`
	Limiter  string `json:"limiter"`
	Reason   string `json:"reason"`
}

// Unmet is a fault that a limiter was expected to show in at least one run of
// the command, and showed in none.
type Unmet struct {
	Limiter string `json:"limiter"`
	Check   string `json:"check"`
	Detail  string `json:"detail"`
}
