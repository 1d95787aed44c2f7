package check

import (
	"slices"
	"strings"
	"testing"

	"bucketproof/bucket/history"
)

// A request that its client sent twice is found by its two numbers, unless
// unknown requests may have asked for one of them; and the evidence has it.
func TestChargedTwice(t *testing.T) {
	t.Parallel()
	found, hidden := 0, 0
	for seed := range uint64(cases(2000)) {
		rng := randomOf(seed, 50)
		w := drawWatched(rng, 5+rng.IntN(60))
		i := rng.IntN(len(w.plans))
		if w.plans[i].lost {
			continue
		}
		w.plans[i].twice = true
		key, call := w.ops[i].Key, w.ops[i].Call
		ops := w.run()
		r := find(t, judged(t, w.spec(), ops), Accounting)
		unknown := 0
		for _, op := range onlyKey(ops, key) {
			if op.Outcome == history.Unknown {
				unknown++
			}
		}
		switch {
		case r.Verdict == Pass && unknown > 0:
			hidden++
		case r.Verdict == Fail && r.Value["overcharged"] == 1:
			found++
			has := func(op history.Operation) bool { return op.Key == key && op.Call == call }
			if unknown == 0 && !slices.ContainsFunc(r.Evidence.Operations, has) || !strings.Contains(r.Detail, "charged twice") {
				t.Fatalf("seed %d: %s: %v", seed, r.Detail, r.Evidence.Notes)
			}
		default:
			t.Fatalf("seed %d: %s: %s; %d unknown", seed, r.Verdict, r.Detail, unknown)
		}
	}
	if found < cases(2000)/2 || hidden == 0 {
		t.Errorf("found %d, hidden %d", found, hidden)
	}
}

// When everything stored is lost the numbers begin again, which is an event:
// no charge too many, no divergence, and no order to search for.
func TestNumbersBeginAgain(t *testing.T) {
	t.Parallel()
	restarts := 0.0
	for seed := range uint64(cases(1000)) {
		rng := randomOf(seed, 51)
		w := drawWatched(rng, 20+rng.IntN(100))
		for i := range w.plans {
			w.plans[i].flush = rng.IntN(20) == 0
		}
		spec := w.spec()
		spec.LinearizeTimeout = 0
		rep := judged(t, spec, w.run())
		for _, name := range []string{Accounting, Replay, Linearizability} {
			if r := find(t, rep, name); r.Verdict == Fail {
				t.Fatalf("seed %d: %s: %s; %v", seed, name, r.Detail, r.Evidence.Notes)
			}
		}
		restarts += find(t, rep, Accounting).Value["restarts"]
	}
	if restarts < float64(cases(1000)) {
		t.Errorf("%v restarts only", restarts)
	}
}

// A history that begins in the middle begins at any number; a run's own begins
// at 1.
func TestFirstNumber(t *testing.T) {
	t.Parallel()
	w := drawWatched(randomOf(1, 52), 40)
	ops := slices.DeleteFunc(w.run(), func(op history.Operation) bool { return op.Witness.Sequence > 0 && op.Witness.Sequence < 4 })
	spec := w.spec()
	if r := find(t, judged(t, spec, ops), Accounting); r.Verdict != Fail {
		t.Errorf("three numbers are missing: %s: %s", r.Verdict, r.Detail)
	}
	spec.Witnessed = false
	if r := find(t, judged(t, spec, ops), Accounting); r.Verdict != Pass {
		t.Errorf("the history begins at number 4: %s: %s", r.Verdict, r.Detail)
	}
}
