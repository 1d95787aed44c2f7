package check

import (
	"flag"
	"math"
	"testing"
	"time"

	"bucketproof/bucket/history"
)

// near says that two numbers of tokens are the same.
func near(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-6 }

// find is the result of one check.
func find(t testing.TB, r Report, name string) Result {
	t.Helper()
	for _, res := range r.Results {
		if res.Name == name {
			return res
		}
	}
	t.Fatalf("no result for %s", name)
	return Result{}
}

// onKeyResult is a check's result on one key.
func onKeyResult(t *testing.T, r Result, key string) KeyResult {
	t.Helper()
	for _, k := range r.Keys {
		if k.Key == key {
			return k
		}
	}
	t.Fatalf("%s: no result for key %s", r.Name, key)
	return KeyResult{}
}

// times multiplies the number of random histories: `go test -args -times 100`.
var times = flag.Int("times", 1, "multiply the number of random histories of each property")

// cases is how many random histories a property is tried on.
func cases(n int) int { return n * *times }

func TestBoundsEqualBrute(t *testing.T) {
	t.Parallel()
	for seed := range uint64(cases(6000)) {
		rng := randomOf(seed, 1)
		s := randomShape(rng)
		compareWithBrute(t, seed, s.spec, s.history(rng))
		if t.Failed() {
			return
		}
	}
}

// compareWithBrute holds checks 1 and 2 against their slow twins.
func compareWithBrute(t *testing.T, seed uint64, spec Spec, ops []history.Operation) {
	t.Helper()
	rep, err := Judge(spec, all(ops), nil)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	over, denial := find(t, rep, OverAdmission), find(t, rep, SpuriousDenial)
	if rep.Summary.Answered() == 0 {
		return
	}
	slack := spec.Limit.Rate * spec.Granularity.Seconds()
	var peak, excess float64
	var spurious, unexplained int
	lockouts := map[string]int64{}
	for _, key := range keysOf(ops) {
		mine := onlyKey(ops, key)
		p := brutePeak(&spec, mine)
		want := Pass
		if p-slack > 1e-6 {
			want = Fail
		}
		if k := onKeyResult(t, over, key); k.Verdict != want || !near(k.Figure, max(0, p)) {
			t.Errorf("seed %d: key %s: over-admission %s by %v, want %s by %v", seed, key, k.Verdict, k.Figure, want, p)
		}
		peak = max(peak, p)
		excess += bruteExcess(&spec, mine)
		v := bruteDenials(&spec, mine, ops[0].Call)
		if k := onKeyResult(t, denial, key); k.Verdict != v.verdict() || k.Figure != float64(v.spurious) {
			t.Errorf("seed %d: key %s: spurious denial %s, %v; want %s, %d", seed, key, k.Verdict, k.Figure, v.verdict(), v.spurious)
		}
		spurious += v.spurious
		unexplained += v.unexplained
		for name, l := range v.lockouts {
			lockouts[name] = max(lockouts[name], l)
		}
	}
	if !near(over.Value["peak_excess"], peak) || !near(over.Value["excess"], excess) {
		t.Errorf("seed %d: peak %v, excess %v; want %v, %v", seed, over.Value["peak_excess"], over.Value["excess"], peak, excess)
	}
	if denial.Value["count"] != float64(spurious) || denial.Verdict == Fail && denial.Value["unexplained"] != float64(unexplained) {
		t.Errorf("seed %d: %v spurious, %v unexplained; want %d, %d", seed, denial.Value["count"], denial.Value["unexplained"], spurious, unexplained)
	}
	for _, in := range rep.Summary.Instances {
		if in.LongestLockout != time.Duration(lockouts[in.Name]) {
			t.Errorf("seed %d: %s locked out %v, want %v", seed, in.Name, in.LongestLockout, time.Duration(lockouts[in.Name]))
		}
	}
}
