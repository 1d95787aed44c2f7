package plot

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// TestOvershootIsThatOfTheWorstWindow holds the recursion against its
// definition: of all windows that end at a grant, the one with most tokens over
// C + R·d.
func TestOvershootIsThatOfTheWorstWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := bucket.Limit{Rate: float64(rapid.IntRange(1, 50).Draw(t, "rate")), Capacity: float64(rapid.IntRange(1, 5).Draw(t, "capacity"))}
		var ops []history.Operation
		at := int64(0)
		for range rapid.IntRange(1, 60).Draw(t, "operations") {
			at += int64(rapid.IntRange(0, 3).Draw(t, "gap")) * 20e6
			ops = append(ops, history.Operation{
				Call: at, Return: at + int64(rapid.IntRange(0, 2).Draw(t, "took"))*10e6, Cost: float64(rapid.IntRange(1, 3).Draw(t, "cost")),
				Key:     rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key"),
				Outcome: rapid.SampledFrom([]history.Outcome{history.Allowed, history.Allowed, history.Denied}).Draw(t, "outcome"),
			})
		}
		got, want := 0.0, 0.0
		for _, s := range NewOvershoot(limit, ops).steps {
			got = max(got, s.over)
		}
		for _, first := range ops {
			for _, last := range ops {
				sum := 0.0
				for _, op := range ops {
					if op.Key == first.Key && op.Outcome == history.Allowed && op.Return >= first.Return && op.Return <= last.Return {
						sum += op.Cost
					}
				}
				if last.Return >= first.Return {
					want = max(want, sum-limit.Capacity-limit.Rate*float64(last.Return-first.Return)/1e9)
				}
			}
		}
		if math.Abs(got-want) > 1e-9 {
			t.Fatalf("the worst window is %v over, want %v", got, want)
		}
	})
}

func TestOvershootKeepsFewInstants(t *testing.T) {
	var ops []history.Operation
	for i := range int64(20_000) {
		ops = append(ops, history.Operation{Call: i * 1e6, Return: i*1e6 + 1, Cost: 1, Outcome: history.Allowed})
	}
	o := NewOvershoot(bucket.Limit{Rate: 500, Capacity: 10}, ops)
	if len(o.steps) > overshoots+1 {
		t.Errorf("%d instants", len(o.steps))
	}
	if last := o.steps[len(o.steps)-1].over; math.Abs(last-9990) > 2 {
		t.Errorf("at the end %v over, want 9,990", last)
	}
	if !(NewOvershoot(bucket.Limit{Rate: 1, Capacity: 1}, nil).Empty()) {
		t.Error("of nothing there is something to draw")
	}
}
