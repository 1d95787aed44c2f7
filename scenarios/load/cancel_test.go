package load_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
	"bucketproof/scenarios/load"
)

// stuck is a limiter that heeds nobody.
func stuck(release <-chan struct{}) limiterFunc {
	return func(context.Context, bucket.Request) (bucket.Decision, error) {
		<-release
		return bucket.Untold(true), nil
	}
}

// phases are one of each kind, all under way at 1 s.
var phases = map[string]func(context.Context, *load.Driver, load.Hold) error{
	"burst": func(ctx context.Context, d *load.Driver, h load.Hold) error {
		return d.Burst(ctx, nil, load.Burst{Requests: 20, Hold: h})
	},
	"open": func(ctx context.Context, d *load.Driver, h load.Hold) error {
		return d.Open(ctx, nil, load.Open{Rate: 10, For: time.Minute, Hold: h})
	},
	"open, few in flight": func(ctx context.Context, d *load.Driver, h load.Hold) error {
		return d.Open(ctx, nil, load.Open{Rate: 100, For: time.Minute, MaxInFlight: 3, Hold: h})
	},
	"closed": func(ctx context.Context, d *load.Driver, h load.Hold) error {
		return d.Closed(ctx, nil, load.Closed{Workers: 5, Think: time.Millisecond, For: time.Minute, Hold: h})
	},
}

var errInterrupted = errors.New("interrupted")

// TestInterrupt: whatever the phase and whatever becomes of its requests, it
// ends within the grace, twice where it must, and every request has an outcome.
func TestInterrupt(t *testing.T) {
	for _, test := range []struct {
		name    string
		limiter bucket.Limiter // nil: stuck
		hold    load.Hold
		within  time.Duration
		want    func(c load.Counts) bool
	}{
		{"some replies come in", after(1200 * time.Millisecond), load.Hold{}, 500 * time.Millisecond,
			func(c load.Counts) bool { return c.Allowed > 0 }},
		{"replies come too late", after(time.Hour), load.Hold{}, 500 * time.Millisecond,
			func(c load.Counts) bool { return c.Allowed == 0 && c.Unknown > 0 }},
		{"replies never come", nil, load.Hold{}, time.Second,
			func(c load.Counts) bool { return c.Allowed == 0 && c.Unknown > 0 }},
		{"requests are held", after(0), load.HoldAll(time.Hour), 0,
			func(c load.Counts) bool { return c.Unsent == c.Offered && c.Unsent > 0 }},
	} {
		for name, phase := range phases {
			t.Run(test.name+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					release := make(chan struct{})
					limiter := test.limiter
					if limiter == nil {
						limiter = stuck(release)
					}
					d := newDriver(2, limiter)
					ctx, cancel := context.WithCancelCause(t.Context())
					time.AfterFunc(time.Second, func() { cancel(errInterrupted) })
					err := phase(ctx, d, test.hold)
					if !errors.Is(err, errInterrupted) {
						t.Errorf("error %v, want %v", err, errInterrupted)
					}
					if took := d.Elapsed() - time.Second; took > test.within {
						t.Errorf("ended %v after the interruption, want within %v", took, test.within)
					}
					checkAccounts(t, d)
					if c := d.Counts(); !test.want(c) {
						t.Errorf("counts %+v", c)
					}
					close(release)
					synctest.Wait() // what comes back now is not recorded twice
					checkAccounts(t, d)
				})
			})
		}
	}
}

// TestInterruptedScheduleIsAccountedFor: what was due and could not be sent is
// unsent, what was not yet due was never offered.
func TestInterruptedScheduleIsAccountedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDriver(1, after(10*time.Second))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := d.Open(ctx, nil, load.Open{Rate: 100, For: time.Minute, MaxInFlight: 30})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		checkAccounts(t, d)
		c := d.Counts()
		if c.Unknown != 30 || c.Offered < 100 || c.Offered > 101 || c.Unsent != c.Offered-30 {
			t.Errorf("counts %+v, want 30 unknown of 100 or 101 due", c)
		}
		f := d.Failures()
		if len(f) != 2 || f[0].Outcome != history.Unsent || f[0].Text != "load was stopped: request was not sent" {
			t.Errorf("failures %+v", f)
		}
	})
}

func TestCancelledBeforeTheStart(t *testing.T) {
	for name, phase := range phases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDriver(1, nil)
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				if err := phase(ctx, d, load.Hold{}); !errors.Is(err, context.Canceled) {
					t.Errorf("error %v", err)
				}
				checkAccounts(t, d)
				if c := d.Counts(); c.Allowed+c.Denied+c.Unknown > 0 || d.Elapsed() > 0 {
					t.Errorf("counts %+v at %v, want nothing sent", c, d.Elapsed())
				}
			})
		})
	}
}

// A schedule that nobody can keep ends when it is stopped, however far behind
// it is and though ever more falls due while that is written down.
func TestHopelessScheduleCanBeStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var ticks atomic.Int64
	d := &load.Driver{
		Elapsed: func() time.Duration {
			n := ticks.Add(1)
			if n == 1000 {
				cancel()
			}
			return time.Duration(n) * time.Second
		},
		Recorder:  history.NewRecorder(),
		Sleep:     func(time.Duration) {},
		Instances: []load.Instance{{Name: "a", Limiter: after(0)}},
	}
	if err := d.Open(ctx, nil, load.Open{Rate: 10, For: 24 * time.Hour}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the cancellation", err)
	}
	if n := d.Counts().Offered; n == 0 || n > 400_000 {
		t.Errorf("%d requests offered of the 864,000 of a day, want those of its first hours", n)
	}
}
