package bucket_test

import (
	"math"
	"testing"
	"time"

	"bucketproof/bucket"
)

func TestLimitValidate(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	tests := []struct {
		limit bucket.Limit
		want  string // the error, empty: valid
	}{
		{bucket.Limit{Rate: 100, Capacity: 50}, ""},
		{bucket.Limit{Rate: math.SmallestNonzeroFloat64, Capacity: math.MaxFloat64}, ""},
		{bucket.Limit{Rate: 0.5, Capacity: 0.5}, ""},
		{bucket.Limit{}, "rate is 0, want a finite number above 0"},
		{bucket.Limit{Rate: -1, Capacity: 1}, "rate is -1, want a finite number above 0"},
		{bucket.Limit{Rate: nan, Capacity: 1}, "rate is NaN, want a finite number above 0"},
		{bucket.Limit{Rate: inf, Capacity: 1}, "rate is +Inf, want a finite number above 0"},
		{bucket.Limit{Rate: 1}, "capacity is 0, want a finite number above 0"},
		{bucket.Limit{Rate: 1, Capacity: -inf}, "capacity is -Inf, want a finite number above 0"},
		{bucket.Limit{Rate: 1, Capacity: nan}, "capacity is NaN, want a finite number above 0"},
	}
	for _, tt := range tests {
		got := ""
		if err := tt.limit.Validate(); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.limit, got, tt.want)
		}
	}
}

// TestLimitCountable: one token more or less changes the number up to the bound,
// and not beyond it.
func TestLimitCountable(t *testing.T) {
	full, past := float64(bucket.MaxTokens), float64(bucket.MaxTokens)*2
	if full-1 == full || past-1 != past {
		t.Errorf("%v − 1 is %v and %v − 1 is %v: the bound is at the wrong place", full, full-1, past, past-1)
	}
	const beyond = ", want at most 2^53 (9007199254740992): beyond it a double no longer counts single tokens"
	for _, tt := range []struct {
		limit bucket.Limit
		want  string // the error, empty: countable
	}{
		{bucket.Limit{Rate: full, Capacity: full}, ""},
		{bucket.Limit{Rate: math.SmallestNonzeroFloat64, Capacity: 0.5}, ""},
		{bucket.Limit{Rate: math.Nextafter(full, past), Capacity: 1}, "rate is 9.007199254740994e+15" + beyond},
		{bucket.Limit{Rate: 1, Capacity: 1e300}, "capacity is 1e+300" + beyond},
		{bucket.Limit{Rate: 1}, "capacity is 0, want a finite number above 0"},
	} {
		got := ""
		if err := tt.limit.Countable(); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.limit, got, tt.want)
		}
	}
}

func TestFillTimeAndTTL(t *testing.T) {
	tests := []struct {
		limit bucket.Limit
		fill  time.Duration
		ttl   float64 // milliseconds
	}{
		{bucket.Limit{Rate: 100, Capacity: 50}, 500 * time.Millisecond, 500},
		{bucket.Limit{Rate: 3, Capacity: 1}, 333333333 * time.Nanosecond, 334},
		{bucket.Limit{Rate: 5000, Capacity: 5}, time.Millisecond, 1},
		{bucket.Limit{Rate: 1e6, Capacity: 1}, time.Microsecond, 1},
		{bucket.Limit{Rate: 1e300, Capacity: 1e-300}, 0, 0}, // underflows: the script deletes the key
		{bucket.Limit{Rate: 1e-20, Capacity: 1}, math.MaxInt64, 1e23},
		{bucket.Limit{Rate: 1e-300, Capacity: 1e300}, math.MaxInt64, math.Inf(1)},
	}
	for _, tt := range tests {
		if got := tt.limit.FillTime(); got != tt.fill {
			t.Errorf("%v: fill time %v, want %v", tt.limit, got, tt.fill)
		}
		if got := tt.limit.TTLMillis(); got != tt.ttl {
			t.Errorf("%v: TTL %v ms, want %v", tt.limit, got, tt.ttl)
		}
	}
}

func TestLimitString(t *testing.T) {
	if got, want := (bucket.Limit{Rate: 0.5, Capacity: 10}).String(), "0.5/s, capacity 10"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
