package check

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// windowLoad is a load that meets the edges of windows: bursts of twice N at
// random times, silences, and overload, for some thirty windows of half a
// second. Requests take a few milliseconds.
func windowLoad(rng *rand.Rand, n, w float64) []history.Operation {
	var calls []int64
	at := 0.0
	for range 8 {
		for i := range int(2 * n) { // a burst
			calls = append(calls, int64(at)+int64(i)*20_000)
		}
		at += w * (0.2 + 1.6*rng.Float64())
		for end := at + w*(0.5+2*rng.Float64()); at < end; at += rng.ExpFloat64() * w / n / 3 { // three times the rate
			calls = append(calls, int64(at))
		}
		at += w * 2.5 * rng.Float64() // silence
	}
	ops := make([]history.Operation, len(calls))
	last := int64(0)
	for i, c := range calls {
		c = max(c, last)
		last = c
		ops[i] = history.Operation{
			Due: c, Call: c, Return: c + 200_000 + rng.Int64N(3_000_000), Clock: history.NoClock, Key: "k", Instance: "i",
			Cost: 1, Outcome: history.Allowed, Remaining: math.NaN(), RetryAfter: -1,
		}
	}
	return ops
}

// decided is a load decided by a limiter whose clock counts whole milliseconds.
func decided(rng *rand.Rand, spec Spec, make maker) []history.Operation {
	w := spec.Limit.Capacity / spec.Limit.Rate * 1e9
	return decideAll(rng, &shape{spec: spec}, windowLoad(rng, spec.Limit.Capacity, w), make)
}

// faultyMakers are limiters with one fault at the edge of a window, and the
// check that must find it.
var faultyMakers = map[bucket.Contract][]struct {
	name, check string
	make        maker
}{
	bucket.SlidingWindow: {
		{"log of one more", OverAdmission, func(n, w float64) counting { return &exactLog{n: n + 1, w: w} }},
		{"log of one fewer", SpuriousDenial, func(n, w float64) counting { return &exactLog{n: n - 1, w: w} }},
		{"log of 0.9 windows", OverAdmission, func(n, w float64) counting { return &exactLog{n: n, w: 0.9 * w} }},
		{"log of 1.1 windows", SpuriousDenial, func(n, w float64) counting { return &exactLog{n: n, w: 1.1 * w} }},
		{"log that counts denials", SpuriousDenial, func(n, w float64) counting { return &refusingLog{exactLog{n: n, w: w}} }},
		{"counter of one more", OverAdmission, func(n, w float64) counting {
			return &weightedCounter{n: n, w: w, round: unrounded, counts: map[float64]float64{}, more: 1}
		}},
		{"counter of one fewer", SpuriousDenial, func(n, w float64) counting {
			return &weightedCounter{n: n, w: w, round: unrounded, counts: map[float64]float64{}, more: -1}
		}},
		{"counter that forgets the window before", OverAdmission, func(n, w float64) counting {
			return &weightedCounter{n: n, w: w, round: unrounded, counts: map[float64]float64{}, lost: true}
		}},
		{"counter of half windows", OverAdmission, func(n, w float64) counting {
			return &weightedCounter{n: n, w: w / 2, round: unrounded, counts: map[float64]float64{}}
		}},
		{"counter that counts denials", SpuriousDenial, func(n, w float64) counting {
			return &weightedCounter{n: n, w: w, round: unrounded, counts: map[float64]float64{}, refuse: true}
		}},
		{"fixed windows", OverAdmission, func(n, w float64) counting {
			return &alignedWindow{n: n, w: w, counts: map[float64]float64{}}
		}},
	},
	bucket.FixedWindow: {
		{"aligned, one more", OverAdmission, func(n, w float64) counting {
			return &alignedWindow{n: n + 1, w: w, counts: map[float64]float64{}}
		}},
		{"aligned, one fewer", SpuriousDenial, func(n, w float64) counting {
			return &alignedWindow{n: n - 1, w: w, counts: map[float64]float64{}}
		}},
		{"aligned, half windows", OverAdmission, func(n, w float64) counting {
			return &alignedWindow{n: n, w: w / 2, counts: map[float64]float64{}}
		}},
		{"aligned, double windows", SpuriousDenial, func(n, w float64) counting {
			return &alignedWindow{n: n, w: 2 * w, counts: map[float64]float64{}}
		}},
		{"first request, one more", OverAdmission, func(n, w float64) counting { return &firstRequest{n: n + 1, life: w} }},
		{"first request, one fewer", SpuriousDenial, func(n, w float64) counting { return &firstRequest{n: n - 1, life: w} }},
		{"first request, half windows", OverAdmission, func(n, w float64) counting { return &firstRequest{n: n, life: w / 2} }},
		{"first request, 0.9 windows", OverAdmission, func(n, w float64) counting { return &firstRequest{n: n, life: 0.9 * w} }},
		{"first request, double windows", SpuriousDenial, func(n, w float64) counting { return &firstRequest{n: n, life: 2 * w} }},
		{"a window that denials extend", SpuriousDenial, func(n, w float64) counting {
			return &firstRequest{n: n, life: w, extended: true}
		}},
		{"a window that never ends", SpuriousDenial, func(n, w float64) counting {
			return &firstRequest{n: n, life: w, forever: 4}
		}},
	},
}

// refusingLog enters what it denies, too.
type refusingLog struct{ exactLog }

func (l *refusingLog) decide(now, cost float64) bool {
	if l.exactLog.decide(now, cost) {
		return true
	}
	l.at, l.costs = append(l.at, now), append(l.costs, cost)
	return false
}

// A fault at the edge of a window is found in nearly every run that meets the
// edges; and by the check that it is a fault of, in most.
func TestFaultyWindowsAreFound(t *testing.T) {
	t.Parallel()
	const runs = 40
	for c, list := range faultyMakers {
		for n, f := range list {
			t.Run(string(c)+"/"+f.name, func(t *testing.T) {
				found, named := 0, 0
				for seed := range uint64(runs) {
					rng := randomOf(seed, 200+uint64(n))
					spec := Spec{
						Limit: bucket.Limit{Rate: 40, Capacity: 20}, Contract: c, Time: bucket.ServerTime,
						Granularity: time.Millisecond, RateTolerance: DefaultRateTolerance,
					}
					rep := judged(t, spec, decided(rng, spec, f.make))
					over, denial := find(t, rep, OverAdmission).Verdict, find(t, rep, SpuriousDenial).Verdict
					if over == Fail || denial == Fail {
						found++
					}
					if find(t, rep, f.check).Verdict == Fail {
						named++
					}
				}
				t.Logf("found in %d of %d, by %s in %d", found, runs, f.check, named)
				if found < runs*95/100 || named < runs*3/4 {
					t.Errorf("found in %d of %d runs, by %s in %d", found, runs, f.check, named)
				}
			})
		}
	}
}

// The same load finds nothing in limiters without a fault.
func TestRightWindowsUnderLoad(t *testing.T) {
	t.Parallel()
	for _, c := range windowContracts {
		for name, make := range rightMakers(c) {
			for seed := range uint64(cases(60)) {
				rng := randomOf(seed, 300)
				spec := Spec{
					Limit: bucket.Limit{Rate: 40, Capacity: 20}, Contract: c, Time: bucket.ServerTime,
					Granularity: time.Millisecond, RateTolerance: DefaultRateTolerance,
				}
				for _, r := range judged(t, spec, decided(rng, spec, make)).Results {
					if r.Verdict == Fail {
						t.Fatalf("%s %s, seed %d: %s: %s", c, name, seed, r.Name, r.Detail)
					}
				}
			}
		}
	}
}
