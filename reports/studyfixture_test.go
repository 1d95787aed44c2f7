package reports

import (
	"fmt"

	"bucketproof/bucket"
)

// disturbed is a made-up run under a disturbance: its checks say what its
// figures do. Each change makes it another.
func disturbed(scenario, limiter string, d Disturbance, changes ...func(*Run)) Run {
	run := Run{
		Scenario: scenario, About: "Made up.", Limiter: limiter, Time: "caller", Witness: true, Limit: Limit{Rate: 100, Capacity: 50}, DurationS: 2,
		Dir: folder(scenario, limiter), Disturbance: &d, Verdict: asExpected,
		Counts: Counts{Offered: 400, Allowed: 200, Denied: 200}, Theory: Theory{Allowed: 200, Ratio: 1},
		Instances: []Instance{
			{Name: "slow", Clock: Clock{OffsetS: -d.Size / 2}, Counts: Counts{Offered: 200, Allowed: 100, Denied: 100}, Share: 0.5},
			{Name: "fast", Clock: Clock{OffsetS: d.Size / 2}, Counts: Counts{Offered: 200, Allowed: 100, Denied: 100}, Share: 0.5},
		},
		Checks: []Check{
			{Name: "over-admission", Verdict: "pass", Expected: "any", WithinPrediction: true, Value: map[string]float64{"peak_excess": 0, "excess": 0}},
			{Name: "spurious-denial", Verdict: "pass", Expected: "any", WithinPrediction: true, Value: map[string]float64{"count": 0, "longest_s": 0}},
			{Name: "fairness", Verdict: "skipped", Expected: "any", WithinPrediction: true},
			{Name: "state-audit", Verdict: "pass", Expected: "pass", WithinPrediction: true},
		},
	}
	if d.Of == ofServer {
		for i := range run.Instances {
			run.Instances[i].Clock = Clock{}
		}
	}
	if limiter == "redis-time" {
		run.Time = "server"
	}
	for _, change := range changes {
		change(&run)
	}
	return run
}

// predicts adds a figure beside its prediction.
func predicts(name string, measured, predicted, tolerance float64) func(*Run) {
	return func(run *Run) {
		run.Predictions = append(run.Predictions, Prediction{
			Figure: name, Unit: unitOf(name), Measured: measured, Predicted: predicted, Tolerance: tolerance,
			Within: measured <= predicted+tolerance && measured >= predicted-tolerance,
		})
	}
}

// over grants so many tokens too many, and says so.
func over(tokens, predicted float64) func(*Run) {
	return func(run *Run) {
		if tokens > 0.1 {
			run.Checks[0].Verdict = "fail"
			run.Checks[0].Detail = fmt.Sprintf("%.1f too many", tokens)
		}
		run.Checks[0].Value = map[string]float64{"peak_excess": tokens, "excess": tokens}
		predicts(peakExcess, tokens, predicted, 2.5)(run)
	}
}

// locked locks instances out.
func locked(seconds, predicted float64, names ...string) func(*Run) {
	return func(run *Run) {
		if seconds > 0 {
			run.Checks[1].Verdict = "fail"
		}
		run.Checks[1].Value = map[string]float64{"count": 100 * seconds, "longest_s": seconds}
		for i := range run.Instances {
			for _, name := range names {
				if run.Instances[i].Name == name {
					run.Instances[i].LongestLockoutS = seconds
				}
			}
		}
		predicts(lockout, seconds, predicted, 0.05)(run)
		predicts(spuriousDenials, 100*seconds, 100*predicted, 20)(run)
	}
}

// starving leaves the slow instance a part of its fair share.
func starving(part, predicted float64) func(*Run) {
	return func(run *Run) {
		run.Instances[0].Share, run.Instances[1].Share = part/2, 1-part/2
		run.Checks[2].Verdict = "pass"
		if part < 0.5 {
			run.Checks[2].Verdict = "fail"
		}
		predicts(slowShare, part, predicted, 0.08)(run)
	}
}

// doubtful leaves a run without a verdict.
func doubtful(run *Run) {
	run.Verdict = notDecided
	for i := range run.Checks {
		run.Checks[i].Verdict, run.Checks[i].Detail = "undecided", "calls were too slow"
	}
}

var references = []string{"app-clock", "app-clock-monotonic", "redis-time", "control/older-now-written"}

// clocks is a report of a suite about clocks, with made-up figures.
func clocks() *fixture {
	f := newFixture()
	f.report.Command = "harness run clocks --seed 42"
	add := func(run Run) { f.report.Runs = append(f.report.Runs, run) }
	for _, s := range []float64{0, 0.001, 0.01, 0.1, 0.5, 2} {
		for _, limiter := range references {
			excess := min(50, 100*s)
			measured := 0.97*excess - 0.05
			if limiter == "redis-time" {
				excess, measured = 0, 0
			}
			run := disturbed("drain/"+point(s), limiter, Disturbance{"spread", ofCaller, s, "s"}, over(max(0, measured), excess))
			if s == 2 && limiter == "app-clock-monotonic" {
				doubtful(&run)
			}
			if s == 0.5 && limiter == "control/older-now-written" {
				run = disturbed("drain/"+point(s), limiter, *run.Disturbance, over(61.2, excess))
			}
			add(run)
		}
	}
	for _, s := range []float64{0.25, 0.5, 1} {
		for _, limiter := range references[:3] {
			seconds := s + 0.01
			if limiter == "redis-time" {
				seconds = 0
			}
			add(disturbed("leaves/"+point(s), limiter, Disturbance{"leaves", ofCaller, s, "s"}, locked(seconds, seconds, "slow")))
		}
	}
	for _, kind := range []string{kindPolite, kindOverload} {
		for _, s := range []float64{0.05, 0.2, 0.8} {
			for _, limiter := range references {
				share, predicted := 1.0, 1.0
				switch {
				case limiter == "app-clock" && (kind == kindOverload || s > 0.5):
					share, predicted = 0.02, 0
				case limiter == "app-clock-monotonic" && kind == kindOverload:
					share, predicted = 0.9-0.6*s, 0.88-0.6*s
				}
				add(disturbed(kind+"/"+point(s), limiter, Disturbance{kind, ofCaller, s, "s"}, starving(share, predicted)))
			}
		}
	}
	for _, limiter := range references {
		s := drain(1, bucket.RuleAppClock, limiter == "redis-time")
		s.loads = []load{{from: []string{"slow", "fast"}, last: 4, rate: 320}}
		if limiter == "redis-time" {
			s.rule = bucket.RuleRedisTime
		}
		if limiter == "control/older-now-written" {
			s.reborn, s.stale = 0.0001, 0.5
		}
		_, ops := judged("growth", limiter, s, nil)
		run := disturbed("growth", limiter, Disturbance{kindGrowth, ofCaller, 1, "s"})
		switch limiter {
		case "control/older-now-written":
			over(849, 850)(&run)
			predicts(excessPerSecond, 210, 212, 4)(&run)
		case "redis-time":
			over(0, 0)(&run)
		default:
			over(48, 50)(&run)
		}
		f.add(run, ops)
	}
	for _, limiter := range references[:3] {
		excess := map[string]float64{"app-clock": 46.1, "app-clock-monotonic": 46.1}[limiter]
		add(disturbed(kindHeld, limiter, Disturbance{kindHeld, ofCaller, 0.05, "s"}, over(0, 0)))
		add(disturbed(kindExpiry, limiter, Disturbance{kindHeld, ofCaller, 0.52, "s"}, over(excess, excess*1.02)))
	}
	for _, limiter := range references[:3] {
		seconds, excess := 0.0, 0.0
		if limiter == "redis-time" {
			seconds, excess = 0.504, 30.2
		}
		add(disturbed("server-step", limiter, Disturbance{"server-step-back", ofServer, 0.5, "s"}, locked(seconds, seconds, "slow", "fast")))
		add(disturbed("server-step-forward", limiter, Disturbance{"server-step-forward", ofServer, 0.3, "s"}, over(excess, excess)))
	}
	return f
}

// hostileClocks is a study whose names are made to break a page.
func hostileClocks() *fixture {
	f := newFixture()
	evil := `<script>alert("1")</script>&'|` + "\x00\u202e"
	for _, size := range []float64{0, 1e-9, 1e12} {
		for i := range 8 {
			run := disturbed(fmt.Sprintf("%s/%g", evil, size), fmt.Sprint(evil, i), Disturbance{evil, ofCaller, size, evil},
				over(float64(i)*1e6, 3), locked(float64(i), 2, "slow"), starving(0.3, 1))
			run.Predictions = append(run.Predictions, Prediction{Figure: evil, Unit: evil, Measured: size, Predicted: -size, Tolerance: 1})
			run.Instances[0].Name = evil
			f.report.Runs = append(f.report.Runs, run)
		}
	}
	return f
}

// point names a point of a sweep over clock spreads.
func point(s float64) string { return fmt.Sprintf("%gms", 1000*s) }
