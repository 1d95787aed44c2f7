package scenarios

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/check"
	"bucketproof/bucket/control"
	"bucketproof/bucket/lua"
)

// virtual is a member of the reference family on a server in virtual time:
// each request takes a while to get there and back, is decided at one instant,
// and renews the key's life, which runs on the server's clock.
type virtual struct {
	rule   bucket.Rule
	clamps bool          // as control/older-now-written: no refill of a clock that went back, which is stored all the same
	longer time.Duration // of a key's life than one full refill
	server bool          // on the server's clock
	way    time.Duration // so much longer each way

	mu     sync.Mutex
	random *rand.Rand
	states map[string]stored
	set    time.Duration // by which the server's wall clock was set
}

// Offset, OpenLimiter, Step and Close make it the server of one run.
func (v *virtual) Offset(_ context.Context, local func() time.Time) (offset, uncertainty time.Duration, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return time.Now().Add(v.set).Sub(local()), 0, nil
}

func (v *virtual) OpenLimiter(context.Context, *Subject, string) (bucket.Limiter, error) {
	return &view{v, false, nil}, nil
}

func (v *virtual) Step(_ context.Context, by time.Duration) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.set += by
	return nil
}

func (v *virtual) Close() error { return nil }

type stored struct {
	bucket.State
	until    time.Time
	sequence int64
}

// view is the limiter as an instance holds it.
type view struct {
	*virtual
	witness bool
	clock   func() lua.ServerClock // nil: the server's own
}

// delay is one way: 50 to 400 µs, unless it is longer.
func (v *virtual) delay() time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.way + 50*time.Microsecond + time.Duration(v.random.Int64N(int64(350*time.Microsecond)))
}

func (v *view) Take(_ context.Context, l bucket.Limit, r bucket.Request) (bucket.Decision, error) {
	var shown lua.ServerClock
	if v.clock != nil {
		shown = v.clock()
	}
	time.Sleep(v.delay())
	d := v.decide(l, r, shown)
	time.Sleep(v.delay())
	if !v.witness {
		d.Witness = bucket.Witness{}
	}
	return d, nil
}

func (v *virtual) decide(l bucket.Limit, r bucket.Request, shown lua.ServerClock) bucket.Decision {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now().Add(v.set)
	s := v.states[r.Key]
	if !now.Before(s.until) {
		s = stored{sequence: s.sequence}
	}
	reading := float64(r.Now.UnixMilli())
	if v.server {
		ahead := shown.Offset.Microseconds()
		for _, step := range shown.Steps {
			if !now.Before(step.At) {
				ahead += step.By.Microseconds()
			}
		}
		reading = float64(now.UnixMicro() + ahead)
	}
	before := s.State
	if v.clamps && before.Exists {
		before.Time = min(before.Time, reading)
	}
	state, allowed := v.rule.Take(before, l, reading, r.Cost)
	d := bucket.Untold(allowed)
	d.Witness = bucket.Witness{
		Sequence: s.sequence + 1, BeforeMicros: now.UnixMicro(), AfterMicros: now.UnixMicro(), Before: s.State, After: state,
	}
	v.states[r.Key] = stored{state, now.Add(time.Duration(l.TTLMillis())*time.Millisecond + v.longer), s.sequence + 1}
	return d
}

// virtualServer is a server with one limiter on it.
func virtualServer(name string, seed uint64) *virtual {
	v := &virtual{random: rand.New(rand.NewPCG(seed, 1)), states: map[string]stored{}, rule: bucket.RuleAppClock}
	switch name {
	case "app-clock-long-ttl":
		v.longer = time.Minute
	case "control/older-now-written":
		v.clamps = true
	case "app-clock-monotonic":
		v.rule = bucket.RuleAppClockMonotonic
	case "redis-time":
		v.rule, v.server = bucket.RuleRedisTime, true
	}
	return v
}

// virtualSubject is a reference limiter by its built-in name, with a witness for
// every second seed.
func virtualSubject(name string, seed uint64) *Subject {
	v := virtualServer(name, seed)
	s := &Subject{Name: name, ModelName: name, Time: bucket.CallerTime, Granularity: time.Millisecond, Reference: true, Costs: true}
	s.Model, s.Witnessed, s.Stored = &v.rule, seed%2 == 1, true
	switch name {
	case "control/older-now-written":
		s.Model, s.ModelName, s.Reference = nil, "", false
		s.Expect = Expectations{"over-admission": ExpectAny, "spurious-denial": ExpectAny, "accept-rate": ExpectAny, "fairness": ExpectAny}
	case "redis-time":
		s.Time, s.Granularity = bucket.ServerTime, time.Microsecond
	}
	s.Open = func(_ context.Context, _ string, witness bool) (bucket.Limiter, error) {
		return &view{v, witness, nil}, nil
	}
	s.OpenShifted = func(_ context.Context, _ string, witness bool, clock func() lua.ServerClock) (bucket.Limiter, error) {
		return &view{v, witness, clock}, nil
	}
	return s
}

var reference = []string{"app-clock", "app-clock-monotonic", "redis-time"}

// runVirtual runs the points of named scenarios for a reference limiter in
// virtual time.
func runVirtual(t *testing.T, seed uint64, limiter string, names ...string) []*Result {
	t.Helper()
	var all []*Scenario
	for _, name := range names {
		s, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return runScenarios(t, seed, virtualSubject(limiter, seed), all...)
}

// runScenarios runs scenarios for a limiter in virtual time.
func runScenarios(t *testing.T, seed uint64, sub *Subject, all ...*Scenario) []*Result {
	t.Helper()
	var results []*Result
	sel := Selection{Subjects: []*Subject{sub}, Scenarios: all, Seed: seed, Witness: WitnessAuto}
	plans, _, err := sel.Plans()
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		r := &Runner{ID: "virtual"}
		r.OpenOwn = func(context.Context, ServerKind) (OwnServer, error) { return virtualServer(sub.Name, seed), nil }
		for _, p := range plans {
			res, err := r.Run(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, res)
		}
	})
	return results
}

// TestCatalogueInVirtualTime holds every scenario's expectations against the
// reference family where no machine can be slow.
func TestCatalogueInVirtualTime(t *testing.T) {
	standard, _ := SuiteOf("standard")
	edges, _ := SuiteOf("edges")
	clocks, _ := SuiteOf("clocks")
	names := slices.Concat(standard, edges, clocks)
	for _, limiter := range reference {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%s/%d", limiter, seed), func(t *testing.T) {
				t.Parallel()
				for _, res := range runVirtual(t, seed, limiter, names...) {
					if res.Outcome != AsExpected {
						t.Errorf("%s is %s", res.Scenario.Name, res.Outcome)
						for _, v := range res.Verdicts {
							t.Logf("  %s: %s, expected %s, within prediction %v: %s", v.Name, v.Verdict, v.Expected, v.WithinPrediction, v.Detail)
						}
					}
				}
			})
		}
	}
}

// TestMissingFaultIsDecided: where a negative control must be caught, a limiter
// that is expected to fail and has no fault passes, and nothing but a slow
// machine leaves that open.
func TestMissingFaultIsDecided(t *testing.T) {
	for _, c := range control.All() {
		s, err := Named(c.Scenario)
		if err != nil {
			t.Fatal(err)
		}
		sub := virtualSubject("redis-time", 1)
		sub.Expect = Expectations{c.Check: ExpectFail}
		sel := Selection{Subjects: []*Subject{sub}, Scenarios: []*Scenario{s}, Seed: 1}
		plans, _, err := sel.Plans()
		if err != nil || len(plans) == 0 {
			t.Fatalf("%s has %d points: %v", c.Scenario, len(plans), err)
		}
		synctest.Test(t, func(t *testing.T) {
			for _, p := range plans {
				res, err := (&Runner{ID: "virtual"}).Run(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				v := verdictOn(t, res, c.Check)
				if res.Hazy || v.Verdict != check.Pass && v.Verdict != check.Skipped { // there is no store to audit here, and no reply to hold to
					t.Errorf("%s in %s: %s is %s: %s", c.Name, p.Scenario.Name, c.Check, v.Verdict, v.Detail)
				}
			}
		})
	}
}

// verdictOn is a check's verdict in a result.
func verdictOn(t *testing.T, res *Result, name string) Verdict {
	t.Helper()
	for _, v := range res.Verdicts {
		if v.Name == name {
			return v
		}
	}
	t.Fatalf("%s: no check %s", res.Scenario.Name, name)
	return Verdict{}
}

// burstTime is from a run's first call to its last reply.
func burstTime(res *Result) float64 {
	s := res.Report.Summary
	return float64(s.End-s.Start) / 1e9
}

// TestSkewDrainExceedsByTheSpread: a spread S is worth min(C, R·S) tokens to a
// caller's clock and nothing to the server's.
func TestSkewDrainExceedsByTheSpread(t *testing.T) {
	for _, limiter := range reference {
		for _, res := range runVirtual(t, 7, limiter, "skew-drain") {
			l, spread := res.Limit, time.Duration(res.Scenario.spread()).Seconds()
			want := math.Min(l.Capacity, l.Rate*spread)
			if limiter == "redis-time" {
				want = 0
			}
			got := verdictOn(t, res, check.OverAdmission).Value["peak_excess"]
			if slack := 1 + l.Rate*(0.001+burstTime(res)); math.Abs(got-want) > slack {
				t.Errorf("%s in %s: peak excess %.1f, want %.1f ± %.1f", limiter, res.Scenario.Name, got, want, slack)
			}
		}
	}
}

// grants is what the instances of a group were granted, and the share of all.
func grants(res *Result, group string) (n int64, share float64) {
	for _, in := range res.Report.Summary.Instances {
		if strings.HasPrefix(in.Name, group) {
			n += in.Allowed
		}
	}
	return n, float64(n) / float64(res.Report.Summary.Allowed)
}

// TestSkewMixedStarves: as written, the slow instances get next to nothing,
// polite or not; with a clock that never goes back they are served while the
// load is polite and disadvantaged under overload; Redis TIME is even.
func TestSkewMixedStarves(t *testing.T) {
	for _, limiter := range reference {
		results := runVirtual(t, 3, limiter, "skew-mixed")
		for i, load := range []string{"polite", "overload"} {
			res := results[i]
			_, share := grants(res, "slow")
			detail := verdictOn(t, res, check.Fairness).Detail
			switch {
			case limiter == "app-clock":
				if share > 0.12 || !strings.Contains(detail, "slow-") {
					t.Errorf("%s: the slow ones got %.2f of all grants, told as %q", res.Scenario.Name, share, detail)
				}
			case limiter == "app-clock-monotonic" && load == "overload":
				if share > 0.25 || !strings.Contains(detail, "slow-") {
					t.Errorf("%s: the slow ones got %.2f of all grants, told as %q", res.Scenario.Name, share, detail)
				}
			default:
				if math.Abs(share-0.5) > 0.1 {
					t.Errorf("%s in %s: the slow ones got %.2f of all grants", limiter, res.Scenario.Name, share)
				}
			}
		}
	}
}

// TestFastLeavesLocksOut: the others are locked out for S − (level − 1)/R as
// written, level being what was left, and S + 1/R − level/λ with a clock that
// never goes back; not at all on the server's clock.
func TestFastLeavesLocksOut(t *testing.T) {
	for _, limiter := range reference {
		res := runVirtual(t, 5, limiter, "fast-leaves")[0]
		longest := 0.0
		for _, in := range res.Report.Summary.Instances {
			longest = math.Max(longest, in.LongestLockout.Seconds())
		}
		spread := time.Duration(res.Scenario.spread()).Seconds()
		switch limiter {
		case "redis-time":
			if longest > 0.05 {
				t.Errorf("%s: locked out for %.2f s", limiter, longest)
			}
		default:
			if math.Abs(longest-spread) > 0.1 {
				t.Errorf("%s: locked out for %.2f s, want about %.2f s", limiter, longest, spread)
			}
		}
	}
}
