package bucket_test

import (
	"math"
	"testing"
	"time"

	"bucketproof/bucket"
)

func TestBound(t *testing.T) {
	l := bucket.Limit{Rate: 100, Capacity: 50}
	tests := []struct {
		d    time.Duration
		want float64
	}{
		{0, 50},
		{10 * time.Millisecond, 51},
		{time.Second, 150},
		{time.Hour, 360050},
	}
	for _, tt := range tests {
		if got := l.Bound(tt.d); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%v: got %v, want %v", tt.d, got, tt.want)
		}
	}
}

func TestPredictedExcess(t *testing.T) {
	l := bucket.Limit{Rate: 100, Capacity: 50}
	tests := []struct {
		name string
		skew bucket.Skew
		want float64
	}{
		{"one exact clock", bucket.Skew{}, 0},
		{"one clock in milliseconds", bucket.Skew{Granularity: time.Millisecond}, 0.1},
		{"half a second apart", bucket.Skew{Spread: 500 * time.Millisecond}, 50},
		{"age hides while the key lives", bucket.Skew{Age: time.Second}, 0},
		{"age shows at an expiry", bucket.Skew{Age: 520 * time.Millisecond, Expiries: 1}, 52},
		{"each expiry counts", bucket.Skew{Spread: 100 * time.Millisecond, Age: 20 * time.Millisecond, Granularity: time.Millisecond, Expiries: 3}, 10.1 + 3*12.1},
		{"a key gone before its time", bucket.Skew{Spread: 100 * time.Millisecond, Leaps: 2}, 10 + 2*(50+10)},
	}
	for _, tt := range tests {
		if got := l.PredictedExcess(tt.skew); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
