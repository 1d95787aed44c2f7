package check

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// instant draws n operations of no length at different times, decided by
// decide: what a machine without delays would record.
func instant(rng *rand.Rand, n int, gap time.Duration, decide func(at int64) bool) []history.Operation {
	ops := make([]history.Operation, n)
	t := int64(0)
	for i := range ops {
		t += 1 + int64(rng.ExpFloat64()*float64(gap))
		ops[i] = history.Operation{Due: t, Call: t, Return: t, Clock: t, Key: "k", Instance: "i", Cost: 1, Outcome: history.Denied, Remaining: math.NaN(), RetryAfter: -1}
		if decide(t) {
			ops[i].Outcome = history.Allowed
		}
	}
	return ops
}

// With exact times the excess is what an ideal bucket drops.
func TestExcessIsWhatAnIdealBucketDrops(t *testing.T) {
	for seed := range uint64(cases(500)) {
		rng := randomOf(seed, 8)
		limit := bucket.Limit{Rate: 1 + 9*rng.Float64(), Capacity: float64(1 + rng.IntN(20))}
		ops := instant(rng, 300, time.Duration(float64(time.Second)/limit.Rate*rng.Float64()*2), func(int64) bool { return rng.IntN(5) > 0 })
		var dropped float64
		var s bucket.State
		for _, o := range ops {
			if o.Outcome != history.Allowed {
				continue
			}
			var ok bool
			if s, ok = nanoRule.Take(s, limit, float64(o.Call), 1); !ok {
				dropped++
			}
		}
		r := find(t, judged(t, Spec{Limit: limit}, ops), OverAdmission)
		if r.Value["excess"] != dropped {
			t.Fatalf("seed %d: excess %v, an ideal bucket drops %v", seed, r.Value["excess"], dropped)
		}
	}
}

// With exact times a denial is spurious exactly when the bucket held enough.
func TestSpuriousIsWhatAnIdealBucketGrants(t *testing.T) {
	for seed := range uint64(cases(500)) {
		rng := randomOf(seed, 9)
		limit := bucket.Limit{Rate: 1 + 9*rng.Float64(), Capacity: float64(1 + rng.IntN(20))}
		var s bucket.State
		wrong := 0.0
		ops := instant(rng, 300, time.Duration(float64(time.Second)/limit.Rate*rng.Float64()*2), func(at int64) bool {
			next, ok := nanoRule.Take(s, limit, float64(at), 1)
			if ok && rng.IntN(4) == 0 {
				wrong++
				return false
			}
			s = next
			return ok
		})
		r := find(t, judged(t, Spec{Limit: limit}, ops), SpuriousDenial)
		if r.Value["count"] != wrong {
			t.Fatalf("seed %d: %v spurious, a bucket that denies %v at whim", seed, r.Value["count"], wrong)
		}
	}
}

// Concurrency hides at most 2·R·D: what is over at the true instants by more is
// found on [call, return].
func TestExcessBeyondConcurrencyIsFound(t *testing.T) {
	t.Parallel()
	found := 0
	for seed := range uint64(cases(1500)) {
		rng := randomOf(seed, 10)
		s := randomShape(rng)
		s.n, s.keys, s.unknown, s.origin = 60, 1, 0, 0
		s.spec.RateTolerance = 0
		ops := s.history(rng)
		exact := make([]history.Operation, len(ops))
		var longest int64
		for i, o := range ops {
			exact[i] = o
			exact[i].Call = within(rng, o.Call, o.Return)
			exact[i].Return = exact[i].Call
			longest = max(longest, o.Return-o.Call)
		}
		p := brutePeak(&s.spec, exact)
		least := p - 2*s.spec.Limit.Rate*seconds(longest)
		if least <= 0 || math.IsInf(least, 0) {
			continue
		}
		found++
		if got := find(t, judged(t, s.spec, ops), OverAdmission).Value["peak_excess"]; got < least-1e-6 || got > p+1e-6 {
			t.Fatalf("seed %d: %v over, want between %v and %v", seed, got, least, p)
		}
	}
	if found < cases(1500)/20 {
		t.Errorf("%d histories were over by more than concurrency hides", found)
	}
}

// judged is a report on a history that must be well-formed.
func judged(t *testing.T, spec Spec, ops []history.Operation) Report {
	t.Helper()
	rep, err := Judge(spec, all(ops), nil)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// A call that is held for the whole run keeps nothing alive: the line stays as
// short as the requests in flight.
func TestHeldCallKeepsNothingAlive(t *testing.T) {
	spec := Spec{Limit: bucket.Limit{Rate: 500, Capacity: 20}, Time: bucket.CallerTime}
	ops := []history.Operation{}
	rng := randomOf(1, 11)
	for i := range int64(50_000) {
		at := i * int64(time.Millisecond)
		op := history.Operation{Call: at, Return: at + rng.Int64N(int64(10*time.Millisecond)), Key: "k", Cost: 1, Outcome: history.Allowed, Remaining: math.NaN(), RetryAfter: -1}
		if rng.IntN(2) == 0 {
			op.Outcome = history.Denied
		}
		if i%10_000 == 17 {
			op.Return = int64(time.Minute)
		}
		ops = append(ops, op)
	}
	rules, err := spec.rules()
	if err != nil {
		t.Fatal(err)
	}
	r := &reading{spec: &spec, rules: rules, keys: map[string]*sweep{}}
	if err := r.read(all(ops)); err != nil {
		t.Fatal(err)
	}
	s := r.order[0]
	if flying := s.line.most; flying > 40 || cap(s.line.places) > 8*flying {
		t.Errorf("%d places for at most %d requests in flight", cap(s.line.places), flying)
	}
	if s.windows.alive == nil || s.strikes == nil {
		t.Error("the history was meant to overshoot")
	}
}

// Times far from 0 lose nothing: the same history counted from 1970, at a rate
// at which R·a in a double would stand a quarter of a token apart.
func TestOriginDoesNotMatter(t *testing.T) {
	rng := randomOf(1, 12)
	spec := Spec{Limit: bucket.Limit{Rate: 1e6, Capacity: 5}}
	near := instant(rng, 3000, time.Microsecond, func(int64) bool { return rng.IntN(2) == 0 })
	far := make([]history.Operation, len(near))
	for i, o := range near {
		o.Call += 1_800_000_000_000_000_000
		o.Return += 1_800_000_000_000_000_000
		far[i] = o
	}
	a, b := judged(t, spec, near), judged(t, spec, far)
	for i := range a.Results {
		for name, v := range a.Results[i].Value {
			if w := b.Results[i].Value[name]; v != w {
				t.Errorf("%s: %s is %v near 0 and %v far from it", a.Results[i].Name, name, v, w)
			}
		}
	}
}
