package plot

import (
	"math"
	"testing"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// burst is n grants, then n more at a second instant.
func burst(n int, second int64) []history.Operation {
	var ops []history.Operation
	for _, at := range []int64{0, second} {
		for i := range n {
			call := at + int64(i)*10_000
			ops = append(ops, history.Operation{
				Call: call, Return: call + 300_000, Cost: 1, Key: "k", Outcome: history.Allowed, Instance: []string{"slow", "fast"}[min(1, int(at))],
			})
		}
	}
	return ops
}

func TestGapAtWindowEndIsTheExcess(t *testing.T) {
	ops := burst(50, 20_000_000)
	last := ops[len(ops)-1]
	w := Window{StartNS: ops[3].Call, EndNS: last.Return, Granted: 97, Bound: 50 + 100*float64(last.Return-ops[3].Call)/1e9}
	trace := Envelope{Limit: bucket.Limit{Rate: 100, Capacity: 50}, Operations: ops, Window: &w}.Trace()
	end := float64(w.EndNS)
	if gap, want := trace.granted.through(end)-trace.boundAt(end), w.Granted-w.Bound; math.Abs(gap-want) > 1e-9 {
		t.Errorf("the picture shows %v too many, want %v", gap, want)
	}
	if rise := trace.boundAt(float64(w.StartNS)) - trace.base; math.Abs(rise-50) > 1e-9 {
		t.Errorf("the bound starts %v above what was granted before, want the capacity", rise)
	}
}

func TestViews(t *testing.T) {
	limit := bucket.Limit{Rate: 100, Capacity: 50}
	long := append(burst(50, 20_000_000), history.Operation{Call: 5e9, Return: 5e9 + 1, Cost: 1, Key: "k", Outcome: history.Denied})
	for _, c := range []struct {
		name   string
		ops    []history.Operation
		window *Window
		want   int
	}{
		{"no window", long, nil, 1},
		{"window is most of the run", burst(50, 20_000_000), &Window{StartNS: 0, EndNS: 20_790_000, Granted: 100, Bound: 52}, 1},
		{"window is short", long, &Window{StartNS: 0, EndNS: 20_790_000, Granted: 100, Bound: 52}, 2},
		{"window is an instant", long, &Window{StartNS: 20_790_000, EndNS: 20_790_000, Granted: 100, Bound: 50}, 2},
		{"nothing happened", nil, nil, 1},
	} {
		trace := Envelope{Limit: limit, Operations: c.ops, Window: c.window}.Trace()
		views := trace.views()
		if len(views) != c.want {
			t.Errorf("%s: %d views, want %d", c.name, len(views), c.want)
		}
		for _, v := range views {
			if !(v.to > v.from) {
				t.Errorf("%s: view from %v to %v", c.name, v.from, v.to)
			}
			if c.window != nil && (v.from > float64(c.window.StartNS) || v.to < float64(c.window.EndNS)) {
				t.Errorf("%s: view [%v, %v] cuts the window", c.name, v.from, v.to)
			}
		}
	}
}

func TestTraceOfForeignClockStartsAtZero(t *testing.T) {
	ops := burst(5, 1e9)
	const epoch = 1_700_000_000_000_000_000
	for i := range ops {
		ops[i].Call += epoch
		ops[i].Return += epoch
	}
	trace := Envelope{Limit: bucket.Limit{Rate: 1, Capacity: 5}, Operations: ops}.Trace()
	if trace.zeroWords != "the first request" || trace.end > 1.1e9 || trace.granted[0].at != 300_000 {
		t.Errorf("zero is %s, end %v, first grant %v", trace.zeroWords, trace.end, trace.granted[0].at)
	}
}
