package load_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"bucketproof/scenarios/load"
)

func TestHoldShareAndLength(t *testing.T) {
	const n = 50_000
	h := load.Hold{Share: 0.1, From: 50 * time.Millisecond, To: 2 * time.Second}
	held, sum := 0, 0.0
	for i := range uint64(n) {
		got := h.Of(1, 2, i)
		if got != h.Of(1, 2, i) {
			t.Fatal("one request is held for two times")
		}
		if got == 0 {
			continue
		}
		if got < h.From || got > h.To {
			t.Fatalf("held for %v, want %v to %v", got, h.From, h.To)
		}
		held++
		sum += got.Seconds()
	}
	if share := float64(held) / n; math.Abs(share-0.1) > 5*math.Sqrt(0.1*0.9/n) {
		t.Errorf("a share of %.4f is held, want 0.1", share)
	}
	// Uniform over 1.95 s: standard deviation 1.95/√12.
	if mean := sum / float64(held); math.Abs(mean-1.025) > 5*1.95/math.Sqrt(12*float64(held)) {
		t.Errorf("held for %.4f s on average, want 1.025", mean)
	}
}

func TestHoldEdges(t *testing.T) {
	for _, test := range []struct {
		hold load.Hold
		want time.Duration
	}{
		{load.Hold{}, 0},
		{load.HoldAll(0), 0},
		{load.HoldAll(time.Second), time.Second},
		{load.Hold{Share: 0, From: 1, To: 2}, 0},
	} {
		for i := range uint64(100) {
			if got := test.hold.Of(3, 4, i); got != test.want {
				t.Errorf("%+v holds for %v, want %v", test.hold, got, test.want)
			}
		}
	}
}

func TestHoldValidate(t *testing.T) {
	for _, test := range []struct {
		hold load.Hold
		want string
	}{
		{load.Hold{}, ""},
		{load.Hold{Share: 1, From: 1, To: 1}, ""},
		{load.Hold{Share: -0.1}, "hold share is -0.1, want 0 to 1"},
		{load.Hold{Share: math.NaN()}, "hold share is NaN, want 0 to 1"},
		{load.Hold{Share: 1.1}, "hold share is 1.1, want 0 to 1"},
		{load.Hold{Share: 1, From: -1}, "hold from is -1ns, want 0 or more"},
		{load.Hold{Share: 1, From: 2, To: 1}, "hold to is 1ns, want at least from, 2ns"},
	} {
		got := ""
		if err := test.hold.Validate(); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%+v: %q, want %q", test.hold, got, test.want)
		}
	}
}

// TestHoldIsNoPartOfTheLongest: how long requests took is without the wait that
// they were told to make.
func TestHoldIsNoPartOfTheLongest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDriver(2, after(3*time.Millisecond))
		if got := d.Longest(); got != 0 {
			t.Errorf("nothing was sent and the longest took %v", got)
		}
		hold := load.Hold{Share: 0.5, From: 10 * time.Millisecond, To: time.Second}
		if err := d.Burst(t.Context(), nil, load.Burst{Requests: 40, Hold: hold}); err != nil {
			t.Fatal(err)
		}
		service := load.Measure(d.Recorder.Operations()).Service.Max()
		if got := d.Longest(); got != 3*time.Millisecond || service <= got {
			t.Errorf("the longest took %v, want 3ms; with its hold %v, want more", got, service)
		}
	})
}
