package reports

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func overAdmission(verdict string, within bool, value map[string]float64) Check {
	return Check{Name: "over-admission", Verdict: verdict, Expected: "any", WithinPrediction: within, Value: value}
}

func TestExplanation(t *testing.T) {
	skewed := Run{Time: "caller", Verdict: asExpected, Theory: Theory{PredictedPeakExcess: 50.2}, Instances: []Instance{
		{Clock: Clock{OffsetS: -0.25}}, {Clock: Clock{OffsetS: 0.25}},
	}}
	synchronized := Run{Time: "caller", Verdict: asExpected}
	for _, c := range []struct {
		name  string
		run   Run
		check Check
		want  string
	}{
		{"a pass needs none", skewed, overAdmission("pass", true, nil), ""},
		{"explained by the clocks", skewed, overAdmission("fail", true, map[string]float64{"peak_excess": 49.6}),
			"It exceeds the ideal bound by 49.6 tokens; the clocks' spread of 500 ms explains up to 50.2."},
		{"the check's own figures first", skewed,
			overAdmission("fail", true, map[string]float64{"peak_excess": 9.8, "predicted_peak_excess": 10.1, "spread_s": 0.1}),
			"It exceeds the ideal bound by 9.8 tokens; the clocks' spread of 100 ms explains up to 10.1."},
		{"an expiry", synchronized,
			overAdmission("fail", true, map[string]float64{"peak_excess": 47, "predicted_peak_excess": 52.3, "expiries": 1}),
			"It exceeds the ideal bound by 47 tokens; the clocks and 1 possible expiry of the key explain up to 52.3."},
		{"spread and expiries", synchronized,
			overAdmission("fail", true, map[string]float64{"peak_excess": 47, "predicted_peak_excess": 52.3, "expiries": 2, "spread_s": 0.02}),
			"It exceeds the ideal bound by 47 tokens; the clocks' spread of 20 ms and 2 possible expiries of the key explain up to 52.3."},
		{"more than the clocks explain", skewed, overAdmission("fail", false, map[string]float64{"peak_excess": 1472.6}),
			"It exceeds the ideal bound by 1,473 tokens; the clocks' spread of 500 ms explains no more than 50.2: the limiter adds a fault of its own."},
		{"nothing to explain", synchronized, overAdmission("fail", false, map[string]float64{"peak_excess": 1}),
			"It exceeds the ideal bound by 1 token; the clocks explain none of it."},
		{"the server's clock", Run{Time: "server"}, overAdmission("fail", false, map[string]float64{"peak_excess": 5}), ""},
		{"another check", skewed, Check{Name: "spurious-denial", Verdict: "fail", WithinPrediction: true},
			"This is no more than the limiter's own clock rule explains."},
	} {
		if diff := cmp.Diff(c.want, explanation(c.run, c.check)); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

func TestClockSpread(t *testing.T) {
	for _, c := range []struct {
		name string
		run  Run
		want float64
	}{
		{"nobody", Run{}, 0},
		{"one exact clock", Run{Instances: []Instance{{}}}, 0},
		{"offsets", Run{Instances: []Instance{{Clock: Clock{OffsetS: -1}}, {Clock: Clock{OffsetS: 2}}}}, 3},
		{"one clock that steps back", Run{Instances: []Instance{{Clock: Clock{Steps: []Step{{AtS: 1, ByS: -0.5}}}}}}, 0.5},
		{"one clock that goes to and fro", Run{Instances: []Instance{{Clock: Clock{OffsetS: 1, Strobe: &Strobe{ByS: -0.2, EveryS: 0.1}}}}}, 0.2},
		{"one clock that stands still", Run{Instances: []Instance{{Clock: Clock{Freeze: &Freeze{AtS: 1, ForS: 0.3}}}}}, 0.3},
		{"steps add up", Run{Instances: []Instance{{Clock: Clock{Steps: []Step{{1, -0.5}, {2, -0.5}}}}}}, 1},
		{"drift", Run{DurationS: 100, Instances: []Instance{{}, {Clock: Clock{DriftPPM: 200}}}}, 0.02},
	} {
		if got := clockSpread(c.run); got < c.want-1e-12 || got > c.want+1e-12 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestSentence(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"granted 5 tokens", "Granted 5 tokens."},
		{"my-limiter failed", "my-limiter failed."},
		{"redis_rate failed!", "redis_rate failed!"},
		{" Done. ", "Done."},
	} {
		if got := sentence(c.in); got != c.want {
			t.Errorf("sentence(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestHeadline(t *testing.T) {
	pass := Run{Limiter: "app-clock", Scenario: "polite", Verdict: asExpected, Checks: []Check{{Name: "over-admission", Verdict: "pass", Expected: "pass"}}}
	fault := Run{Limiter: "app-clock", Scenario: "skew", Verdict: asExpected, Checks: []Check{{Name: "over-admission", Verdict: "fail", Expected: "fail"}}}
	control := fault
	control.Limiter = "control/get-set"
	bad := pass
	bad.Verdict, bad.Checks = notExpected, []Check{{Name: "accept-rate", Verdict: "fail", Expected: "pass"}}
	doubt := pass
	doubt.Verdict = notDecided
	for _, c := range []struct {
		want   string
		report Report
	}{
		{"No runs: nothing was judged.", Report{Verdict: "pass"}},
		{"Undecided: no run ended.", Report{Verdict: "undecided"}},
		{"Everything as expected: 1 run.", Report{Verdict: "pass", Runs: []Run{pass}}},
		{"Everything as expected: 4 runs; 1 negative control caught; faults found where expected in 1 run of other limiters; 1 skipped.",
			Report{Verdict: "pass", Runs: []Run{pass, fault, control, control}, Skipped: []Skip{{}}}},
		{"Undecided: 1 of 2 runs could not show a fault; nothing unexpected in the others.",
			Report{Verdict: "undecided", Runs: []Run{pass, doubt}}},
		{"Undecided: 1 run ended as expected, others did not end.", Report{Verdict: "undecided", Runs: []Run{pass}}},
		{"Not as expected: 2 of 3 runs (app-clock in polite: accept-rate; …).",
			Report{Verdict: "fail", Runs: []Run{bad, pass, bad}}},
		{"Not as expected: 1 expected fault that no run showed; 1 undecided.",
			Report{Verdict: "fail", Runs: []Run{pass, doubt}, Unmet: []Unmet{{}}}},
	} {
		if got := headline(&c.report); got != c.want {
			t.Errorf("headline:\n got %s\nwant %s", got, c.want)
		}
	}
}

func TestDoubtsWithOneReasonShareALine(t *testing.T) {
	run := Run{Verdict: notDecided, Warnings: []string{"the machine was late", "something else"}, Checks: []Check{
		{Name: "over-admission", Verdict: "undecided", Detail: "the machine was late; seen all the same: nothing"},
		{Name: "accept-rate", Verdict: "undecided", Detail: "the machine was late; seen all the same: 5 of 5"},
		{Name: "fairness", Verdict: "undecided", Detail: "too few grants; 12 of 60"},
		{Name: "accounting", Verdict: "pass", Detail: "all there"},
	}}
	want := []string{
		"over-admission, accept-rate: The machine was late.",
		"fairness: Too few grants; 12 of 60.",
		"warning: something else",
	}
	if diff := cmp.Diff(want, findings(run)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestMainFigure(t *testing.T) {
	for _, c := range []struct {
		check Check
		want  string
	}{
		{overAdmission("fail", true, map[string]float64{"peak_excess": 9.52, "excess": 15}), "9.52 over the bound, 15 too many in all"},
		{overAdmission("pass", true, map[string]float64{"peak_excess": 0}), "none over"},
		{Check{Name: "spurious-denial", Value: map[string]float64{"count": 38, "longest_s": 0.75}}, "38 denied wrongly, 750 ms on end"},
		{Check{Name: "accept-rate", Value: map[string]float64{"ratio": 0.5, "ideal": 40}}, "0.5 times the ideal"},
		{Check{Name: "state-audit", Value: map[string]float64{"violations": 1, "samples": 40}}, "1 violation"},
		{Check{Name: "accounting", Value: map[string]float64{"charges": 40}}, ""},
		{Check{Name: "replay", Value: map[string]float64{"divergences": 3, "compared": 1203}}, "3 divergences of 1,203 compared"},
		{Check{Name: "replay", Value: map[string]float64{"divergences": 0, "compared": 1}}, "0 divergences of 1 compared"},
		{Check{Name: "replay"}, ""},
		{Check{Name: "linearizability", Verdict: "pass", Value: map[string]float64{"steps": 40}}, "a legal order exists"},
		{Check{Name: "linearizability", Verdict: "fail"}, "no legal order"},
		{Check{Name: "linearizability", Verdict: "undecided"}, ""},
		{Check{Name: "fairness", Value: map[string]float64{"smallest_ratio": 0.25}}, "least: 0.25 of a fair share"},
		{Check{Name: "reply-contract", Value: map[string]float64{"violations": 12, "compared": 40}}, "12 violations"},
		{Check{Name: "reply-contract", Value: map[string]float64{"violations": 0}}, ""},
		{Check{Name: "another", Value: map[string]float64{"b_us": 12, "a_s": 0.5, "c": 1}}, "a 500 ms, b 12 µs"},
	} {
		if got := mainFigure(c.check); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.check.Name, c.check.Value, got, c.want)
		}
	}
}
