package load_test

import (
	"testing"
	"testing/synctest"
	"time"

	"bucketproof/bucket/history"
	"bucketproof/scenarios/load"
)

func TestBurstIsReleasedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDriver(3, nil)
		time.Sleep(time.Second)
		if err := d.Burst(t.Context(), []int{2, 0}, load.Burst{Requests: 200}); err != nil {
			t.Fatal(err)
		}
		checkAccounts(t, d)
		if got, want := d.Counts(), (load.Counts{Offered: 200, Allowed: 50, Denied: 150}); got != want {
			t.Errorf("counts %+v, want %+v", got, want)
		}
		by := map[string]int{}
		for _, op := range d.Recorder.Operations() {
			by[op.Instance]++
			if op.Due != 1e9 || op.Call != 1e9 {
				t.Fatalf("due %d, call %d, want both at release, 1e9", op.Due, op.Call)
			}
		}
		if by["a-1"] != 100 || by["a-3"] != 100 {
			t.Errorf("requests %v, want 100 each of a-1 and a-3", by)
		}
	})
}

// TestBurstHeldPastAnExpiry is the scenario of a burst that reads its clocks
// now and is sent 520 ms later, beside one that is sent at once.
func TestBurstHeldPastAnExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDriver(1, nil)
		if err := d.Burst(t.Context(), nil, load.Burst{Requests: 50}); err != nil {
			t.Fatal(err)
		}
		if err := d.Burst(t.Context(), nil, load.Burst{Requests: 60, Hold: load.HoldAll(520 * time.Millisecond)}); err != nil {
			t.Fatal(err)
		}
		checkAccounts(t, d)
		held := 0
		for _, op := range d.Recorder.Operations() {
			if op.Due != 0 || op.Call != 0 || op.Clock != base.UnixNano() {
				t.Fatalf("due %d, call %d, clock %d, want all at 0", op.Due, op.Call, op.Clock-base.UnixNano())
			}
			if op.Return == 520e6 {
				held++
			}
		}
		if held != 60 {
			t.Errorf("%d requests sent at 520e6, want 60", held)
		}
	})
}

// TestBurstsFollowEachOther: the next burst begins after the last reply.
func TestBurstsFollowEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDriver(2, after(time.Second))
		for stream := range uint64(5) {
			if err := d.Burst(t.Context(), nil, load.Burst{Requests: 10, Stream: stream}); err != nil {
				t.Fatal(err)
			}
		}
		checkAccounts(t, d)
		for i, op := range d.Recorder.Operations() {
			if want := int64(i/10) * 1e9; op.Due != want || op.Outcome != history.Allowed {
				t.Errorf("request %d due %d, %v, want %d, allowed", i, op.Due, op.Outcome, want)
			}
		}
	})
}
