package check

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// witness gives a history of single keys what a server of the reference on
// Redis TIME saw, a block a microsecond, decided about the middle of each call.
func witness(spec *Spec, ops []history.Operation) {
	const began = 1_764_547_200_000_000
	order := make([]int, len(ops))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(ops[a].Call + ops[a].Return - ops[b].Call - ops[b].Return) })
	cells := make(map[string]*cell)
	for n, i := range order {
		op := &ops[i]
		c := cells[op.Key]
		if c == nil {
			c = &cell{}
			cells[op.Key] = c
		}
		at := began + max(int64(n), (op.Call+op.Return)/2000)
		w := bucket.Witness{Sequence: c.sequence + 1, BeforeMicros: at, AfterMicros: at, Before: c.state}
		var allowed bool
		c.state, allowed = bucket.RuleRedisTime.Take(c.state, spec.Limit, float64(at), op.Cost)
		c.sequence++
		w.After = c.state
		op.Witness, op.Outcome = w, history.Denied
		if allowed {
			op.Outcome = history.Allowed
		}
	}
	spec.Time, spec.Granularity, spec.Witnessed = bucket.ServerTime, time.Microsecond, true
	spec.Model = &bucket.RuleRedisTime
}

// BenchmarkJudgeWitnessed is checks 1 and 2 on both clocks, the replay and
// everything else.
func BenchmarkJudgeWitnessed(b *testing.B) {
	for _, c := range []struct{ n, flying, keys int }{
		{10_000_000, 64, 1}, {10_000_000, 1000, 1000}, {1_000_000, 64, 1},
	} {
		b.Run(fmt.Sprintf("records=%d/flying=%d/keys=%d", c.n, c.flying, c.keys), func(b *testing.B) {
			spec, ops := saturated(c.n, c.flying, c.keys)
			witness(&spec, ops)
			b.ReportAllocs()
			b.ResetTimer()
			begun := processor()
			for b.Loop() {
				rep, err := Judge(spec, all(ops), nil)
				if err != nil || rep.Summary.Offered != int64(c.n) || !rep.Summary.Exact {
					b.Fatal(rep.Summary, err)
				}
				if r := rep.Results[5]; r.Verdict != Pass || r.Value["compared"] != float64(c.n) {
					b.Fatal(r.Detail)
				}
			}
			records := float64(c.n) * float64(b.N)
			b.ReportMetric(records/b.Elapsed().Seconds(), "records/s")
			if spent := processor() - begun; spent > 0 {
				b.ReportMetric(records/spent.Seconds(), "records/cpu-s")
			}
		})
	}
}
