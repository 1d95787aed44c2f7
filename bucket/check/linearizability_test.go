package check

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// brief draws a run that fits into an excerpt: few callers, and no pause in which
// a key could expire.
func brief(rng *rand.Rand, n int) *watched {
	w := drawWatched(rng, n)
	w.limit.Capacity = max(w.limit.Capacity, 5)
	fill := w.limit.FillTime()
	step := int64(fill) / int64(8+rng.IntN(40))
	w.ops, w.plans = w.ops[:0], w.plans[:0]
	workers := 1 + rng.IntN(6)
	free := make([]int64, workers)
	lost := []float64{0, 0, 0.04}[rng.IntN(3)]
	spread := []int64{0, 0, step, 5 * step}[rng.IntN(4)] + 1
	for range n {
		i := slices.Index(free, slices.Min(free))
		call := free[i] + rng.Int64N(step)
		p := plan{arrives: call + rng.Int64N(step), took: 1000 + rng.Int64N(3000), back: rng.Int64N(step/4 + 1), lost: rng.Float64() < lost}
		free[i] = p.arrives + p.took + p.back
		w.add(rng, call, "k", string(rune('a'+i)), rng.Int64N(spread), p)
	}
	return w
}

// unwatch takes the witness from a history.
func unwatch(ops []history.Operation) {
	for i := range ops {
		ops[i].Witness = bucket.Witness{}
	}
}

// Porcupine, which shares nothing with the other checks, agrees with them: it
// finds an order for what a limiter did that is what it is said to be; what any
// of them accuses has none; and with a witness it says exactly what the replay
// says.
func TestPorcupineAgrees(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range uint64(cases(3000)) {
		rng := randomOf(seed, 33)
		w := brief(rng, 10+rng.IntN(40))
		ops := w.run()
		corrupt := rng.IntN(3) > 0
		if corrupt {
			for range 1 + rng.IntN(3) {
				op := &ops[rng.IntN(len(ops))]
				switch {
				case op.Outcome == history.Unknown:
				case rng.IntN(3) == 0 && op.Witness.Sequence > 0:
					flip([]*bucket.State{&op.Witness.Before, &op.Witness.After}[rng.IntN(2)])
				default:
					op.Outcome = history.Allowed + history.Denied - op.Outcome
				}
			}
		}
		witnessed := w.source == bucket.ServerTime || rng.IntN(2) == 0
		if !witnessed {
			unwatch(ops)
		}
		agree(t, seed, w, ops, corrupt, seen)
		if t.Failed() {
			return
		}
	}
	t.Log(seen)
}

func agree(t *testing.T, seed uint64, w *watched, ops []history.Operation, corrupt bool, seen map[string]int) {
	t.Helper()
	spec := w.spec()
	spec.LinearizeTimeout = 0
	rep := judged(t, spec, ops)
	linear, replay := find(t, rep, Linearizability), find(t, rep, Replay)
	whole := linear.Value["requests"] == float64(len(ops))
	seen[string(w.source)+" "+string(linear.Verdict)+" "+string(replay.Verdict)]++
	if linear.Verdict == Skipped || linear.Verdict == Undecided {
		return
	}
	if !corrupt && linear.Verdict != Pass {
		t.Errorf("seed %d: a right history has no order: %s: %v", seed, linear.Detail, linear.Evidence.Notes)
	}
	if unknown := rep.Summary.Unknown > 0; whole && replay.Verdict != Skipped && (replay.Verdict == Fail) != (linear.Verdict == Fail) && !(unknown && linear.Verdict == Fail) {
		t.Errorf("seed %d: replay: %s: %s; linearizability: %s: %s", seed, replay.Verdict, replay.Detail, linear.Verdict, linear.Detail)
	}
	for _, name := range []string{OverAdmission, SpuriousDenial} {
		r := find(t, rep, name)
		if r.Verdict == Fail && !r.WithinPrediction {
			seen[name+" fails"]++
			if whole && linear.Verdict == Pass {
				t.Errorf("seed %d: %s: %s; yet there is an order", seed, name, r.Detail)
			}
		}
	}
}

// tangled is a history without an order that is hard to see: on each key two
// crowds of eight requests at once, with as many tokens as one of them wants and
// one grant more, and every order of them leaves another sum of doubles.
func tangled(keys int) ([]history.Operation, Spec) {
	var ops []history.Operation
	for k := range keys {
		for i := range int64(16) {
			from := int64(k)*1e9 + i/8*1e6
			op := history.Operation{
				Call: from + i*1000, Return: from + 500_000, Clock: int64(epoch) + from + (i*i*7919%97+1)*1e6, Key: string(rune('a' + k)),
				Instance: string(rune('a' + i%8)), Cost: 1, Outcome: history.Allowed, Remaining: math.NaN(), RetryAfter: -1,
			}
			if i > 8 {
				op.Outcome = history.Denied
			}
			ops = append(ops, op)
		}
	}
	spec := Spec{Limit: bucket.Limit{Rate: 0.0007, Capacity: 8}, Granularity: time.Millisecond, Time: bucket.CallerTime, Model: &bucket.RuleAppClock}
	return ops, spec
}

// A search that gives up is undecided and says after what; so is one that was
// never begun, since others had taken all there is.
func TestSearchThatGivesUpIsUndecided(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		keys    int
		timeout time.Duration
		says    []string
	}{
		{"too many steps", 1, time.Hour, []string{"the search for an order of 16 requests gave up after 200000 steps of the model"}},
		{"too long", 1, time.Nanosecond, []string{"the search for an order of 16 requests gave up after 1ns"}},
		{"too many keys", 12, time.Hour, []string{"gave up after 200000 steps of the model", " keys left when the search had taken 1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ops, spec := tangled(c.keys)
			spec.LinearizeTimeout = c.timeout
			r := find(t, judged(t, spec, ops), Linearizability)
			if r.Verdict != Undecided || len(r.Keys) != c.keys {
				t.Errorf("%s on %d keys: %s", r.Verdict, len(r.Keys), r.Detail)
			}
			for _, says := range c.says {
				if !strings.Contains(r.Detail, says) {
					t.Errorf("%q, want %q in it", r.Detail, says)
				}
			}
			for _, k := range r.Keys {
				if k.Verdict != Undecided {
					t.Errorf("key %s: %s", k.Key, k.Verdict)
				}
			}
		})
	}
}
