package check

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// A limiter that is what it is said to be is accused by no check on the server's
// word, whatever the concurrency, the lost replies and the expiries.
func TestWitnessedReferenceIsNeverAccused(t *testing.T) {
	t.Parallel()
	verdicts := map[string]int{}
	for seed := range uint64(cases(3000)) {
		rng := randomOf(seed, 30)
		w := drawWatched(rng, 1+rng.IntN(200))
		spec := w.spec()
		spec.LinearizeTimeout = 0
		rep, err := Judge(spec, all(w.run()), nil)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, r := range rep.Results {
			verdicts[r.Name+" "+string(r.Verdict)]++
			caller := w.source == bucket.CallerTime && (r.Name == OverAdmission || r.Name == SpuriousDenial || r.Name == AcceptRate)
			if r.Verdict == Fail && !caller {
				t.Fatalf("seed %d: %+v: %s: %s\n%+v", seed, w.limit, r.Name, r.Detail, r.Evidence)
			}
		}
	}
	t.Log(verdicts)
}

// corruptions are what may be wrong with what a server saw. Each is put to one
// decision, of which ahead is the one before it on its key; false when it would
// say nothing there.
var corruptions = []struct {
	name string
	put  func(w *watched, op, ahead *history.Operation) bool
}{
	{"one bit of the level stored", func(_ *watched, op, _ *history.Operation) bool {
		return flip(&op.Witness.After)
	}},
	{"one bit of the level found", func(_ *watched, op, ahead *history.Operation) bool {
		return ahead.Witness.After.Exists && flip(&op.Witness.Before)
	}},
	{"another time stored", func(_ *watched, op, _ *history.Operation) bool {
		op.Witness.After.Time += 1e6
		return op.Witness.After.Exists
	}},
	{"yes for no", func(w *watched, op, ahead *history.Operation) bool {
		op.Outcome = history.Allowed + history.Denied - op.Outcome
		return op.Witness.After.Exists && w.alive(op, ahead)
	}},
	{"the key was gone", func(w *watched, op, ahead *history.Operation) bool {
		op.Witness.Before = bucket.State{}
		return ahead.Witness.After.Exists && w.alive(op, ahead)
	}},
	{"a number left out", func(_ *watched, op, ahead *history.Operation) bool {
		op.Witness.Before = ahead.Witness.Before // the decision ahead is forgotten
		return ahead.Witness.Before.Exists && op.Witness.Before != ahead.Witness.After
	}},
}

// alive says that a key cannot have expired between two decisions.
func (w *watched) alive(op, ahead *history.Operation) bool {
	return op.Witness.AfterMicros-ahead.Witness.BeforeMicros < 1000*(w.ttl-2)
}

// flip changes the last bit of a level.
func flip(s *bucket.State) bool {
	s.Tokens = math.Float64frombits(math.Float64bits(s.Tokens) ^ 1)
	return s.Exists && s.Tokens == s.Tokens
}

func TestReplayFindsEveryCorruption(t *testing.T) {
	t.Parallel()
	put := map[string]int{}
	for seed := range uint64(cases(3000)) {
		rng := randomOf(seed, 31)
		w := drawWatched(rng, 10+rng.IntN(60))
		ops := w.run()
		c := corruptions[rng.IntN(len(corruptions))]
		i := rng.IntN(len(ops))
		ahead := slices.IndexFunc(ops, func(o history.Operation) bool {
			return o.Key == ops[i].Key && o.Witness.Sequence == ops[i].Witness.Sequence-1 && o.Witness.Sequence > 0
		})
		if ahead < 0 || !c.put(w, &ops[i], &ops[ahead]) {
			continue
		}
		lost := 0
		for _, o := range onlyKey(ops, ops[i].Key) {
			if o.Outcome == history.Unknown {
				lost++
			}
		}
		if int64(lost) >= ops[i].Witness.Sequence-1 && lost > 0 {
			continue // the store may have been lost, and the numbers given anew
		}
		put[c.name]++
		r := find(t, judged(t, w.spec(), ops), Replay)
		if r.Verdict != Fail || !slices.ContainsFunc(r.Evidence.Operations, func(o history.Operation) bool { return o.Witness == ops[i].Witness && o.Call == ops[i].Call }) {
			t.Fatalf("seed %d: %s of decision %d on %s: %s: %s", seed, c.name, ops[i].Witness.Sequence, ops[i].Key, r.Verdict, r.Detail)
		}
	}
	for _, c := range corruptions {
		if put[c.name] < cases(3000)/50 {
			t.Errorf("%s: %d times only", c.name, put[c.name])
		}
	}
}

// What cannot be replayed, or searched for an order, is skipped and says why.
func TestReplaySkips(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		change         func(*Spec, []history.Operation)
		replay, linear string
	}{
		{"no model", func(s *Spec, _ []history.Operation) { s.Model = nil },
			"no model of the reference family is named for the limiter", "no model of the reference family is named for the limiter"},
		{"no witness", func(_ *Spec, ops []history.Operation) { unwatch(ops) },
			"nobody saw what was stored", "on no key is there a history to search: nobody told the time that the limiter used"},
		{"no states", func(_ *Spec, ops []history.Operation) {
			for i := range ops {
				ops[i].Witness.Before, ops[i].Witness.After = bucket.Unseen(), bucket.Unseen()
			}
		}, "the witness does not tell what was stored", "nobody told the time that the limiter used"},
		{"a witness now and then", func(_ *Spec, ops []history.Operation) { ops[3].Witness = bucket.Witness{} },
			"", "the server saw only some of the requests"},
		{"the caller's clock not known", func(s *Spec, ops []history.Operation) {
			s.Time = bucket.CallerTime
			for i := range ops {
				ops[i].Clock = history.NoClock
			}
		}, "", "a caller's clock is not known"},
		{"a state that nobody knows first", func(s *Spec, ops []history.Operation) {
			s.Time, s.EmptyStart = bucket.CallerTime, true
			unwatch(ops)
		}, "nobody saw", "the first state is not known"},
		{"a crowd", func(s *Spec, ops []history.Operation) {
			s.Time, s.TTL = bucket.CallerTime, time.Minute
			for i := range ops {
				ops[i].Return = ops[len(ops)-1].Return
			}
			unwatch(ops)
		}, "nobody saw", "more than 8 requests were in flight"},
		{"a pause", func(s *Spec, ops []history.Operation) { s.TTL = 8 * time.Millisecond },
			"", "the key may have expired"},
		{"no time", func(s *Spec, _ []history.Operation) { s.LinearizeTimeout = -1 }, "", "no time to search for an order"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := spaced(12)
			ops, spec := w.run(), w.spec()
			spec.LinearizeTimeout = 0
			c.change(&spec, ops)
			rep := judged(t, spec, ops)
			for _, want := range []struct{ name, says string }{{Replay, c.replay}, {Linearizability, c.linear}} {
				r := find(t, rep, want.name)
				if want.says != "" && (r.Verdict != Skipped || !strings.Contains(r.Detail, want.says)) {
					t.Errorf("%s: %s: %s; want skipped: %s", want.name, r.Verdict, r.Detail, want.says)
				}
			}
		})
	}
}

// Readings are floored, before 1970 too.
func TestTicks(t *testing.T) {
	p := &referee{rule: bucket.RuleAppClock}
	for clock, want := range map[int64]float64{0: 0, 999_999: 0, 1_000_000: 1, -1: -1, -1_000_000: -1, -1_000_001: -2, 1_764_547_200_000_999_999: 1_764_547_200_000} {
		if got := p.ticks(clock); got != want {
			t.Errorf("%d ns is tick %v, want %v", clock, got, want)
		}
	}
}
