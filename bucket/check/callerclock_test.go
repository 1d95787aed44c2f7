package check

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// world is a simulated run in virtual time of a limiter on the caller's clock:
// calls with a reading, an instant at which the script runs, and a return; and
// one Redis whose keys expire in true time.
type world struct {
	limit bucket.Limit
	rule  bucket.Rule
	ttl   time.Duration // of a key after each decision; 0: for ever
	ops   []history.Operation
	runs  []int64 // when each operation's script runs
	leaps shifts  // of the server's clock, forward

	looks   int // after about so many decisions the stored state is sampled
	samples []Sample
}

// add plans a request: called at call, decided after delay, returned after
// back. The instance's clock is ahead by skew.
func (w *world) add(call, delay, back time.Duration, instance string, skew time.Duration) {
	w.ops = append(w.ops, history.Operation{
		Due: int64(call), Call: int64(call), Return: int64(call + delay + back),
		Clock: int64(epoch + call + skew), Key: "k", Instance: instance, Cost: 1, Remaining: math.NaN(), RetryAfter: -1,
	})
	w.runs = append(w.runs, int64(call+delay))
}

// epoch is the wall time at the start of the simulated runs, so that the script
// computes with numbers as large as in earnest.
const epoch = 1_764_547_200 * time.Second

// run decides every request in the order in which the scripts run.
func (w *world) run() []history.Operation {
	order := make([]int, len(w.ops))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(w.runs[a], w.runs[b]) })
	var s bucket.State
	expires := int64(math.MaxInt64) // ms
	for n, i := range order {
		now := (int64(epoch) + w.runs[i] + w.leaps.at(w.runs[i])) / 1e6 // the server's clock, ms
		if now > expires {
			s = bucket.State{}
		}
		var ok bool
		reading := w.ops[i].Clock / 1e6
		if w.rule == bucket.RuleRedisTime {
			reading = (int64(epoch) + w.runs[i]) / 1e3
		}
		s, ok = w.rule.Take(s, w.limit, float64(reading), w.ops[i].Cost)
		w.ops[i].Outcome = history.Denied
		if ok {
			w.ops[i].Outcome = history.Allowed
		}
		if w.ttl > 0 {
			expires = now + w.ttl.Milliseconds()
		}
		if w.looks > 0 && n%(1+len(order)/w.looks) == 0 {
			w.look(w.runs[i], now, expires, s)
		}
	}
	slices.SortStableFunc(w.ops, func(a, b history.Operation) int { return cmp.Compare(a.Call, b.Call) })
	return w.ops
}

// look samples what is stored right after a decision.
func (w *world) look(at, now, expires int64, s bucket.State) {
	w.samples = append(w.samples, Sample{Call: at, Return: at + 1000, Key: "k", Complete: true, Keys: []KeyState{{
		Name: "k", TTL: time.Duration(expires-now) * time.Millisecond, Tokens: s.Tokens,
	}}})
}

// ttlOf is the life the reference script gives a key.
func ttlOf(l bucket.Limit) time.Duration { return time.Duration(l.TTLMillis()) * time.Millisecond }

// callers draws a run of a few instances with their clocks.
func callers(rng *rand.Rand) *world {
	pick := func(list ...float64) float64 { return list[rng.IntN(len(list))] }
	w := &world{
		limit: bucket.Limit{Rate: pick(3, 10, 100, 1000), Capacity: pick(1, 2, 5, 20, 50)},
		rule:  bucket.RuleAppClock,
	}
	if rng.IntN(3) == 0 {
		w.rule = bucket.RuleAppClockMonotonic
	}
	fill := w.limit.FillTime()
	some := func(d time.Duration) time.Duration { return time.Duration(rng.Float64() * float64(d)) }
	spread := time.Duration(pick(0, 0, 0.001, 0.1, 0.5, 1, 3) * float64(fill))
	jitter := time.Duration(pick(0, 0, 0.01, 0.3) * float64(fill))
	delay := time.Duration(pick(0, 0.001, 0.05, 0.5, 1.3) * float64(fill))
	back := time.Duration(pick(0, 0.001, 0.2) * float64(fill))
	load := pick(0.3, 0.8, 1.2, 3) * w.limit.Rate
	if rng.IntN(4) > 0 {
		w.ttl = ttlOf(w.limit)
	}
	names := []string{"fast", "slow", "slower"}[:1+rng.IntN(3)]
	skews := make([]time.Duration, len(names))
	for i := range skews {
		skews[i] = -some(spread)
	}
	step, stepAt := time.Duration(0), time.Duration(math.MaxInt64)
	if rng.IntN(4) == 0 {
		step, stepAt = some(2*spread)-spread, some(4*fill)
	}
	leaves := some(8 * fill)
	t := time.Duration(0)
	for range 20 + rng.IntN(200) {
		switch {
		case rng.IntN(40) == 0: // a pause, about as long as a key lives
			t += time.Duration(pick(0.9, 1.01, 1.3, 3) * float64(fill))
		case rng.IntN(20) == 0: // a burst
			for range rng.IntN(2 + int(2*w.limit.Capacity)) {
				i := rng.IntN(len(names))
				w.add(t, some(delay), some(back), names[i], skews[i])
			}
		default:
			t += time.Duration(rng.ExpFloat64() / load * 1e9)
		}
		i := rng.IntN(len(names))
		if i == 0 && t > leaves {
			i = len(names) - 1
		}
		skew := skews[i]
		if i == len(names)-1 && t > stepAt {
			skew += step
		}
		skew += some(jitter)
		held := some(delay)
		if rng.IntN(3) > 0 {
			held = some(held / 10)
		}
		w.add(t, held, some(back), names[i], skew)
	}
	return w
}

// What the theory says a limiter on the caller's clock can do is never exceeded:
// every excess lies within R·(S + g) + k·R·(S + D + g), every spurious denial
// within R·(ahead + age + g). Where the server's clock leaps, a bucket is added. And it is no idle bound: some runs come close.
func TestCallerClockWithinPrediction(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		draw func(*rand.Rand) *world
		n    int
	}{
		{"runs", callers, 1000},
		{"coincidences", small, 10000},
		{"leaps of the server's clock", leaping(callers), 1000},
		{"coincidences with leaps", leaping(small), 10000},
	} {
		t.Run(c.name, func(t *testing.T) {
			var seen sighting
			for seed := range uint64(cases(c.n)) {
				w := c.draw(randomOf(seed, 7))
				seen.judge(t, seed, w)
				if t.Failed() {
					return
				}
			}
			t.Logf("%+v", seen)
			if seen.closest < 0.9 || seen.closestExpired < 0.4 || seen.denied == 0 || seen.clean == 0 {
				t.Errorf("the prediction was not tried hard: %+v", seen)
			}
		})
	}
}

// sighting is what simulated runs showed.
type sighting struct {
	over, expired, denied, rate, clean int
	closest                            float64 // largest excess over what is predicted, no expiry
	closestExpired                     float64 // the same with expiries or leaps
}

func (n *sighting) judge(t *testing.T, seed uint64, w *world) {
	t.Helper()
	spec := Spec{Limit: w.limit, Granularity: time.Millisecond, Time: bucket.CallerTime, TTL: w.ttl, Model: &w.rule}
	if w.ttl == 0 {
		spec.TTL = math.MaxInt64
	}
	for _, leap := range w.leaps {
		spec.Leaps = append(spec.Leaps, Leap{leap.at, leap.at})
	}
	rep, err := Judge(spec, all(w.run()), nil)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	over, spurious := find(t, rep, OverAdmission), find(t, rep, SpuriousDenial)
	if !over.WithinPrediction {
		t.Errorf("seed %d: %v, ttl %v: over-admission beyond prediction: %s; %v", seed, w.limit, w.ttl, over.Detail, over.Value)
	}
	if !spurious.WithinPrediction {
		t.Errorf("seed %d: %v, ttl %v: spurious denial beyond prediction: %s; %v", seed, w.limit, w.ttl, spurious.Detail, spurious.Value)
	}
	if r := find(t, rep, Linearizability); r.Verdict == Fail {
		t.Errorf("seed %d: %v, ttl %v: no order: %s", seed, w.limit, w.ttl, r.Detail)
	}
	if r := find(t, rep, AcceptRate); !r.WithinPrediction {
		t.Errorf("seed %d: %v, ttl %v: accept rate beyond prediction: %s; %v", seed, w.limit, w.ttl, r.Detail, r.Value)
	} else if r.Verdict == Fail {
		n.rate++
	}
	if over.Verdict == Fail {
		n.over++
		part := over.Value["peak_excess"] / over.Value["predicted_peak_excess"]
		if over.Value["expiries"]+over.Value["leaps"] == 0 {
			n.closest = max(n.closest, part)
		} else {
			n.expired++
			n.closestExpired = max(n.closestExpired, part)
		}
	}
	if spurious.Verdict == Fail {
		n.denied++
	}
	if over.Verdict == Pass && spurious.Verdict == Pass {
		n.clean++
	}
}

// leaping draws runs in which the server's clock, by which keys expire, goes
// forward a few times.
func leaping(draw func(*rand.Rand) *world) func(*rand.Rand) *world {
	return func(rng *rand.Rand) *world {
		w := draw(rng)
		w.ttl = ttlOf(w.limit)
		last := slices.Max(w.runs)
		for range 1 + rng.IntN(3) {
			w.leaps = append(w.leaps, struct{ at, by int64 }{rng.Int64N(last + 1), rng.Int64N(2 * int64(w.limit.FillTime()))})
		}
		return w
	}
}

// small draws a few calls on a coarse grid: here every coincidence happens.
func small(rng *rand.Rand) *world {
	pick := func(list ...float64) float64 { return list[rng.IntN(len(list))] }
	w := &world{
		limit: bucket.Limit{Rate: pick(2, 5, 10, 50), Capacity: pick(1, 2, 3)},
		rule:  []bucket.Rule{bucket.RuleAppClock, bucket.RuleAppClockMonotonic}[rng.IntN(2)],
	}
	if rng.IntN(5) > 0 {
		w.ttl = ttlOf(w.limit)
	}
	grid := w.limit.FillTime() / time.Duration(1+rng.IntN(8))
	grid = grid.Truncate(time.Millisecond) + time.Duration(rng.IntN(2)*rng.IntN(1_000_000))
	span := 1 + rng.Int64N(20)
	clocks := 1 + rng.Int64N(6)
	delays := 1 + rng.Int64N(8)
	for range 3 + rng.IntN(14) {
		w.add(time.Duration(rng.Int64N(span))*grid, time.Duration(rng.Int64N(delays))*grid, time.Duration(rng.Int64N(2)*rng.Int64N(3))*grid,
			string(rune('x'+rng.IntN(2))), time.Duration(rng.Int64N(clocks))*grid)
	}
	return w
}

// The same script on the server's clock, with the same expiry in whole
// milliseconds, is accused of nothing, though the callers' clocks disagree and
// calls are held.
func TestServerClockIsNeverAccused(t *testing.T) {
	t.Parallel()
	verdicts := map[string]int{}
	for seed := range uint64(cases(2000)) {
		w := []func(*rand.Rand) *world{callers, small}[seed%2](randomOf(seed, 22))
		w.rule, w.ttl, w.looks = bucket.RuleRedisTime, ttlOf(w.limit), 10
		ops := w.run()
		spec := Spec{Limit: w.limit, Granularity: time.Microsecond, Time: bucket.ServerTime}
		rep, err := Judge(spec, all(ops), w.samples)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, r := range rep.Results {
			verdicts[r.Name+" "+string(r.Verdict)]++
			if r.Verdict == Fail {
				t.Fatalf("seed %d: %v: %s: %s", seed, w.limit, r.Name, r.Detail)
			}
		}
	}
	for _, name := range []string{OverAdmission, SpuriousDenial, AcceptRate, StateAudit} {
		if verdicts[name+" pass"] < cases(2000)/2 {
			t.Errorf("%s seldom passed: %v", name, verdicts)
		}
	}
}
