package bucket_test

import (
	"fmt"
	"math"
	"testing"

	"bucketproof/bucket"

	"pgregory.net/rapid"
)

// step is one request and what must come of it.
type step struct {
	now, cost float64
	allowed   bool
	tokens    float64
	time      float64
}

func TestRuleTake(t *testing.T) {
	inf := math.Inf(1)
	tests := []struct {
		name  string
		rule  bucket.Rule
		limit bucket.Limit
		steps []step
	}{
		{"starts full, then earns", bucket.RuleAppClock, bucket.Limit{Rate: 10, Capacity: 2}, []step{
			{0, 1, true, 1, 0},
			{0, 1, true, 0, 0},
			{0, 1, false, 0, 0},
			{99, 1, false, 0.99, 99},
			{100, 1, true, 0, 100},
			{10_000, 1, true, 1, 10_000},
		}},
		{"a denial keeps the refill", bucket.RuleAppClock, bucket.Limit{Rate: 1, Capacity: 1}, []step{
			{0, 1, true, 0, 0},
			{250, 1, false, 0.25, 250},
			{500, 1, false, 0.5, 500},
			{1000, 1, true, 0, 1000},
		}},
		{"a clock that goes back takes tokens away", bucket.RuleAppClock, bucket.Limit{Rate: 10, Capacity: 2}, []step{
			{1000, 1, true, 1, 1000},
			{500, 1, false, -4, 500},
			{1000, 1, true, 0, 1000},
		}},
		{"unless it cannot go back", bucket.RuleAppClockMonotonic, bucket.Limit{Rate: 10, Capacity: 2}, []step{
			{1000, 1, true, 1, 1000},
			{500, 1, true, 0, 1000},
			{1100, 1, true, 0, 1100},
		}},
		{"microseconds", bucket.RuleRedisTime, bucket.Limit{Rate: 1000, Capacity: 1}, []step{
			{1_700_000_000_000_000, 1, true, 0, 1_700_000_000_000_000},
			{1_700_000_000_000_999, 1, false, 0.9990000000000001, 1_700_000_000_000_999}, // rounded twice, as the script does
			{1_700_000_000_001_000, 1, true, 0, 1_700_000_000_001_000},
		}},
		{"costs", bucket.RuleAppClock, bucket.Limit{Rate: 1, Capacity: 10}, []step{
			{0, 10.5, false, 10, 0},
			{0, 7.5, true, 2.5, 0},
			{0, 3, false, 2.5, 0},
			{500, 3, true, 0, 500},
		}},
		{"overflow is full, and NaN is full", bucket.RuleAppClock, bucket.Limit{Rate: 1e308, Capacity: 5}, []step{
			{0, 1, true, 4, 0},
			{1e9, 1, true, 4, 1e9},               // +Inf earned
			{0, 1, false, -inf, 0},               // -Inf earned
			{1e9, 1, true, 4, 1e9},               // -Inf + Inf is NaN, and min(5, NaN) is 5
			{math.NaN(), 1, true, 4, math.NaN()}, // a clock that is no number
			{1e9, math.NaN(), false, 5, 1e9},     // a cost that is no number is denied
			{1e9, -1, true, 6, 1e9},              // a negative cost gives
			{1e9, 0, true, 5, 1e9},               // and the cap takes back
			{1e9 + 1, 1, true, 4, 1e9 + 1},       // finite again
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s bucket.State
			for i, st := range tt.steps {
				var allowed bool
				s, allowed = tt.rule.Take(s, tt.limit, st.now, st.cost)
				if allowed != st.allowed || !same(s.Tokens, st.tokens) || !same(s.Time, st.time) || !s.Exists {
					t.Fatalf("step %d: got %v %+v, want %+v", i, allowed, s, st)
				}
			}
		})
	}
}

// same compares two doubles, NaN with NaN.
func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// TestRuleKeepsTheBound: on a clock that only goes forward no window grants
// more than C + R·d, whatever the request times and the costs are.
func TestRuleKeepsTheBound(t *testing.T) {
	for name, rule := range map[string]bucket.Rule{"app": bucket.RuleAppClock, "monotonic": bucket.RuleAppClockMonotonic, "redis": bucket.RuleRedisTime} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			limit := bucket.Limit{Rate: rapid.Float64Range(0.1, 1e4).Draw(t, "rate"), Capacity: rapid.Float64Range(0.1, 1e3).Draw(t, "capacity")}
			gaps := rapid.SliceOfN(rapid.Float64Range(0, 2*limit.Capacity/limit.Rate), 1, 60).Draw(t, "gaps")
			var s bucket.State
			var at, granted []float64
			now := 0.0
			for _, gap := range gaps {
				now += gap * rule.TicksPerSecond
				cost := rapid.Float64Range(0, limit.Capacity).Draw(t, "cost")
				var ok bool
				if s, ok = rule.Take(s, limit, now, cost); ok {
					at, granted = append(at, now), append(granted, cost)
				}
			}
			for from := range at {
				sum := 0.0
				for to := from; to < len(at); to++ {
					sum += granted[to]
					bound := limit.Capacity + limit.Rate*(at[to]-at[from])/rule.TicksPerSecond
					if sum > bound*(1+1e-12)+1e-9 {
						t.Fatalf("%v tokens in a window that holds %v", sum, bound)
					}
				}
			}
		}))
	}
}

// TestMonotonicRuleEqualsItsClockClamped: a clock that never goes back is the
// same as the running maximum of one that does.
func TestMonotonicRuleEqualsItsClockClamped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := bucket.Limit{Rate: rapid.Float64Range(0.01, 1e6).Draw(t, "rate"), Capacity: rapid.Float64Range(0.01, 1e6).Draw(t, "capacity")}
		var a, b bucket.State
		highest := math.Inf(-1)
		for i, now := range rapid.SliceOf(rapid.Int64Range(-1e6, 1e6)).Draw(t, "clock") {
			highest = math.Max(highest, float64(now))
			var x, y bool
			a, x = bucket.RuleAppClockMonotonic.Take(a, limit, float64(now), 1)
			b, y = bucket.RuleAppClock.Take(b, limit, highest, 1)
			if a != b || x != y {
				t.Fatalf("step %d: %+v %v and %+v %v", i, a, x, b, y)
			}
		}
	})
}

// The reference bucket is a pure function: a state and a request give a
// decision and the next state.
func ExampleRule_Take() {
	limit := bucket.Limit{Rate: 10, Capacity: 2} // a token every 100 ms, at most 2
	var s bucket.State                           // a key that does not exist: a full bucket
	for _, now := range []float64{0, 0, 0, 150} {
		var allowed bool
		s, allowed = bucket.RuleAppClock.Take(s, limit, now, 1)
		fmt.Println(allowed, s.Tokens)
	}
	// Output:
	// true 1
	// true 0
	// false 0
	// true 0.5
}
