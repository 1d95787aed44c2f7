package load_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
	"bucketproof/scenarios/load"
)

func TestClosedWaitsAndThinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDriver(2, after(30*time.Millisecond))
		time.Sleep(time.Second)
		c := load.Closed{Workers: 4, Think: 20 * time.Millisecond, For: time.Second}
		if err := d.Closed(t.Context(), nil, c); err != nil {
			t.Fatal(err)
		}
		checkAccounts(t, d)
		ops := d.Recorder.Operations()
		if len(ops) != 4*20 {
			t.Fatalf("%d operations, want 80: 4 workers, a call every 50 ms", len(ops))
		}
		by := map[string]int{}
		for k, op := range ops {
			by[op.Instance]++
			if want := int64(1e9) + int64(k/4)*50e6; op.Call != want || op.Due != want {
				t.Fatalf("request %d: due %d, call %d, want both %d", k, op.Due, op.Call, want)
			}
		}
		if by["a-1"] != 40 || by["a-2"] != 40 {
			t.Errorf("requests %v, want 40 of each instance", by)
		}
		if ended := d.Elapsed(); ended != 2*time.Second {
			t.Errorf("ended at %v, want 2s", ended)
		}
	})
}

// TestClosedObeys: on an empty bucket of 100 tokens a second a worker that
// waits as long as it is told asks every 10 ms, and is never denied for it.
func TestClosedObeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDriver(1, nil)
		if err := d.Burst(t.Context(), nil, load.Burst{Requests: 51}); err != nil {
			t.Fatal(err)
		}
		c := load.Closed{Workers: 1, Think: time.Microsecond, Obey: true, For: time.Second}
		if err := d.Closed(t.Context(), nil, c); err != nil {
			t.Fatal(err)
		}
		checkAccounts(t, d)
		ops := d.Recorder.Operations()[51:]
		for i, op := range ops {
			if i == 0 {
				continue
			}
			before := ops[i-1]
			if before.Outcome == history.Denied && (op.Outcome != history.Allowed || op.Call-before.Return != int64(before.RetryAfter)) {
				t.Fatalf("told to wait %v, asked after %d, %v", before.RetryAfter, op.Call-before.Return, op.Outcome)
			}
		}
		if counts := d.Counts(); counts.Allowed < 149 || counts.Allowed > 150 || counts.Denied > 102 {
			t.Errorf("counts %+v, want 149 or 150 allowed and hardly more denied than that", counts)
		}
	})
}

func TestClosedDisobeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDriver(1, nil)
		c := load.Closed{Workers: 1, Think: time.Millisecond, For: time.Second}
		if err := d.Closed(t.Context(), nil, c); err != nil {
			t.Fatal(err)
		}
		if got := d.Counts().Offered; got != 1000 {
			t.Errorf("%d requests, want one each millisecond whatever it is told", got)
		}
	})
}

func TestRandomThinkTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDriver(1, nil)
		const workers, mean = 50, 0.01
		c := load.Closed{Workers: workers, Think: 10 * time.Millisecond, RandomThink: true, For: 10 * time.Second, Stream: 5}
		if err := d.Closed(t.Context(), nil, c); err != nil {
			t.Fatal(err)
		}
		checkAccounts(t, d)
		// The limiter takes no time, so each worker is a Poisson process.
		n := workers * 10 / mean
		if got := float64(d.Counts().Offered); math.Abs(got-n) > 5*math.Sqrt(n) {
			t.Errorf("%v requests, want %v ± %.0f", got, n, 5*math.Sqrt(n))
		}
		times := make([]time.Duration, 0, int(n))
		for _, op := range d.Recorder.Operations() {
			times = append(times, time.Duration(op.Call))
		}
		if v := dispersion(times, 10*time.Second); math.Abs(v-1) > 5*math.Sqrt(2.0/2000) {
			t.Errorf("variance of counts %.3f of their mean, want 1", v)
		}
	})
}

func TestSeedsRepeatThinkTimes(t *testing.T) {
	draw := func(seed, stream uint64) []history.Operation {
		var ops []history.Operation
		synctest.Test(t, func(t *testing.T) {
			d := newDriver(1, after(time.Millisecond))
			d.Seed = seed
			if err := d.Closed(t.Context(), nil, load.Closed{Workers: 3, Think: 10 * time.Millisecond, RandomThink: true, For: time.Second, Stream: stream}); err != nil {
				t.Fatal(err)
			}
			ops = d.Recorder.Operations()
		})
		return ops
	}
	same := func(a, b []history.Operation) bool {
		for i := range min(len(a), len(b)) {
			if a[i].Call != b[i].Call {
				return false
			}
		}
		return len(a) == len(b)
	}
	one := draw(1, 1)
	if !same(one, draw(1, 1)) {
		t.Error("one seed gives two runs")
	}
	if same(one, draw(2, 1)) || same(one, draw(1, 2)) {
		t.Error("two seeds or streams give one run")
	}
}

// TestClosedRetreats: while every request fails at once, a worker without
// think time asks a thousand times a second and not a million.
func TestClosedRetreats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDriver(1, limiterFunc(func(context.Context, bucket.Request) (bucket.Decision, error) {
			return bucket.Decision{}, errors.New("connection refused")
		}))
		if err := d.Closed(t.Context(), nil, load.Closed{Workers: 2, For: time.Second}); err != nil {
			t.Fatal(err)
		}
		checkAccounts(t, d)
		if got := d.Counts().Unknown; got != 2000 {
			t.Errorf("%d requests, want 2000", got)
		}
	})
}
