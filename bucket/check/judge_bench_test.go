package check

import (
	"fmt"
	"math"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// saturated is a history of n requests, a microsecond apart, of which an ideal
// bucket a key grants half. Latencies are such that about so many are in flight
// at once, over all keys.
func saturated(n, flying, keys int) (Spec, []history.Operation) {
	rng := randomOf(1, 1)
	spec := Spec{
		Limit:       bucket.Limit{Rate: 5e5 / float64(keys), Capacity: 1000},
		Granularity: time.Millisecond, RateTolerance: DefaultRateTolerance, Time: bucket.CallerTime,
	}
	names, instances := make([]string, keys), make([]string, 16)
	for i := range names {
		names[i] = fmt.Sprintf("run-7f3a:%d", i)
	}
	for i := range instances {
		instances[i] = fmt.Sprintf("instance-%d", i)
	}
	states := make([]bucket.State, keys)
	ops := make([]history.Operation, n)
	for i := range ops {
		call := int64(i) * 1000
		key := rng.IntN(keys)
		op := history.Operation{
			Due: call, Call: call, Return: call + int64(float64(flying*1000)*(0.5+rng.Float64())), Clock: call,
			Key: names[key], Instance: instances[rng.IntN(16)], Cost: 1, Outcome: history.Denied,
			Remaining: math.NaN(), RetryAfter: -1,
		}
		var allowed bool
		states[key], allowed = bucket.Rule{TicksPerSecond: 1e9}.Take(states[key], spec.Limit, float64(call), 1)
		if allowed {
			op.Outcome = history.Allowed
		}
		ops[i] = op
	}
	return spec, ops
}

func BenchmarkJudge(b *testing.B) {
	for _, c := range []struct{ n, flying, keys int }{
		{10_000_000, 64, 1}, {10_000_000, 1000, 1}, {10_000_000, 1000, 1000}, {1_000_000, 64, 1},
	} {
		b.Run(fmt.Sprintf("records=%d/flying=%d/keys=%d", c.n, c.flying, c.keys), func(b *testing.B) {
			spec, ops := saturated(c.n, c.flying, c.keys)
			b.ReportAllocs()
			begun := processor()
			for b.Loop() {
				rep, err := Judge(spec, all(ops), nil)
				if err != nil || rep.Summary.Offered != int64(c.n) {
					b.Fatal(rep.Summary.Offered, err)
				}
			}
			records := float64(c.n) * float64(b.N)
			b.ReportMetric(records/b.Elapsed().Seconds(), "records/s")
			if spent := processor() - begun; spent > 0 {
				b.ReportMetric(records/spent.Seconds(), "records/cpu-s") // what a machine of its own would do
			}
		})
	}
}

// BenchmarkJudgeWindows judges grants and denials of windows: by the plain
// account alone, and by all phases.
func BenchmarkJudgeWindows(b *testing.B) {
	for name, make := range map[string]struct {
		contract bucket.Contract
		make     maker
	}{
		"first request": {bucket.FixedWindow, func(n, w float64) counting { return &firstRequest{n: n, life: w} }},
		"aligned": {bucket.FixedWindow, func(n, w float64) counting {
			return &alignedWindow{n: n, w: w, counts: map[float64]float64{}}
		}},
		"counter": {bucket.SlidingWindow, func(n, w float64) counting {
			return &weightedCounter{n: n, w: w, round: unrounded, counts: map[float64]float64{}}
		}},
	} {
		b.Run(name, func(b *testing.B) {
			spec, ops := saturated(1_000_000, 64, 1)
			spec.Contract = make.contract
			l := make.make(spec.Limit.Capacity, spec.Limit.Capacity/spec.Limit.Rate*1e9*20)
			spec.Limit.Rate /= 20
			for i := range ops {
				ops[i].Outcome = history.Denied
				if l.decide(float64(ops[i].Call), 1) {
					ops[i].Outcome = history.Allowed
				}
			}
			for b.Loop() {
				rep, err := Judge(spec, all(ops), nil)
				if err != nil || find(b, rep, OverAdmission).Verdict != Pass || find(b, rep, SpuriousDenial).Verdict != Pass {
					b.Fatal(rep.Results, err)
				}
			}
			b.ReportMetric(float64(len(ops)*b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}
