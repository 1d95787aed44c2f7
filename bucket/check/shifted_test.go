package check

import (
	"math/rand/v2"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// shifts are steps of the TIME that a script is shown, by their instants, ns.
type shifts []struct{ at, by int64 }

// at is how far the TIME shown is ahead of the server's own.
func (s shifts) at(t int64) (ahead int64) {
	for _, step := range s {
		if step.at <= t {
			ahead += step.by
		}
	}
	return ahead
}

// bounds are the least and the most of it in [from, to].
func (s shifts) bounds(from, to int64) (least, most int64) {
	least = min(s.at(from), s.at(to))
	most = max(s.at(from), s.at(to))
	for _, step := range s {
		if from <= step.at && step.at <= to {
			least, most = min(least, s.at(step.at)), max(most, s.at(step.at))
		}
	}
	return least, most
}

// shifted draws a run of redis-time under a TIME that steps.
func shifted(rng *rand.Rand, n int) *watched {
	w := drawWatched(rng, n)
	w.rule, w.source = bucket.RuleRedisTime, bucket.ServerTime
	fill := int64(w.limit.FillTime())
	first, last := w.ops[0].Call, w.ops[len(w.ops)-1].Call
	for range 1 + rng.IntN(3) {
		by := rng.Int64N(2*fill) - fill
		w.shown = append(w.shown, struct{ at, by int64 }{first + rng.Int64N(last-first+1), by / 1000 * 1000})
	}
	return w
}

// What a TIME that was shifted does to a right limiter on the server's clock is
// no more than is predicted, as seen by the callers and by the server; the replay
// and the search for an order find nothing wrong. It is no idle prediction: some
// runs come close, and without the shift they are beyond it.
func TestShiftedTimeWithinPrediction(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	closest := 0.0
	for seed := range uint64(cases(2000)) {
		w := shifted(randomOf(seed, 52), 20+int(seed%150))
		ops := w.run()
		spec := w.spec()
		spec.ShiftedTime, spec.Shift, spec.LinearizeTimeout = true, w.shown.bounds, 0
		if seed%3 == 0 {
			unwatch(ops)
		}
		rep := judged(t, spec, ops)
		for _, r := range rep.Results {
			seen[r.Name+" "+string(r.Verdict)]++
			if !r.WithinPrediction {
				t.Fatalf("seed %d: %v, %v: %s beyond prediction: %s; %v", seed, w.limit, w.shown, r.Name, r.Detail, r.Value)
			}
		}
		if over := find(t, rep, OverAdmission); over.Verdict == Fail && over.Value["expiries"] == 0 {
			closest = max(closest, over.Value["peak_excess"]/over.Value["predicted_peak_excess"])
		}
		if len(ops) > 0 && find(t, rep, OverAdmission).Verdict == Fail {
			spec.Shift = nil
			if r := find(t, judged(t, spec, ops), OverAdmission); r.Verdict != Fail || r.WithinPrediction {
				t.Fatalf("seed %d: of a shift that is not known %s, within prediction %v", seed, r.Verdict, r.WithinPrediction)
			}
		}
	}
	t.Log(seen, closest)
	for _, what := range []string{OverAdmission + " fail", SpuriousDenial + " fail", Replay + " pass", Linearizability + " pass"} {
		if seen[what] < cases(2000)/10 {
			t.Errorf("%s seldom: %v", what, seen)
		}
	}
	if closest < 0.9 {
		t.Errorf("the prediction was not tried hard: %.2f of it at most", closest)
	}
}

// A level below 0, which a TIME that stepped back leaves, is no fault of the
// state where the step is known, and is one where nothing was shifted.
func TestAuditAllowsForTheShift(t *testing.T) {
	t.Parallel()
	shown := shifts{{at: int64(time.Second), by: -int64(200 * time.Millisecond)}}
	w := &watched{rule: bucket.RuleRedisTime, source: bucket.ServerTime, limit: bucket.Limit{Rate: 10, Capacity: 5}, ahead: int64(epoch), shown: shown}
	for i := range int64(200) {
		at := (i + 1) * int64(10*time.Millisecond)
		w.add(nil, at, "k", "i", 0, plan{arrives: at, took: 2000, back: 1000})
	}
	ops := w.run()
	early := &ops[50]
	before := Sample{Call: early.Return, Return: early.Return, Key: "k", Keys: []KeyState{{Name: "k", TTL: 500 * time.Millisecond, Tokens: early.Witness.After.Tokens}}}
	lowest := Sample{Call: ops[0].Call, Return: ops[0].Return, Key: "k", Keys: []KeyState{{Name: "k", TTL: 500 * time.Millisecond}}}
	for _, op := range ops {
		if level := op.Witness.After.Tokens; level < lowest.Keys[0].Tokens {
			lowest.Call, lowest.Return = op.Return, op.Return
			lowest.Keys[0].Tokens = level
		}
	}
	if lowest.Keys[0].Tokens > -1 {
		t.Fatalf("the level sinks to %v only", lowest.Keys[0].Tokens)
	}
	spec := w.spec()
	for _, known := range []bool{true, false} {
		want := Fail
		if spec.ShiftedTime = known; known {
			spec.Shift, want = shown.bounds, Pass
		} else {
			spec.Shift = nil
		}
		rep, err := Judge(spec, history.All(ops), []Sample{before, lowest})
		if err != nil {
			t.Fatal(err)
		}
		if r := find(t, rep, StateAudit); r.Verdict != want {
			t.Errorf("shift known %v: state-audit %s: %s", known, r.Verdict, r.Detail)
		}
	}
}
