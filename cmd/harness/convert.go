package main

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"bucketproof/bucket"
	"bucketproof/bucket/check"
	"bucketproof/bucket/history"
	"bucketproof/reports"
	"bucketproof/scenarios"
	"bucketproof/scenarios/clock"
	"bucketproof/scenarios/load"
)

// newReportRun is a result as results.json holds it.
func newReportRun(res *scenarios.Result) reports.Run {
	run := reports.Run{
		Scenario: res.Scenario.Name, About: res.Scenario.About, Limiter: res.Limiter, Library: res.Source, Time: string(res.Time),
		Contract:        contractOf(res.Spec.Contract),
		Limit:           reports.Limit{Rate: res.Limit.Rate, Capacity: res.Limit.Capacity},
		DurationS:       res.Duration.Seconds(),
		Witness:         res.Witness,
		LatencyMeasured: res.Scenario.Latency,
		Repeated:        res.Repeated, Warnings: res.Warnings, Verdict: string(res.Outcome),
	}
	if res.ServerClock != nil {
		shown := newReportClock(*res.ServerClock)
		run.ServerClock, run.Server = &shown, string(cmp.Or(res.Scenario.Server, scenarios.ServerShown))
	}
	if d, ok := res.Scenario.Disturbed(); ok {
		run.Disturbance = &reports.Disturbance{Kind: d.Kind, Of: d.Of, Size: d.Size, Unit: d.Unit}
	}
	for _, p := range res.Predictions {
		run.Predictions = append(run.Predictions, reports.Prediction{
			Figure: p.Figure, Unit: p.Unit, Measured: p.Measured, Predicted: p.Predicted, Tolerance: p.Tolerance, Within: p.Within(),
		})
	}
	fillSummary(&run, res.Report.Summary, res.Clocks)
	for _, v := range res.Verdicts {
		run.Checks = append(run.Checks, newReportCheck(v))
	}
	if res.Latency != nil && res.Latency.Response.Count() > 0 {
		run.LatencyUS = latency(res.Latency.Response)
		run.ServiceLatencyUS = latency(res.Latency.Service)
		run.ScheduleLagUS = latency(res.Latency.Lag)
	}
	for _, f := range res.Errors {
		run.Errors = append(run.Errors, reports.Error{Text: f.Outcome.String() + ": " + oneLine(f.Text), Count: f.Count})
	}
	return run
}

// contractOf is how results tell a contract: a token bucket is not told.
func contractOf(c bucket.Contract) string {
	if c.Windowed() {
		return string(c)
	}
	return ""
}

// fillSummary sets what a check's summary tells of a run.
func fillSummary(run *reports.Run, sum check.Summary, clocks map[string]clock.Model) {
	run.Counts = reports.Counts{Offered: sum.Offered, Allowed: sum.Allowed, Denied: sum.Denied, Unsent: sum.Unsent, Unknown: sum.Unknown}
	run.Theory = reports.Theory{Allowed: sum.TheoryAllowed, PredictedPeakExcess: sum.PredictedPeakExcess}
	if sum.TheoryAllowed > 0 {
		run.Theory.Ratio = float64(sum.Allowed) / sum.TheoryAllowed
	}
	for _, in := range sum.Instances {
		r := reports.Instance{
			Name:            in.Name,
			Clock:           newReportClock(clocks[in.Name]),
			Counts:          reports.Counts{Offered: in.Offered, Allowed: in.Allowed, Denied: in.Denied, Unsent: in.Unsent, Unknown: in.Unknown},
			LongestLockoutS: in.LongestLockout.Seconds(),
		}
		if sum.Allowed > 0 {
			r.Share = float64(in.Allowed) / float64(sum.Allowed)
		}
		run.Instances = append(run.Instances, r)
	}
}

func newReportClock(m clock.Model) reports.Clock {
	c := reports.Clock{OffsetS: m.Offset.Seconds(), DriftPPM: m.Drift, JitterS: m.Jitter.Seconds()}
	for _, s := range m.Steps {
		c.Steps = append(c.Steps, reports.Step{AtS: s.At.Seconds(), ByS: s.By.Seconds()})
	}
	if m.Strobe.By != 0 {
		c.Strobe = &reports.Strobe{ByS: m.Strobe.By.Seconds(), EveryS: m.Strobe.Every.Seconds()}
	}
	if m.Freeze.For != 0 {
		c.Freeze = &reports.Freeze{AtS: m.Freeze.At.Seconds(), ForS: m.Freeze.For.Seconds()}
	}
	return c
}

// keysShown is the most keys listed under a check of a run; a failing one
// comes first.
const keysShown = 20

func newReportCheck(v scenarios.Verdict) reports.Check {
	c := reports.Check{
		Name: v.Name, Verdict: string(v.Verdict), Expected: string(v.Expected),
		WithinPrediction: v.WithinPrediction, Detail: v.Detail, Known: v.Known, Value: v.Value,
		Evidence: newEvidence(v.Evidence),
	}
	for _, k := range v.Keys[:min(len(v.Keys), keysShown)] {
		c.Keys = append(c.Keys, reports.KeyVerdict{Key: k.Key, Verdict: string(k.Verdict), Figure: k.Figure})
	}
	return c
}

// newEvidence is a check's evidence as JSON, nil where there is none.
func newEvidence(e *check.Evidence) json.RawMessage {
	if e == nil {
		return nil
	}
	out := reports.Evidence{Key: e.Key, Notes: e.Notes, Lockouts: e.Lockouts}
	if w := e.Window; w != nil {
		out.Window = &reports.Window{StartNS: w.StartNS, EndNS: w.EndNS, Granted: w.Granted, Bound: w.Bound}
	}
	for _, op := range e.Operations {
		out.Operations = append(out.Operations, newReportOperation(op))
	}
	data, err := json.Marshal(out)
	if err != nil {
		return nil // only numbers that are no numbers fail, and checks report none
	}
	return data
}

func newReportOperation(op history.Operation) reports.Operation {
	o := reports.Operation{CallNS: op.Call, Outcome: op.Outcome.String(), Key: op.Key, Instance: op.Instance, Cost: op.Cost}
	if op.Return != history.Forever {
		ret := op.Return
		o.ReturnNS = &ret
	}
	if op.Clock != history.NoClock {
		o.NowMS = float64(op.Clock) / 1e6
	}
	return o
}

func latency(d *load.Distribution) *reports.Latency {
	l := reports.Latency(d.Summary())
	return &l
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
