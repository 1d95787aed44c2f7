package check

import (
	"math"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

func TestAcceptRateEqualsBrute(t *testing.T) {
	t.Parallel()
	judged := 0
	for seed := range uint64(cases(3000)) {
		rng := randomOf(seed, 4)
		s := randomShape(rng)
		s.costs = unit
		s.spec.Limit.Capacity *= 3
		ops := s.history(rng)
		rep, err := Judge(s.spec, all(ops), nil)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if rep.Summary.Answered() == 0 {
			continue
		}
		var low, high float64
		fail := false
		for _, key := range keysOf(ops) {
			mine := onlyKey(ops, key)
			l, h := bruteRate(&s.spec, mine, ops[0].Call)
			low, high = low+l, high+h
			granted := 0.0
			for _, o := range mine {
				if o.Outcome == history.Allowed {
					granted++
				}
			}
			fail = fail || granted < l || granted > h
		}
		r := find(t, rep, AcceptRate)
		if r.Value["low"] != low || r.Value["high"] != high || (r.Verdict == Fail) != fail {
			t.Fatalf("seed %d: %s, %v to %v; want fail: %v, %v to %v", seed, r.Verdict, r.Value["low"], r.Value["high"], fail, low, high)
		}
		if low > 0 {
			judged++
		}
	}
	if judged == 0 {
		t.Error("the lower side was never judged")
	}
}

func TestPredictionEqualsBrute(t *testing.T) {
	t.Parallel()
	expired := 0
	for seed := range uint64(cases(6000)) {
		rng := randomOf(seed, 5)
		s := randomShape(rng)
		s.clocks, s.spec.Time = true, bucket.CallerTime
		s.spec.TTL = []time.Duration{0, tick, 3 * tick, 7 * tick}[rng.IntN(4)]
		ops := s.history(rng)
		rep, err := Judge(s.spec, all(ops), nil)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		r := find(t, rep, OverAdmission)
		if r.Verdict != Fail {
			continue
		}
		w := r.Evidence.Window
		spread, longest, k := bruteSkew(onlyKey(ops, r.Evidence.Key), w.StartNS, w.EndNS, s.spec.life())
		if !near(r.Value["spread_s"], seconds(spread)) || !near(r.Value["age_s"], seconds(longest)) || r.Value["expiries"] != float64(k) {
			t.Fatalf("seed %d: window %d to %d: S %v s, D %v s, %v expiries; want %v, %v, %d", seed, w.StartNS-s.origin, w.EndNS-s.origin,
				r.Value["spread_s"], r.Value["age_s"], r.Value["expiries"], seconds(spread), seconds(longest), k)
		}
		if got := surely(onlyKey(ops, r.Evidence.Key), w.StartNS, w.EndNS); got != w.Granted {
			t.Fatalf("seed %d: the window is said to hold %v, it holds %v", seed, w.Granted, got)
		}
		for _, o := range r.Evidence.Operations {
			if o.Outcome != history.Allowed || o.Call < w.StartNS || o.Return > w.EndNS || o.Key != r.Evidence.Key {
				t.Fatalf("seed %d: evidence outside the window: %+v", seed, o)
			}
		}
		if k > 0 {
			expired++
		}
	}
	if expired < 60 {
		t.Errorf("expiries in %d windows only", expired)
	}
}

func TestOwedEqualsBrute(t *testing.T) {
	t.Parallel()
	positive := 0
	for seed := range uint64(cases(3000)) {
		rng := randomOf(seed, 6)
		s := randomShape(rng)
		s.denied /= 2
		s.spec.Time = []bucket.TimeSource{bucket.ServerTime, bucket.CallerTime}[rng.IntN(2)]
		ops := s.history(rng)
		samples := looks(rng, &s, ops)
		rules, err := s.spec.rules()
		if err != nil {
			t.Fatal(err)
		}
		r := &reading{spec: &s.spec, rules: rules, keys: map[string]*sweep{}, samples: samples}
		if err := r.read(all(ops)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i, g := range r.glances {
			m := samples[i]
			want := bruteOwed(&s.spec, onlyKey(ops, m.Key), m.Call, m.Return)
			got := max(0, g.owed)
			if s.spec.Time == bucket.ServerTime && !near(got, want) || got > want+1e-6 || math.IsNaN(got) {
				t.Fatalf("seed %d: %v tokens must be missing at %d, want %v", seed, g.owed, m.Return-s.origin, want)
			}
			if want > 0 {
				positive++
			}
		}
	}
	if positive < 100 {
		t.Errorf("tokens had to be missing at %d looks only", positive)
	}
}
