package reports

import (
	"encoding/json"
	"fmt"
	"math"
	"sort"

	"bucketproof/bucket"
	"bucketproof/bucket/check"
	"bucketproof/bucket/history"
)

// judged makes a Run of a simulated history: figures by the slow and obvious
// way, verdicts by comparing them. Package check is not used, so that its
// sentences can change without changing goldens here.
func judged(scenario, limiter string, s simulation, expect map[string]string) (Run, []history.Operation) {
	ops := s.run()
	run := Run{
		Scenario: scenario, Limiter: limiter, Time: "caller", Witness: true,
		Limit: Limit(s.limit), Dir: folder(scenario, limiter), Verdict: asExpected,
	}
	if s.server {
		run.Time = "server"
	}
	for _, op := range ops {
		run.Counts.add(op)
		if op.Return != history.Forever {
			run.DurationS = max(run.DurationS, float64(op.Return)/1e9)
		}
	}
	run.Theory.Allowed = ideal(s.limit, ops)
	if run.Theory.Allowed > 0 {
		run.Theory.Ratio = float64(run.Counts.Allowed) / run.Theory.Allowed
	}
	for _, c := range s.callers {
		run.Instances = append(run.Instances, instance(c, run.Counts.Allowed, ops))
	}
	if !s.server {
		run.Theory.PredictedPeakExcess = s.limit.Rate * (clockSpread(run) + 0.001)
	}
	run.Checks = []Check{admission(s.limit, run, ops), denials(run), shares(run)}
	for i := range run.Checks {
		c := &run.Checks[i]
		c.Expected = "pass"
		if e := expect[c.Name]; e != "" {
			c.Expected = e
		}
		if stateOfCheck(Run{}, *c) == unexpected {
			run.Verdict = notExpected
		}
	}
	run.LatencyUS = summary(ops, func(op history.Operation) int64 { return op.Return - op.Due })
	run.ServiceLatencyUS = summary(ops, func(op history.Operation) int64 { return op.Return - op.Call })
	run.ScheduleLagUS = summary(ops, func(op history.Operation) int64 { return op.Call - op.Due })
	return run, ops
}

func (c *Counts) add(op history.Operation) {
	c.Offered++
	switch op.Outcome {
	case history.Allowed:
		c.Allowed++
	case history.Denied:
		c.Denied++
	case history.Unsent:
		c.Unsent++
	case history.Unknown:
		c.Unknown++
	}
}

func ideal(l bucket.Limit, ops []history.Operation) float64 {
	rule := bucket.Rule{TicksPerSecond: 1e9}
	states := make(map[string]bucket.State)
	granted := 0.0
	for _, op := range ops {
		state, allowed := rule.Take(states[op.Key], l, float64(op.Call), op.Cost)
		states[op.Key] = state
		if allowed {
			granted += op.Cost
		}
	}
	return granted
}

func instance(c caller, allowed int64, ops []history.Operation) Instance {
	in := Instance{Name: c.name, Clock: Clock{OffsetS: c.offset}}
	if c.stepBy != 0 {
		in.Clock.Steps = []Step{{AtS: c.stepAt, ByS: c.stepBy}}
	}
	denied := int64(-1)
	for _, op := range ops {
		if op.Instance != c.name {
			continue
		}
		in.Counts.add(op)
		switch {
		case op.Outcome == history.Allowed:
			denied = -1
		case denied < 0:
			denied = op.Call
		default:
			in.LongestLockoutS = max(in.LongestLockoutS, float64(op.Call-denied)/1e9)
		}
	}
	if in.LongestLockoutS < 0.2 {
		in.LongestLockoutS = 0
	}
	if allowed > 0 {
		in.Share = float64(in.Counts.Allowed) / float64(allowed)
	}
	return in
}

// admission is check 1 by the definition: every call against every return.
func admission(l bucket.Limit, run Run, ops []history.Operation) Check {
	grants := make(map[string][]history.Operation)
	for _, op := range ops {
		if op.Outcome == history.Allowed {
			grants[op.Key] = append(grants[op.Key], op)
		}
	}
	keys := make([]string, 0, len(grants))
	for key := range grants {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	worst, peak, worstKey := Window{}, 0.0, ""
	for _, key := range keys {
		if w, over := worstWindow(l, grants[key]); over > peak {
			worst, peak, worstKey = w, over, key
		}
	}
	c := Check{
		Name: check.OverAdmission, Verdict: "pass", WithinPrediction: true,
		Value:  map[string]float64{"peak_excess": peak, "excess": math.Ceil(max(0, peak-0.1))},
		Detail: "no window holds more than the bound",
	}
	if peak > l.Rate*0.001+1e-6 {
		c.Verdict = "fail"
		c.WithinPrediction = peak <= run.Theory.PredictedPeakExcess
		c.Detail = fmt.Sprintf("%.0f tokens were granted within %.1f ms, an ideal bucket grants at most %.1f",
			worst.Granted, float64(worst.EndNS-worst.StartNS)/1e6, worst.Bound)
		c.Evidence = encoded(Evidence{Key: worstKey, Window: &worst, Operations: inWindow(worst, grants[worstKey])})
	}
	return c
}

func worstWindow(l bucket.Limit, grants []history.Operation) (Window, float64) {
	byReturn := append([]history.Operation(nil), grants...)
	sort.SliceStable(byReturn, func(i, j int) bool { return byReturn[i].Return < byReturn[j].Return })
	worst, peak := Window{}, 0.0
	for _, first := range grants {
		sum := 0.0
		for _, op := range byReturn {
			if op.Call < first.Call {
				continue
			}
			sum += op.Cost
			bound := l.Capacity + l.Rate*float64(op.Return-first.Call)/1e9
			if sum-bound > peak {
				peak = sum - bound
				worst = Window{StartNS: first.Call, EndNS: op.Return, Granted: sum, Bound: bound}
			}
		}
	}
	return worst, peak
}

func inWindow(w Window, grants []history.Operation) []Operation {
	var list []Operation
	for _, op := range grants {
		if op.Call >= w.StartNS && op.Return <= w.EndNS && len(list) < 12 {
			end := op.Return
			list = append(list, Operation{
				CallNS: op.Call, ReturnNS: &end, Outcome: "allowed", Key: op.Key, Instance: op.Instance, Cost: op.Cost,
			})
		}
	}
	return list
}

func denials(run Run) Check {
	c := Check{
		Name: check.SpuriousDenial, Verdict: "pass", WithinPrediction: true,
		Value: map[string]float64{"count": 0, "longest_s": 0}, Detail: "every denial is justified",
	}
	lockouts := make(map[string]float64)
	for _, in := range run.Instances {
		if in.LongestLockoutS > 0.4 && in.Share < 0.1 {
			lockouts[in.Name] = in.LongestLockoutS
			c.Verdict = "fail"
			c.Value["count"] += float64(in.Counts.Denied)
			c.Value["longest_s"] = max(c.Value["longest_s"], in.LongestLockoutS)
			c.Detail = fmt.Sprintf("instance %s was locked out for %.1f s", in.Name, in.LongestLockoutS)
		}
	}
	if len(lockouts) > 0 {
		c.Evidence = encoded(Evidence{Lockouts: lockouts, Notes: []string{"the bucket held at least 12.4 tokens at each of these denials"}})
	}
	return c
}

func shares(run Run) Check {
	c := Check{Name: check.Fairness, Verdict: "pass", WithinPrediction: true, Detail: "no instance is starved"}
	for _, in := range run.Instances {
		fair := float64(in.Counts.Offered) / float64(run.Counts.Offered)
		if in.Share < fair/2 && run.Counts.Allowed > 60 && run.Time == "caller" {
			c.Verdict = "fail"
			c.Value = map[string]float64{"least_share": in.Share}
			c.Detail = fmt.Sprintf("instance %s sent %.0f %% of the requests and got %.1f %% of the grants", in.Name, 100*fair, 100*in.Share)
		}
	}
	return c
}

func encoded(e Evidence) json.RawMessage {
	data, err := json.Marshal(e)
	if err != nil {
		panic(err) // numbers of a simulation are finite
	}
	return data
}

func summary(ops []history.Operation, of func(history.Operation) int64) *Latency {
	var us []float64
	sum := 0.0
	for _, op := range ops {
		if op.Outcome == history.Allowed || op.Outcome == history.Denied {
			us = append(us, float64(of(op))/1e3)
			sum += float64(of(op)) / 1e3
		}
	}
	if len(us) == 0 {
		return nil
	}
	sort.Float64s(us)
	at := func(q float64) float64 { return three(us[min(len(us)-1, int(q*float64(len(us))))]) }
	return &Latency{P50: at(0.5), P90: at(0.9), P99: at(0.99), P999: at(0.999), Max: three(us[len(us)-1]), Mean: three(sum / float64(len(us)))}
}

// three rounds to three significant digits.
func three(v float64) float64 {
	if v <= 0 {
		return 0
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(v)))
	return math.Round(v*scale) / scale
}
