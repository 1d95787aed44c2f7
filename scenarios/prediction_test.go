package scenarios

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/check"
	"bucketproof/bucket/history"
	"bucketproof/scenarios/load"
)

// underLimit runs the suite clocks for a limiter in virtual time under another
// limit, to which everything scales.
func underLimit(t *testing.T, seed uint64, limiter string, l bucket.Limit) []*Result {
	t.Helper()
	names, _ := SuiteOf("clocks")
	sub := virtualSubject(limiter, seed)
	sub.Limit = &l
	var all []*Scenario
	for _, name := range names {
		s, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := s.Predict[limiter]; ok {
			all = append(all, s)
		}
	}
	return runScenarios(t, seed, sub, all...)
}

// TestTheoryHolds: what the suite clocks predicts is what happens where no machine
// can be slow, for each limiter, under several rates, capacities and loads, and all
// spreads of the sweeps. Theory's table, with the conditions that it took to make
// that true:
//
//   - Slow drains, fast takes; a step forward: min(C, R·S); once R·S exceeds what
//     the bucket lacks, C − level, that.
//   - Mixed polite load: the slow are served while R·S ≤ C/2 (near C − 1 the level
//     of a random load dips below R·S + 1 now and then) and starve once the fast
//     call more than six times on average in S − (C − 2)/R: a fast call that was
//     granted leaves C − 1, of which the slow see R·S less, and need one.
//   - Mixed overload: of each token the fast have S for themselves, so the slow get
//     about exp(−λ_fast·S) of their share (up to 0.05 more at R·S = 1: a call that
//     finds more than one token leaves some for either), which at λ = 3 R is a
//     quarter at R·S = 1 and nothing from R·S = 5 on: "from R·S ≥ 1" is too early.
//   - A clock that never goes back, under overload: 0.86, 0.68 and 0.28 of the fair
//     share at 1.2, 1.5 and 3 R, beside the first C tokens, which are shared evenly;
//     with C = 5 in place of 50 it is 0.75, 0.64 and 0.26, since the bucket is full
//     more often.
//   - A clock that goes forward and back again: what it earned early the limiter
//     takes back, so that denials are right until that is paid, S − C/R later. Only a
//     clock that first goes back locks out for all of S − level/R.
//   - Step back, then silence: the lock-out ends with the calls, if nobody calls for
//     a fill time; half a fill time ends nothing.
//   - Held past an expiry: 2 C + min(C, R·H) − C − R·H for a burst read at the drain
//     and held H ≥ C/R, and nothing with keys that live longer than H.
//   - The server's wall clock set forward by S, or a replica whose clock is as far
//     ahead: callers' clocks get C − level once S reaches the key's life, and nothing
//     below; Redis TIME min(C − level, R·S) at any S. Set back: nothing, and a lock-out
//     of S − level/R. A key that lives longer than S keeps callers' clocks from harm.
//   - The clamp that stores the older time: every turn mints, so that the excess
//     grows as (λ − R)·T once R·S is worth the calls of a turn, while what the others
//     exceed by stays min(C, R·S), however long the run. It locks nobody out. Where
//     its callers' clocks agree a call that is overtaken by a later one mints, too,
//     so that its excess is predicted only where that is little beside it, and of
//     lasting overload the growth alone: of the 100 calls of the burst before, 46 were
//     denied once where 50 ought to have been.
func TestTheoryHolds(t *testing.T) {
	limits := []bucket.Limit{
		{Rate: 100, Capacity: 50}, {Rate: 50, Capacity: 10}, {Rate: 200, Capacity: 40}, {Rate: 400, Capacity: 200},
		{Rate: 20, Capacity: 20}, {Rate: 1000, Capacity: 100}, {Rate: 100, Capacity: 500}, {Rate: 5, Capacity: 3},
	}
	if testing.Short() {
		limits = limits[1:2]
	}
	for _, limiter := range append(reference, "app-clock-long-ttl", "control/older-now-written") {
		for i, l := range limits {
			t.Run(fmt.Sprintf("%s/%v-%v", limiter, l.Rate, l.Capacity), func(t *testing.T) {
				t.Parallel()
				n := 0
				for _, res := range underLimit(t, uint64(i), limiter, l) {
					n += len(res.Predictions)
					for _, p := range res.Predictions {
						if !p.Within() {
							t.Errorf("%s, %v: %v", res.Scenario.Name, res.Limit, p)
						}
					}
				}
				if n == 0 {
					t.Error("nothing was predicted")
				}
			})
		}
	}
}

// TestHeldPastExpiry: with synchronized clocks the reference exceeds every time,
// and a longer life is all it takes to make it right.
func TestHeldPastExpiry(t *testing.T) {
	for seed := range uint64(20) {
		for limiter, want := range map[string]check.Verdict{"app-clock": check.Fail, "app-clock-long-ttl": check.Pass, "redis-time": check.Pass} {
			res := runVirtual(t, seed, limiter, "held-past-expiry")[0]
			if v := verdictOn(t, res, check.OverAdmission); v.Verdict != want || !v.WithinPrediction {
				t.Errorf("seed %d, %s: %s, within prediction %v: %s", seed, limiter, v.Verdict, v.WithinPrediction, v.Detail)
			}
		}
	}
}

// TestExcessGrows: that of the clamp with the length of the run, that of a spread
// not.
func TestExcessGrows(t *testing.T) {
	for limiter, grows := range map[string]bool{"app-clock": false, "app-clock-monotonic": false, "control/older-now-written": true} {
		results := runVirtual(t, 1, limiter, "clocks-growth")
		first, last := results[0], results[len(results)-1]
		ratio := verdictOn(t, last, check.OverAdmission).Value["peak_excess"] / verdictOn(t, first, check.OverAdmission).Value["peak_excess"]
		if longer := last.Duration.Seconds() / first.Duration.Seconds(); grows != (ratio > longer/1.5) || !grows && ratio > 1.1 {
			t.Errorf("%s: in a run %.1f times as long the excess is %.2f times as large", limiter, longer, ratio)
		}
	}
}

// predicting is a scenario with one prediction for app-clock.
func predicting(t *testing.T, figure, formula string) *Scenario {
	t.Helper()
	return mustParse(t, small+fmt.Sprintf("predict: {app-clock: {%s: %q}}\nexpect: {app-clock: {over-admission: any}}\n", figure, formula))
}

// TestFigureBeyondItsPrediction makes a run unexpected; undecided where calls were
// slow; nothing where theory is silent or the prediction is another limiter's.
func TestFigureBeyondItsPrediction(t *testing.T) {
	for _, c := range []struct {
		formula string
		name    string
		way     time.Duration
		want    Outcome
		n       int
	}{
		{"0", "app-clock", 0, AsExpected, 1},
		{"C", "app-clock", 0, Unexpected, 1},
		{"C", "app-clock", 30 * time.Millisecond, Undecided, 1},
		{"3", "app-clock", 30 * time.Millisecond, Undecided, 1}, // ± 7
		{"3", "mine", 30 * time.Millisecond, AsExpected, 1},
		{"nil", "app-clock", 0, AsExpected, 0},
		{"C", "mine", 0, AsExpected, 1},
		{"C", "redis-time", 0, AsExpected, 0},
	} {
		sub := virtualSubject("app-clock", 2)
		sub.Name = c.name
		if c.name == "redis-time" {
			sub.ModelName = "redis-time"
		}
		open := sub.Open
		sub.Open = func(ctx context.Context, instance string, witness bool) (bucket.Limiter, error) {
			l, err := open(ctx, instance, witness)
			l.(*view).way = c.way
			return l, err
		}
		res := runScenarios(t, 2, sub, predicting(t, "peak_excess", c.formula))[0]
		if res.Outcome != c.want || len(res.Predictions) != c.n {
			t.Errorf("%s for %s, calls of %v: %s with %v, want %s with %d", c.formula, c.name, 2*c.way, res.Outcome, res.Predictions, c.want, c.n)
		}
		told := strings.Contains(strings.Join(res.Warnings, "\n"), "peak_excess is 0, theory predicts ")
		if told != (c.want != AsExpected) {
			t.Errorf("%s for %s: warnings %q", c.formula, c.name, res.Warnings)
		}
	}
}

// TestLockOutThatCannotBeProven: a lock-out that is seen too short is undecided where
// calls took the time of a token, and unexpected where they did not.
func TestLockOutThatCannotBeProven(t *testing.T) {
	for way, want := range map[time.Duration]Outcome{0: Unexpected, 6 * time.Millisecond: Undecided} {
		sub := virtualSubject("app-clock", 2)
		open := sub.Open
		sub.Open = func(ctx context.Context, instance string, witness bool) (bucket.Limiter, error) {
			l, err := open(ctx, instance, witness)
			l.(*view).way = way
			return l, err
		}
		if res := runScenarios(t, 2, sub, predicting(t, "lockout_s", "1"))[0]; res.Outcome != want {
			t.Errorf("calls of %v: %s, want %s: %v", 2*way, res.Outcome, want, res.Predictions)
		}
	}
}

// TestChanged: the level is an ideal bucket's at the first change, and the calls
// go on until there is a gap of a fill time.
func TestChanged(t *testing.T) {
	s := mustParse(t, strings.Replace(small, "- {name: app}", "- {name: app, clock: {steps: [{at: 1s, by: -1s}, {at: 300ms, by: 0s}, {at: 1200ms, by: 1s}]}}", 1))
	s.Instances[0].Clock.Steps[1].At = Duration(900 * time.Millisecond)
	ms := func(n int64, o history.Outcome) history.Operation {
		return history.Operation{Call: n * 1e6, Return: n*1e6 + 1, Outcome: o, Cost: 30}
	}
	res := &Result{
		Scenario: *s, Limit: s.Limit, Latency: load.Measure(nil),
		Operations: []history.Operation{
			ms(500, history.Allowed), ms(600, history.Allowed), ms(650, history.Denied), // 50 − 30 + 10 − 30 = 0
			ms(950, history.Denied), ms(1400, history.Denied), ms(1950, history.Allowed),
		},
	}
	m := &measure{res: res}
	level, after := m.changed()
	if want := 30.0; level != want { // 0.3 s after it was empty
		t.Errorf("level %v, want %v", level, want)
	}
	if after != 0.5 { // 0.9 s to 1.4 s, then 0.55 s of silence
		t.Errorf("calls went on for %v s, want 0.5", after)
	}
	res.Scenario.Instances[0].Clock = Clock{}
	if level, after = m.changed(); level != 50 || after != 0 {
		t.Errorf("without a change: level %v, after %v", level, after)
	}
}

// TestDisturbedBy: the size is the point's.
func TestDisturbedBy(t *testing.T) {
	for name, want := range map[string]Disturbed{
		"clocks-drain/250ms":      {"spread", "caller", 0.25, "s"},
		"clocks-drain/0s":         {"spread", "caller", 0, "s"},
		"clocks-drift/10000ppm":   {"drift", "caller", 10000, "ppm"},
		"clocks-jitter/5ms":       {"jitter", "caller", 0.005, "s"},
		"clocks-strobe/1s":        {"strobe", "caller", 1, "s"},
		"clocks-strobe-back/10ms": {"strobe", "caller", 0.01, "s"},
		"clocks-freeze":           {"freeze", "caller", 0.5, "s"},
		"clocks-step-back/5s":     {"step-back", "caller", 5, "s"},
		"clocks-step-both/900ms":  {"step-both", "caller", 0.9, "s"},
		"clocks-step-forward/2s":  {"step-forward", "caller", 2, "s"},
		"clocks-leaves/2s":        {"leaves", "caller", 2, "s"},
		"held-past-expiry":        {"held", "caller", 0.52, "s"},
		"silence-ends-lockout":    {"silence", "caller", 2, "s"},
		"server-step":             {"server-step-back", "server", 0.5, "s"},
		"server-step-forward":     {"server-step-forward", "server", 0.3, "s"},
		"server-set-forward/3s":   {"server-set-forward", "server", 3, "s"},
		"failover-behind":         {"failover-behind", "server", 0.5, "s"},
	} {
		s, err := Named(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, ok := s.Disturbed(); !ok || got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if got, ok := mustParse(t, small).Disturbed(); ok {
		t.Errorf("nothing is disturbed, and %+v told", got)
	}
}

// TestSweptPoints: a point sets the largest figure and scales the others with it.
func TestSweptPoints(t *testing.T) {
	const text = `name: swept
limit: {rate: 100, capacity: 50}
instances:
  - {name: a, clock: {drift: -100ppm, jitter: 4ms, steps: [{at: 1s, by: -1s}, {at: 2s, by: 500ms}], strobe: {by: -10ms, every: 1s}}}
  - {name: b, clock: {drift: 50ppm, jitter: 2ms}}
phases:
  - {burst: 100}
  - {for: 2s, open: {rate: 100}}
  - {for: 1s}
  - {for: 1s, open: {rate: 100}}
`
	clocks := func(s Scenario) string {
		a, b := s.Instances[0].Clock, s.Instances[1].Clock
		return fmt.Sprint(a.Drift, b.Drift, a.Jitter, b.Jitter, a.Steps[0].By, a.Steps[1].By, a.Strobe.By, s.Phases[1].For, s.Phases[2].For, s.Phases[3].For)
	}
	for sweep, want := range map[string][2]string{
		"drift: [20ppm]": {"20ppm", "-20ppm 10ppm 4ms 2ms -1s 500ms -10ms 2s 1s 1s"},
		"jitter: [0s]":   {"0s", "-100ppm 50ppm 0s 0s -1s 500ms -10ms 2s 1s 1s"},
		"step: [200ms]":  {"200ms", "-100ppm 50ppm 4ms 2ms -200ms 100ms -10ms 2s 1s 1s"},
		"strobe: [1s]":   {"1s", "-100ppm 50ppm 4ms 2ms -1s 500ms -1s 2s 1s 1s"},
		"for: [4s]":      {"4s", "-100ppm 50ppm 4ms 2ms -1s 500ms -10ms 4s 1s 2s"},
	} {
		s := mustParse(t, text+"sweep: {"+sweep+"}\n")
		before := clocks(*s)
		points := s.Points()
		if len(points) != 1 || points[0].Name != "swept/"+want[0] || clocks(points[0]) != want[1] {
			t.Errorf("%s: %s %s, want %v", sweep, points[0].Name, clocks(points[0]), want)
		}
		if clocks(*s) != before {
			t.Errorf("%s changed the scenario to %s", sweep, clocks(*s))
		}
	}
}
