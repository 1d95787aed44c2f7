package check

import (
	"errors"
	"iter"
	"math"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

var plain = Spec{Limit: bucket.Limit{Rate: 10, Capacity: 5}, Granularity: time.Millisecond}

func TestMalformed(t *testing.T) {
	good := op("i", history.Allowed, 1, 1.5)
	change := func(f func(*history.Operation)) []history.Operation {
		bad := good
		f(&bad)
		return []history.Operation{good, bad}
	}
	for _, c := range []struct {
		name string
		ops  []history.Operation
		says string
	}{
		{"no outcome", change(func(o *history.Operation) { o.Outcome = 0 }), "outcome 0 is none of"},
		{"an outcome too many", change(func(o *history.Operation) { o.Outcome = 5 }), "outcome 5 is none of"},
		{"no cost", change(func(o *history.Operation) { o.Cost = 0 }), "cost is 0"},
		{"a cost below 0", change(func(o *history.Operation) { o.Cost = -1 }), "cost is -1"},
		{"a cost that is no number", change(func(o *history.Operation) { o.Cost = math.NaN() }), "cost is NaN"},
		{"an endless cost", change(func(o *history.Operation) { o.Cost = math.Inf(1) }), "cost is +Inf"},
		{"a return before the call", change(func(o *history.Operation) { o.Return = o.Call - 1 }), "before its call"},
		{"an answer that never came", change(func(o *history.Operation) { o.Return = history.Forever }), "has no return"},
		{"out of order", change(func(o *history.Operation) { o.Call-- }), "order of call"},
		{"a history of centuries", change(func(o *history.Operation) { o.Call, o.Return = math.MaxInt64-2, math.MaxInt64-1 }), ""},
		{"from before the epoch on", []history.Operation{
			{Call: math.MinInt64, Return: math.MinInt64, Cost: 1, Outcome: history.Allowed}, good,
		}, "292 years"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Judge(plain, all(c.ops), nil)
			if c.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), "operation 2: ") || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want operation 2: … %s", err, c.says)
			}
		})
	}
}

func TestMalformedSpec(t *testing.T) {
	for _, s := range []Spec{
		{}, {Limit: bucket.Limit{Rate: 1}}, {Limit: bucket.Limit{Rate: math.Inf(1), Capacity: 1}},
		{Limit: plain.Limit, Granularity: -1}, {Limit: plain.Limit, RateTolerance: 1}, {Limit: plain.Limit, RateTolerance: math.NaN()},
		{Limit: plain.Limit, Retries: -1}, {Limit: plain.Limit, TTL: -1}, {Limit: plain.Limit, Offered: -1},
	} {
		if _, err := Judge(s, all(nil), nil); err == nil || !strings.HasPrefix(err.Error(), "specification: ") {
			t.Errorf("%+v: %v", s, err)
		}
	}
	if _, err := Judge(plain, all(nil), []Sample{{Call: 1, Return: 0}}); err == nil {
		t.Error("a sample returned before its call")
	}
	if _, err := Judge(plain, all(nil), []Sample{{Call: 1, Return: 1}, {Call: 0, Return: 1}}); err == nil {
		t.Error("samples out of order")
	}
}

// An error of the source ends the reading and is wrapped, in either reading.
func TestSourceFails(t *testing.T) {
	broken := errors.New("disk on fire")
	good := op("i", history.Allowed, 1, 1.5)
	for _, at := range []int{1, 2} {
		reading := 0
		source := func(yield func(*history.Operation, error) bool) {
			reading++
			if yield(&good, nil) && reading == at {
				yield(nil, broken)
			}
		}
		if _, err := Judge(plain, source, nil); !errors.Is(err, broken) {
			t.Errorf("reading %d: %v", at, err)
		}
	}
}

// A source that can be read once only leaves the accept rate undecided, and
// decides the rest.
func TestReadOnlyOnce(t *testing.T) {
	var ops []history.Operation
	for range 8 {
		ops = append(ops, op("i", history.Allowed, 1, 1))
	}
	rep, err := Judge(plain, once(all(ops)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := find(t, rep, AcceptRate); r.Verdict != Undecided || r.Detail != "the operations could be read only once" {
		t.Errorf("%s: %s", r.Verdict, r.Detail)
	}
	if r := find(t, rep, OverAdmission); r.Verdict != Fail || r.Value["excess"] != 3 || r.WithinPrediction {
		t.Errorf("%+v", r)
	}
}

func once[K, V any](seq iter.Seq2[K, V]) iter.Seq2[K, V] {
	spent := false
	return func(yield func(K, V) bool) {
		if !spent {
			spent = true
			seq(yield)
		}
	}
}

// Limits and costs at the ends of what a double holds give figures that JSON
// can write.
func TestExtremes(t *testing.T) {
	for _, l := range []bucket.Limit{
		{Rate: 1e308, Capacity: 1e308}, {Rate: 1e-308, Capacity: 1}, {Rate: 5e-324, Capacity: 5e-324}, {Rate: 1e308, Capacity: 1e-300}, {Rate: 1e-300, Capacity: 1e300},
	} {
		ops := []history.Operation{op("i", history.Allowed, 0, 0), op("i", history.Denied, 1, 9e9), op("i", history.Unknown, 2, -1), op("i", history.Allowed, 3, 4e9)}
		ops[3].Cost = 1e308
		for _, clock := range []bucket.TimeSource{bucket.CallerTime, bucket.ServerTime} {
			rep, err := Judge(Spec{Limit: l, Granularity: time.Hour, Time: clock, Retries: 5}, all(ops),
				[]Sample{{Call: 5e9, Return: 6e9, Keys: []KeyState{{Name: "k", TTL: math.MaxInt64, Tokens: 1}}, Key: "k"}})
			if err != nil {
				t.Fatalf("%v: %v", l, err)
			}
			for _, r := range rep.Results {
				for name, v := range r.Value {
					if math.IsNaN(v) || math.IsInf(v, 0) {
						t.Errorf("%v: %s: %s is %v", l, r.Name, name, v)
					}
				}
			}
		}
	}
}

func TestAccounting(t *testing.T) {
	ops := []history.Operation{op("i", history.Allowed, 0, 0), op("i", history.Unsent, 0, 0), op("j", history.Unknown, 0, -1)}
	for offered, want := range map[int64]Verdict{0: Pass, 3: Pass, 4: Fail, 2: Fail} {
		spec := plain
		spec.Offered = offered
		rep := judged(t, spec, ops)
		if r := find(t, rep, Accounting); r.Verdict != want {
			t.Errorf("offered %d: %s: %s", offered, r.Verdict, r.Detail)
		}
		if c := rep.Summary.Counts; c != (Counts{Offered: 3, Allowed: 1, Unsent: 1, Unknown: 1}) {
			t.Errorf("%+v", c)
		}
	}
}
