package load_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
	"bucketproof/scenarios/clock"
	"bucketproof/scenarios/load"
)

// base is when virtual time starts, in every bubble of testing/synctest.
var base = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

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

// limiterFunc is a limiter that is a function.
type limiterFunc func(ctx context.Context, r bucket.Request) (bucket.Decision, error)

func (f limiterFunc) Take(ctx context.Context, _ bucket.Limit, r bucket.Request) (bucket.Decision, error) {
	return f(ctx, r)
}

// after is a limiter that allows after t, or ends with its context.
func after(t time.Duration) limiterFunc {
	return func(ctx context.Context, _ bucket.Request) (bucket.Decision, error) {
		select {
		case <-time.After(t):
			return bucket.Untold(true), nil
		case <-ctx.Done():
			return bucket.Decision{}, ctx.Err()
		}
	}
}

// checkAccounts fails unless every request that was offered is one operation,
// counted under its outcome.
func checkAccounts(t *testing.T, d *load.Driver) {
	t.Helper()
	var ops load.Counts
	for op := range history.All(d.Recorder.Operations()) {
		if err := op.Validate(); err != nil {
			t.Errorf("operation %+v: %v", op, err)
		}
		ops.Offered++
		switch op.Outcome {
		case history.Allowed:
			ops.Allowed++
		case history.Denied:
			ops.Denied++
		case history.Unsent:
			ops.Unsent++
		case history.Unknown:
			ops.Unknown++
		}
	}
	if got := d.Counts(); got != ops {
		t.Errorf("counts %+v, operations %+v", got, ops)
	}
}

func TestOutcomes(t *testing.T) {
	lost := errors.New("read tcp 127.0.0.1:40123: connection reset")
	for _, test := range []struct {
		name     string
		decision bucket.Decision
		err      error
		want     history.Outcome
	}{
		{"yes", bucket.Decision{Allowed: true, Remaining: 7, RetryAfter: -1}, nil, history.Allowed},
		{"no", bucket.Decision{Remaining: 0.5, RetryAfter: time.Second}, nil, history.Denied},
		{"not sent", bucket.Decision{Allowed: true}, fmt.Errorf("dial: %w", bucket.ErrUnsent), history.Unsent},
		{"no such limit", bucket.Decision{}, fmt.Errorf("lua: %w", bucket.ErrLimit), history.Unsent},
		{"lost", bucket.Decision{Allowed: true, Remaining: 1}, lost, history.Unknown},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDriver(1, limiterFunc(func(context.Context, bucket.Request) (bucket.Decision, error) {
				return test.decision, test.err
			}))
			if err := d.Burst(t.Context(), nil, load.Burst{Requests: 1}); err != nil {
				t.Fatal(err)
			}
			checkAccounts(t, d)
			op := d.Recorder.Operations()[0]
			if op.Outcome != test.want {
				t.Errorf("outcome %v, want %v", op.Outcome, test.want)
			}
			told := op.Remaining == test.decision.Remaining && op.RetryAfter == test.decision.RetryAfter
			if told != (test.err == nil) {
				t.Errorf("remaining %v, retry after %v of %+v", op.Remaining, op.RetryAfter, test.decision)
			}
			if failed := len(d.Failures()) == 1; failed != (test.err != nil) {
				t.Errorf("failures %+v", d.Failures())
			}
		})
	}
}

// TestRequestsSayWhatInstancesKnow: the clock is read once, before the hold,
// and the history has the same reading.
func TestRequestsSayWhatInstancesKnow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		seen := map[string]bucket.Request{}
		ids := map[int64]string{} // by sequence number
		d := newDriver(2, limiterFunc(func(_ context.Context, r bucket.Request) (bucket.Decision, error) {
			mu.Lock()
			defer mu.Unlock()
			if _, twice := seen[r.ID]; twice {
				t.Errorf("request id %s comes twice", r.ID)
			}
			seen[r.ID] = r
			ids[int64(len(seen))] = r.ID
			d := bucket.Untold(true)
			d.Witness.Sequence = int64(len(seen))
			return d, nil
		}))
		d.Cost = 2.5
		d.Keys = load.KeysInTurn([]string{"k0", "k1", "k2"})
		d.Instances[0].Clock = clock.Model{Offset: -time.Second, Drift: 100, Jitter: time.Millisecond, Seed: 3}
		time.Sleep(time.Second)
		const n = 60
		for stream := range uint64(2) {
			if err := d.Burst(t.Context(), nil, load.Burst{Requests: n / 2, Hold: load.HoldAll(time.Second), Stream: stream}); err != nil {
				t.Fatal(err)
			}
		}
		checkAccounts(t, d)
		keys := map[string]int{}
		for op := range history.All(d.Recorder.Operations()) {
			keys[op.Key]++
			model := d.Instances[0].Clock
			if op.Instance == "a-2" {
				model = d.Instances[1].Clock
			}
			if skew := op.Clock - base.UnixNano() - op.Call; skew != int64(model.Skew(time.Duration(op.Call))) {
				t.Errorf("skew %d at %d of %s, want %d", skew, op.Call, op.Instance, model.Skew(time.Duration(op.Call)))
			}
			r := seen[ids[op.Witness.Sequence]]
			if r.Now.UnixNano() != op.Clock || r.Key != op.Key || r.Instance != op.Instance || r.Cost != 2.5 || op.Cost != 2.5 {
				t.Errorf("request %+v is operation %+v", r, op)
			}
			if op.Return-op.Call != 1e9 {
				t.Errorf("called at %d, returned at %d, want a hold of 1e9 between", op.Call, op.Return)
			}
		}
		if len(seen) != n || keys["k0"] != n/3 || keys["k1"] != n/3 || keys["k2"] != n/3 {
			t.Errorf("%d ids, keys %v, want %d ids and the keys in turn", len(seen), keys, n)
		}
	})
}

func TestTimeoutEndsARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDriver(1, after(time.Second))
		d.Timeout = 320 * time.Millisecond
		err := d.Burst(t.Context(), nil, load.Burst{Requests: 2, Hold: load.HoldAll(time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		checkAccounts(t, d)
		for _, op := range d.Recorder.Operations() {
			if op.Outcome != history.Unknown || op.Return-op.Call != 1325e6 {
				t.Errorf("%v after %d, want unknown after hold, timeout and a 64th, 1325e6", op.Outcome, op.Return-op.Call)
			}
		}
		if f := d.Failures(); len(f) != 1 || f[0].Count != 2 || f[0].Text != context.DeadlineExceeded.Error() {
			t.Errorf("failures %+v", f)
		}
	})
}

func TestFailuresAreFew(t *testing.T) {
	n := 0
	var mu sync.Mutex
	d := newDriver(1, limiterFunc(func(context.Context, bucket.Request) (bucket.Decision, error) {
		mu.Lock()
		defer mu.Unlock()
		n++
		if n <= 50 {
			return bucket.Decision{}, fmt.Errorf("read 127.0.0.1:%d: reset", 40_000+n)
		}
		return bucket.Decision{}, errors.New("kind " + string(rune('a'+n%26)))
	}))
	if err := d.Burst(t.Context(), nil, load.Burst{Requests: 100}); err != nil {
		t.Fatal(err)
	}
	f := d.Failures()
	sum := int64(0)
	for _, f := range f {
		sum += f.Count
	}
	if len(f) != 9 || f[0].Count != 50 || f[0].Text[:15] != "read 127.0.0.1:" || sum != 100 {
		t.Errorf("failures %+v, want 8 kinds, numbers folded, and others, 100 in all", f)
	}
}

func TestWrongPhases(t *testing.T) {
	d := newDriver(2, nil)
	ctx := t.Context()
	second := time.Second
	for _, test := range []struct {
		err  error
		want string
	}{
		{(&load.Driver{}).Burst(ctx, nil, load.Burst{Requests: 1}), "burst: driver needs a clock, a recorder and an instance"},
		{d.Burst(ctx, []int{2}, load.Burst{Requests: 1}), "burst: instance 2 of 2"},
		{d.Burst(ctx, nil, load.Burst{}), "burst: 0 requests, want 1 to 100000"},
		{d.Burst(ctx, nil, load.Burst{Requests: 1, Hold: load.Hold{Share: 2}}), "burst: hold share is 2, want 0 to 1"},
		{d.Open(ctx, []int{-1}, load.Open{Rate: 1, For: second}), "open loop: instance -1 of 2"},
		{d.Open(ctx, nil, load.Open{Rate: 0, For: second}), "open loop: rate is 0, want a finite number above 0"},
		{d.Open(ctx, nil, load.Open{Rate: 1}), "open loop: length is 0s, want above 0"},
		{d.Open(ctx, nil, load.Open{Rate: 1, For: second, Arrivals: "often"}), `open loop: arrivals are "often", want constant or poisson`},
		{d.Open(ctx, nil, load.Open{Rate: 1, For: second, MaxInFlight: -1}), "open loop: most in flight is -1, want 0 or more"},
		{d.Open(ctx, nil, load.Open{Rate: 1, For: second, Hold: load.Hold{From: -1}}), "open loop: hold from is -1ns, want 0 or more"},
		{d.Closed(ctx, []int{7}, load.Closed{Workers: 1, For: second}), "closed loop: instance 7 of 2"},
		{d.Closed(ctx, nil, load.Closed{For: second}), "closed loop: 0 workers, want 1 to 100000"},
		{d.Closed(ctx, nil, load.Closed{Workers: 1}), "closed loop: length is 0s, want above 0"},
		{d.Closed(ctx, nil, load.Closed{Workers: 1, For: second, Think: -1}), "closed loop: think is -1ns, want 0 or more"},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("error %v, want %s", test.err, test.want)
		}
	}
	if got := d.Counts(); got != (load.Counts{}) {
		t.Errorf("counts %+v, want nothing sent", got)
	}
}

// TestPhasesInParallel runs in real time, for the race detector.
func TestPhasesInParallel(t *testing.T) {
	d := newDriver(3, nil)
	d.Keys = load.UniformKeys([]string{"a", "b"}, 1)
	var wg sync.WaitGroup
	for stream := range uint64(3) {
		wg.Go(func() {
			hold := load.Hold{Share: 0.1, From: 0, To: time.Millisecond}
			if err := d.Open(t.Context(), nil, load.Open{Rate: 3000, Arrivals: load.ArrivePoisson, For: 200 * time.Millisecond, Hold: hold, Stream: stream}); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if err := d.Closed(t.Context(), []int{0, 2}, load.Closed{Workers: 4, Think: time.Millisecond, RandomThink: true, For: 200 * time.Millisecond, Stream: stream}); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if err := d.Burst(t.Context(), []int{1}, load.Burst{Requests: 200, Stream: stream}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	checkAccounts(t, d)
}
