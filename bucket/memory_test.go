package bucket_test

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bucketproof/bucket"
)

func TestMemorySteps(t *testing.T) {
	limit := bucket.Limit{Rate: 10, Capacity: 2}
	var now time.Duration
	m := bucket.NewMemory(func() time.Duration { return now })
	steps := []struct {
		at        time.Duration
		key       string
		cost      float64
		allowed   bool
		remaining float64
		wait      time.Duration // at least; below 0: not told
	}{
		{0, "a", 1, true, 1, 0},
		{0, "a", 1, true, 0, 0},
		{0, "a", 1, false, 0, 100 * time.Millisecond},
		{0, "b", 2, true, 0, 0},
		{50 * time.Millisecond, "a", 1, false, 0.5, 50 * time.Millisecond},
		{100 * time.Millisecond, "a", 1, true, 0, 0},
		{time.Hour, "a", 3, false, 2, -1},
		{time.Hour, "a", 2, true, 0, 0},
	}
	for i, st := range steps {
		now = st.at
		d, err := m.Take(context.Background(), limit, bucket.Request{Key: st.key, Cost: st.cost})
		if err != nil || d.Allowed != st.allowed || math.Abs(d.Remaining-st.remaining) > 1e-9 {
			t.Fatalf("step %d: got %+v, %v, want %+v", i, d, err, st)
		}
		if early, late := d.RetryAfter < st.wait, d.RetryAfter > st.wait+2; early || late {
			t.Errorf("step %d: retry after %v, want %v", i, d.RetryAfter, st.wait)
		}
	}
}

// TestMemoryRetryAfterIsEnough: whoever waits as told is granted, for rates at
// which a nanosecond is worth more and less than a double's precision.
func TestMemoryRetryAfterIsEnough(t *testing.T) {
	for _, rate := range []float64{1e-6, 0.3, 7, 1e3 / 3, 1e9, 1e12} {
		var now time.Duration
		m := bucket.NewMemory(func() time.Duration { return now })
		limit := bucket.Limit{Rate: rate, Capacity: 1}
		request := bucket.Request{Key: "k", Cost: 1}
		for i := range 50 {
			d, _ := m.Take(context.Background(), limit, request)
			if d.Allowed {
				continue
			}
			now += d.RetryAfter
			if d, _ = m.Take(context.Background(), limit, request); !d.Allowed {
				t.Fatalf("rate %v, round %d: denied after waiting as told, %v", rate, i, d.RetryAfter)
			}
		}
	}
}

func TestMemoryGrantsNoMoreUnderContention(t *testing.T) {
	m := bucket.NewMemory(func() time.Duration { return 0 })
	limit := bucket.Limit{Rate: 1000, Capacity: 100}
	var granted atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 50 {
				if d, _ := m.Take(context.Background(), limit, bucket.Request{Key: "k", Cost: 1}); d.Allowed {
					granted.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if got := granted.Load(); got != 100 {
		t.Errorf("granted %d of a bucket of 100 on a clock that stands still", got)
	}
}
