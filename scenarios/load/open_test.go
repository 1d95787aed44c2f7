package load_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
	"bucketproof/scenarios/load"
)

// TestOpenKeepsItsSchedule: a limiter that takes half a second slows down
// nothing. Every request is sent at its due time, to the nanosecond.
func TestOpenKeepsItsSchedule(t *testing.T) {
	for _, arrivals := range []load.Arrivals{"", load.ArriveConstant, load.ArrivePoisson} {
		for name, limiter := range map[string]bucket.Limiter{"fast": nil, "slow": after(500 * time.Millisecond)} {
			t.Run(string(arrivals)+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := newDriver(3, limiter)
					time.Sleep(time.Second)
					o := load.Open{Rate: 700, Arrivals: arrivals, For: 2 * time.Second, Stream: 4}
					if err := d.Open(t.Context(), []int{2, 0}, o); err != nil {
						t.Fatal(err)
					}
					checkAccounts(t, d)
					want := load.Constant(700, 2*time.Second, 2)
					if arrivals == load.ArrivePoisson {
						want = load.Poisson(700, 2*time.Second, 2, d.Seed, 4)
					}
					checkSchedule(t, d.Recorder.Operations(), slices.Collect(want))
					if ended := d.Elapsed(); ended < 3*time.Second {
						t.Errorf("ended at %v, want 3 s or later", ended)
					}
				})
			})
		}
	}
}

func checkSchedule(t *testing.T, ops []history.Operation, want []load.Arrival) {
	t.Helper()
	if len(ops) != len(want) {
		t.Fatalf("%d operations, want %d", len(ops), len(want))
	}
	for k, op := range ops {
		due := int64(time.Second + want[k].Due)
		name := []string{"a-3", "a-1"}[want[k].Instance]
		if op.Due != due || op.Call != due || op.Instance != name {
			t.Fatalf("request %d of %s due %d, call %d, want both %d of %s", k, op.Instance, op.Due, op.Call, due, name)
		}
	}
}

// TestOpenCountsFromDue: with two requests in flight at most and a limiter that
// can do half of what is asked, requests go out later and later, and their
// latency says so. None is dropped.
func TestOpenCountsFromDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDriver(1, after(100*time.Millisecond))
		o := load.Open{Rate: 40, For: time.Second, MaxInFlight: 2}
		if err := d.Open(t.Context(), nil, o); err != nil {
			t.Fatal(err)
		}
		checkAccounts(t, d)
		ops := slices.Clone(d.Recorder.Operations())
		slices.SortStableFunc(ops, func(a, b history.Operation) int { return int(a.Due - b.Due) })
		if len(ops) != 40 {
			t.Fatalf("%d operations, want 40", len(ops))
		}
		for k, op := range ops {
			due := int64(k) * 25e6
			// Requests 0 and 1 go at once; from there on two at a time.
			call := due%25e6 + int64(k/2)*100e6 + int64(k%2)*25e6
			if op.Due != due || op.Call != call || op.Return != call+100e6 {
				t.Fatalf("request %d: due %d, call %d, return %d, want %d, %d, %d", k, op.Due, op.Call, op.Return, due, call, call+100e6)
			}
		}
		l := load.Measure(ops)
		if got, want := l.Response.Max(), 1075*time.Millisecond; got < want-25*time.Millisecond || got > want+25*time.Millisecond {
			t.Errorf("longest response %v, want about %v", got, want)
		}
		if got := l.Service.Max(); got != 100*time.Millisecond {
			t.Errorf("longest service %v, want 100ms", got)
		}
	})
}

func TestOpenReusesIdleCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		callers := map[string]bool{}
		d := newDriver(1, limiterFunc(func(_ context.Context, r bucket.Request) (bucket.Decision, error) {
			id, _, _ := strings.Cut(r.ID, "-")
			mu.Lock()
			callers[id] = true
			mu.Unlock()
			time.Sleep(15 * time.Millisecond)
			return bucket.Untold(true), nil
		}))
		if err := d.Open(t.Context(), nil, load.Open{Rate: 100, For: 10 * time.Second}); err != nil {
			t.Fatal(err)
		}
		if len(callers) != 3 { // two have requests under way, and one waits for the next
			t.Errorf("%d callers for requests of 15 ms every 10 ms, want 3", len(callers))
		}
	})
}

func TestHeldRequestsDoNotDelayOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDriver(2, nil)
		hold := load.Hold{Share: 0.2, From: 50 * time.Millisecond, To: 2 * time.Second}
		if err := d.Open(t.Context(), nil, load.Open{Rate: 500, For: 4 * time.Second, Hold: hold, Stream: 9}); err != nil {
			t.Fatal(err)
		}
		checkAccounts(t, d)
		for k, op := range d.Recorder.Operations() {
			want := hold.Of(d.Seed, 9, uint64(k))
			if op.Call != int64(k)*2e6 || op.Return-op.Call != int64(want) {
				t.Fatalf("request %d: call %d, held for %d, want %d, %d", k, op.Call, op.Return-op.Call, int64(k)*2e6, want)
			}
		}
	})
}
