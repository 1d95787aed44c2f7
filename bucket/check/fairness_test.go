package check

import (
	"math"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// shared is a history of n requests a millisecond apart, of which each instance
// makes its share, decided by grant.
func shared(seed uint64, n int, shares []float64, grant func(instance int, draw float64) bool) []history.Operation {
	rng := randomOf(seed, 30)
	ops := make([]history.Operation, n)
	for i := range ops {
		p, who := rng.Float64(), 0
		for p > shares[who] && who < len(shares)-1 {
			p -= shares[who]
			who++
		}
		ops[i] = op(string(rune('a'+who)), history.Denied, float64(i)/1e3, float64(i)/1e3)
		if grant(who, rng.Float64()) {
			ops[i].Outcome = history.Allowed
		}
	}
	return ops
}

func TestFairness(t *testing.T) {
	half := []float64{0.5, 0.5}
	for _, c := range []struct {
		name   string
		n      int
		shares []float64
		grant  func(int, float64) bool
		want   Verdict
		says   string
	}{
		{"even", 2000, half, func(_ int, p float64) bool { return p < 0.3 }, Pass, "every instance got its share"},
		{"one starved", 2000, half, func(i int, p float64) bool { return i == 1 && p < 0.3 }, Fail, "instance a was starved: 0 of"},
		{"starved, not quite", 2000, half, func(i int, p float64) bool { return p < []float64{0.1, 0.5}[i] }, Fail, "instance a was starved"},
		{"less than its share, more than half", 2000, half, func(i int, p float64) bool { return p < []float64{0.22, 0.3}[i] }, Pass, ""},
		{"too few", 100, half, func(_ int, p float64) bool { return p < 0.3 }, Undecided, "too few grants"},
		{"few, and none for one", 150, half, func(i int, p float64) bool { return i == 1 && p < 0.6 }, Fail, "instance a was starved: 0 of"},
		{"a small share", 5000, []float64{0.1, 0.9}, func(_ int, p float64) bool { return p < 0.3 }, Pass, ""},
		{"nothing granted", 100, half, func(int, float64) bool { return false }, Undecided, "nothing was granted"},
		{"alone", 100, []float64{1}, func(int, float64) bool { return true }, Skipped, "nobody to share with"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := Spec{Limit: bucket.Limit{Rate: 1000, Capacity: 10}, Granularity: time.Millisecond, RandomArrivals: true}
			r := find(t, judged(t, spec, shared(1, c.n, c.shares, c.grant)), Fairness)
			if r.Verdict != c.want || !strings.Contains(r.Detail, c.says) {
				t.Errorf("%s: %s; want %s: … %s", r.Verdict, r.Detail, c.want, c.says)
			}
			spec.RandomArrivals = false
			if r := find(t, judged(t, spec, shared(1, c.n, c.shares, c.grant)), Fairness); r.Verdict != Skipped {
				t.Errorf("arrivals were not random, and it is %s", r.Verdict)
			}
		})
	}
}

// Skewed callers' clocks starve the slow instance; that much the clock rule
// explains, and half a token it does not.
func TestFairnessOfCallerClocks(t *testing.T) {
	starve := func(i int, p float64) bool { return i == 1 && p < 0.3 }
	for _, c := range []struct {
		skew   time.Duration
		within bool
	}{{5 * time.Millisecond, true}, {500 * time.Microsecond, false}} {
		ops := shared(1, 2000, []float64{0.5, 0.5}, starve)
		for i := range ops {
			ops[i].Clock = ops[i].Call
			if ops[i].Instance == "b" {
				ops[i].Clock += int64(c.skew)
			}
		}
		spec := Spec{Limit: bucket.Limit{Rate: 1000, Capacity: 10}, RandomArrivals: true, Time: bucket.CallerTime}
		if r := find(t, judged(t, spec, ops), Fairness); r.Verdict != Fail || r.WithinPrediction != c.within {
			t.Errorf("%v: %s, within prediction %v", c.skew, r.Verdict, r.WithinPrediction)
		}
	}
}

// A right bucket under random arrivals is never called unfair.
func TestFairnessNeverAccuses(t *testing.T) {
	t.Parallel()
	for seed := range uint64(cases(300)) {
		rng := randomOf(seed, 31)
		shares := []float64{0.2 + 0.6*rng.Float64(), 1}
		limit := bucket.Limit{Rate: 50 + 500*rng.Float64(), Capacity: 1 + float64(rng.IntN(20))}
		ops := shared(seed, 2000, shares, func(int, float64) bool { return false })
		var s bucket.State
		for i := range ops {
			var ok bool
			if s, ok = nanoRule.Take(s, limit, float64(ops[i].Call), 1); ok {
				ops[i].Outcome = history.Allowed
			}
		}
		if r := find(t, judged(t, Spec{Limit: limit, RandomArrivals: true}, ops), Fairness); r.Verdict == Fail {
			t.Fatalf("seed %d: %s", seed, r.Detail)
		}
	}
}

// The tail that the verdict rests on, against the sum of its terms.
func TestBinomialTail(t *testing.T) {
	for _, n := range []float64{60, 200, 5000} {
		for _, p := range []float64{0.01, 0.3, 0.5, 0.9} {
			sum := 0.0
			for k := 0.0; k <= n; k++ {
				lg := func(x float64) float64 { v, _ := math.Lgamma(x + 1); return v }
				sum += math.Exp(lg(n) - lg(k) - lg(n-k) + k*math.Log(p) + (n-k)*math.Log(1-p))
				got := distuv.Binomial{N: n, P: p}.CDF(k)
				if sum > 1e-30 && math.Abs(got-sum) > 1e-9*sum+1e-300 && sum < 0.5 {
					t.Fatalf("P[Bin(%v, %v) ≤ %v] is %v, want %v", n, p, k, got, sum)
				}
			}
		}
	}
}
