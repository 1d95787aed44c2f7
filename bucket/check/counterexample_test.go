package check

import (
	"math"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// op is one operation of a hand-written history, times in seconds.
func op(instance string, outcome history.Outcome, call, ret float64) history.Operation {
	at := func(s float64) int64 { return int64(s*1e9 + 0.5) }
	o := history.Operation{
		Due: at(call), Call: at(call), Return: at(ret), Clock: history.NoClock,
		Key: "k", Instance: instance, Cost: 1, Outcome: outcome, Remaining: math.NaN(), RetryAfter: -1,
	}
	if ret < 0 {
		o.Return = history.Forever
	}
	return o
}

// Placing grants greedily accuses right buckets, R = C = 1. In order of release
// with the earliest deadline first, [0.5, 2] takes the token at 0.5 and none is
// left for [1, 1.25]; they were decided at 2 and 1. In order of deadlines, [1,
// 1.25] goes to 1 and [0, 1.5] would have to wait until 2; they were decided at 1
// and 0.
func TestGreedyPlacementsWouldAccuse(t *testing.T) {
	for _, pair := range [][]history.Operation{
		{op("i", history.Allowed, 0.5, 2), op("i", history.Allowed, 1, 1.25)},
		{op("i", history.Allowed, 0, 1.5), op("i", history.Allowed, 1, 1.25)},
	} {
		r := find(t, judged(t, Spec{Limit: bucket.Limit{Rate: 1, Capacity: 1}}, pair), OverAdmission)
		if r.Verdict != Pass {
			t.Errorf("%s: %s", r.Verdict, r.Detail)
		}
	}
}

// A right bucket grants half of the replay when pairs come 1.000 s apart and
// the first of each is decided 10 ms late.
func TestPairsASecondApart(t *testing.T) {
	var ops []history.Operation
	limit := bucket.Limit{Rate: 1, Capacity: 1}
	var s bucket.State
	for i := range 40 {
		late := 0.0
		if i%2 == 0 {
			late = 0.010
		}
		o := op("i", history.Denied, float64(i), float64(i)+late)
		var ok bool
		if s, ok = nanoRule.Take(s, limit, float64(o.Return), 1); ok {
			o.Outcome = history.Allowed
		}
		ops = append(ops, o)
	}
	rep := judged(t, Spec{Limit: limit, Granularity: time.Millisecond}, ops)
	rate := find(t, rep, AcceptRate)
	if rate.Value["granted"] != 20 || rate.Value["ideal"] != 40 {
		t.Fatalf("granted %v of %v, meant to be 20 of 40", rate.Value["granted"], rate.Value["ideal"])
	}
	for _, r := range rep.Results {
		if r.Verdict == Fail {
			t.Errorf("%s: %s", r.Name, r.Detail)
		}
	}
}

// Sound, not complete: ten grants [0, 1] and twenty [1, 2], all decided at 1,
// are 20 too many for R = C = 10, and none is seen.
func TestConcurrencyHides(t *testing.T) {
	var ops []history.Operation
	for range 10 {
		ops = append(ops, op("i", history.Allowed, 0, 1))
	}
	for range 20 {
		ops = append(ops, op("i", history.Allowed, 1, 2))
	}
	r := find(t, judged(t, Spec{Limit: bucket.Limit{Rate: 10, Capacity: 10}}, ops), OverAdmission)
	if r.Verdict != Pass || r.Value["peak_excess"] != 0 {
		t.Errorf("%s by %v", r.Verdict, r.Value["peak_excess"])
	}
}

// The expiry of a key with delayed readings, on one clock: R = 100, C = 50; a
// burst drains the bucket; a second burst reads the clock at once but is held
// 520 ms, just past the expiry; a third follows. All three are granted.
func TestHeldPastExpiry(t *testing.T) {
	held := func(ttl time.Duration) Report {
		w := &world{limit: bucket.Limit{Rate: 100, Capacity: 50}, rule: bucket.RuleAppClock, ttl: ttl}
		for i := range 50 {
			at := time.Duration(i) * 10 * time.Microsecond
			w.add(at, 0, time.Millisecond, "a", 0)
			w.add(at+time.Millisecond, 520*time.Millisecond, time.Millisecond, "b", 0)
			w.add(at+525*time.Millisecond, 0, time.Millisecond, "c", 0)
		}
		return judged(t, Spec{
			Limit: w.limit, Granularity: time.Millisecond, RateTolerance: DefaultRateTolerance, Time: bucket.CallerTime, TTL: ttl,
		}, w.run())
	}
	rep := held(500 * time.Millisecond)
	r := find(t, rep, OverAdmission)
	if r.Verdict != Fail || rep.Summary.Allowed != 150 || r.Value["peak_excess"] < 43 || r.Value["peak_excess"] > 50 {
		t.Errorf("%s: %s", r.Verdict, r.Detail)
	}
	if !r.WithinPrediction || !r.ExplainedByExpiry() || r.Value["expiries"] != 1 {
		t.Errorf("within prediction %v, explained %v, %v", r.WithinPrediction, r.ExplainedByExpiry(), r.Value)
	}
	rep = held(time.Minute)
	if r = find(t, rep, OverAdmission); r.Verdict != Pass || r.ExplainedByExpiry() {
		t.Errorf("with a TTL of a minute: %s: %s", r.Verdict, r.Detail)
	}
}

// A skewed pair: the slow clock drains, the fast one takes again. Skew explains
// it, and no expiry does.
func TestSlowDrainsFastTakes(t *testing.T) {
	w := &world{limit: bucket.Limit{Rate: 100, Capacity: 50}, rule: bucket.RuleAppClock, ttl: 500 * time.Millisecond}
	for i := range 200 {
		at := time.Duration(i) * 10 * time.Microsecond
		w.add(at, 0, time.Millisecond, "slow", -250*time.Millisecond)
		w.add(at+10*time.Millisecond, 0, time.Millisecond, "fast", 250*time.Millisecond)
	}
	r := find(t, judged(t, Spec{Limit: w.limit, Granularity: time.Millisecond, Time: bucket.CallerTime}, w.run()), OverAdmission)
	if r.Verdict != Fail || !r.WithinPrediction || r.ExplainedByExpiry() {
		t.Errorf("%s, within prediction %v: %s", r.Verdict, r.WithinPrediction, r.Detail)
	}
	if peak, most := r.Value["peak_excess"], r.Value["predicted_peak_excess"]; peak < 45 || peak > 50 || most < 50 || most > 50.2 {
		t.Errorf("%v over, %v predicted", peak, most)
	}
}

// A bucket of one token that never refills: lateness explains that a right one
// denies within a moment of the refill, and not that it denies for ever.
func TestLatenessExplainsNoLockOut(t *testing.T) {
	ops := []history.Operation{op("a", history.Allowed, 0, 0.001)}
	for i := range 20 {
		at := 0.027 * float64(i+1)
		ops = append(ops, op("a", history.Denied, at, at+0.004))
	}
	for i := range ops {
		ops[i].Clock = int64(epoch) + ops[i].Call
	}
	spec := Spec{Limit: bucket.Limit{Rate: 20, Capacity: 1}, Granularity: time.Millisecond, Time: bucket.CallerTime}
	r := find(t, judged(t, spec, ops), SpuriousDenial)
	if r.Verdict != Fail || r.WithinPrediction {
		t.Errorf("%s, within prediction %v: %s", r.Verdict, r.WithinPrediction, r.Detail)
	}
	r = find(t, judged(t, spec, ops[:3]), SpuriousDenial) // a token is due after 50 ms, this is at 54 ms
	if r.Verdict == Fail && !r.WithinPrediction {
		t.Errorf("at 54 ms: %s, beyond prediction: %s", r.Verdict, r.Detail)
	}
}

// An unknown request that costs three tokens may take them from three that cost
// one: a right bucket then grants none of them.
func TestUnknownDisplacesWhatItCosts(t *testing.T) {
	for _, c := range []bucket.Contract{bucket.TokenBucket, bucket.SlidingWindow, bucket.FixedWindow} {
		ops := []history.Operation{op("i", history.Unknown, 0, 0.01)}
		ops[0].Cost = 3
		for range 3 {
			ops = append(ops, op("i", history.Denied, 0.1, 0.1))
		}
		spec := Spec{Limit: bucket.Limit{Rate: 0.1, Capacity: 3}, Contract: c}
		if r := find(t, judged(t, spec, ops), AcceptRate); r.Verdict == Fail {
			t.Errorf("%s: %s: %s", c, r.Verdict, r.Detail)
		}
	}
}
