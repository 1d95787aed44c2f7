package load_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
	"bucketproof/scenarios/load"
)

// base is when virtual time starts in every run of these tests.
var base = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// stopwatch returns the clock of a run that starts now.
func stopwatch() func() time.Duration {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}

// newDriver returns a driver of n synchronized instances of l, which nil makes
// a perfect bucket on the run's clock.
func newDriver(n int, l bucket.Limiter) *load.Driver {
	elapsed := stopwatch()
	if l == nil {
		l = bucket.NewMemory(elapsed)
	}
	d := &load.Driver{
		Elapsed:  elapsed,
		Base:     base,
		Limit:    bucket.Limit{Rate: 100, Capacity: 50},
		Recorder: history.NewRecorder(),
		Seed:     1,
	}
	for i := range n {
		d.Instances = append(d.Instances, load.Instance{Name: fmt.Sprintf("a-%d", i+1), Limiter: l})
	}
	return d
}

func TestBurstIsReleasedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDriver(2, nil)
		time.Sleep(time.Second)
		if err := d.Burst(context.Background(), nil, load.Burst{Requests: 200}); err != nil {
			t.Fatal(err)
		}
		want := load.Counts{Offered: 200, Allowed: 50, Denied: 150}
		if got := d.Counts(); got != want {
			t.Errorf("counts %+v, want %+v", got, want)
		}
		for _, op := range d.Recorder.Operations() {
			if op.Due != 1e9 || op.Call != 1e9 {
				t.Fatalf("due %d, call %d, want both at release, 1e9", op.Due, op.Call)
			}
		}
	})
}

func TestOpenCountsFromDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDriver(2, nil)
		err := d.Open(context.Background(), nil, load.Open{Rate: 1000, For: 2 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		ops := d.Recorder.Operations()
		if len(ops) != 2000 {
			t.Fatalf("%d operations, want 2000", len(ops))
		}
		for k, op := range ops {
			if op.Due != int64(k)*1e6 || op.Call != op.Due {
				t.Fatalf("request %d due %d, call %d, want %d", k, op.Due, op.Call, int64(k)*1e6)
			}
		}
	})
}
