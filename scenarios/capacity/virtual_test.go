package capacity

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// oneThread is a server that decides one request after another, each in the same
// time, as Redis does, and tells how busy it was.
type oneThread struct {
	takes  time.Duration
	waits  time.Duration // on top of it, while it is not busy and serves nobody
	turn   chan struct{}
	busy   atomic.Int64 // ns
	memory *bucket.Memory
}

func newOneThread(takes, waits time.Duration) *oneThread {
	start := time.Now()
	return &oneThread{
		takes: takes, waits: waits, turn: make(chan struct{}, 1),
		memory: bucket.NewMemory(func() time.Duration { return time.Since(start) }),
	}
}

func (o *oneThread) Take(ctx context.Context, l bucket.Limit, r bucket.Request) (bucket.Decision, error) {
	o.turn <- struct{}{}
	defer func() { <-o.turn }()
	time.Sleep(o.takes + o.waits)
	o.busy.Add(int64(o.takes))
	return o.memory.Take(ctx, l, r)
}

func (o *oneThread) Statistics(context.Context) (map[string]string, error) {
	return map[string]string{"used_cpu_sys": "0", "used_cpu_user": fmt.Sprint(float64(o.busy.Load()) / 1e9)}, nil
}

// virtualPace is short: in virtual time a step is exact.
func virtualPace() Pace {
	return Pace{
		plain: []int{1, 2, 4, 8}, pipelined: []int{4}, rounds: 2,
		level: stretch{20 * time.Millisecond, 200 * time.Millisecond}, step: stretch{50 * time.Millisecond, 500 * time.Millisecond},
		steps: 24, growth: 1.15, resolution: 1.035, contrast: stretch{10 * time.Millisecond, 50 * time.Millisecond},
		keys: 64, many: 64, buckets: []int{10, 20},
	}
}

type virtualServer interface {
	bucket.Limiter
	Server
}

// measuredVirtually measures a server in virtual time, with processors of whom
// so much is idle.
func measuredVirtually(t *testing.T, o virtualServer, slo string, idle float64, sleep func(time.Duration)) *Result {
	t.Helper()
	objective, err := ParseSLO(slo)
	if err != nil {
		t.Fatal(err)
	}
	s := &Subject{
		Name: "one thread", Time: bucket.ProcessTime, Stored: true,
		Open: func(context.Context, string, Mode) (bucket.Limiter, error) { return o, nil },
	}
	var kept []history.Operation
	m := New(s, Settings{
		Pace: virtualPace(), SLO: objective, ID: "v", Seed: 1, Server: o, Sleep: sleep,
		Keep: func(ops []history.Operation) error {
			if n := len(kept); n > 0 && len(ops) > 0 && ops[0].Call < kept[n-1].Call {
				t.Errorf("a step begins at %d, before the one before it ended its calls at %d", ops[0].Call, kept[n-1].Call)
			}
			kept = append(kept, ops...)
			return nil
		},
	})
	start := time.Now()
	m.rig.processors = func() (processorTime, error) {
		all := time.Since(start).Seconds()
		return processorTime{idle: idle * all, all: all, own: (1 - idle) * all * float64(runtime.GOMAXPROCS(0))}, nil
	}
	if err := inOrder(t.Context(), m.sweep, m.knees, m.contrasts, m.scaleOut, m.weight); err != nil {
		t.Fatal(err)
	}
	r := m.Result()
	if r.Verified.Operations != int64(len(kept)) || r.Verified.Verdict != "pass" {
		t.Errorf("verified %+v, kept %d operations", *r.Verified, len(kept))
	}
	return r
}

// TestLoopsSaturateAlike: with a loose objective the open loop's knee is the
// closed loop's peak, and both are what the server can do.
func TestLoopsSaturateAlike(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := measuredVirtually(t, newOneThread(100*time.Microsecond, 0), "p99=1s", 0.6, nil)
		peak, _ := r.peak(false)
		if math.Abs(peak/10_000-1) > 0.02 {
			t.Errorf("the closed loop reaches %.0f a second, the server can do 10,000", peak)
		}
		k := r.Knee
		if k.RatePS == nil || math.Abs(*k.RatePS/peak-1) > 0.1 || k.LimitedBy != "redis" {
			t.Errorf("knee %v limited by %s: %s; the peak is %.0f", k.MetPS, k.LimitedBy, k.Why, peak)
		}
		if math.Abs(r.Cost.RedisUSPerCall-100) > 2 {
			t.Errorf("a decision costs %v µs, the server takes 100", r.Cost.RedisUSPerCall)
		}
	})
}

// far is a server that decides at once, a while away.
type far struct {
	*oneThread
	way time.Duration
}

func (f far) Take(ctx context.Context, l bucket.Limit, r bucket.Request) (bucket.Decision, error) {
	time.Sleep(f.way)
	return f.memory.Take(ctx, l, r)
}

// TestAFarServerKeepsUp: replies that take a tenth of a step have not fallen behind.
func TestAFarServerKeepsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := measuredVirtually(t, far{newOneThread(0, 0), 50 * time.Millisecond}, "p99=1s", 0.6, nil)
		peak, n := r.peak(false)
		// The open loop has more callers than the closed loop's best level.
		if k := r.Knee; n >= k.InFlight || k.MetPS < 1.5*peak || k.LimitedBy != "none" {
			t.Errorf("%.0f a second were met, limited by %s: %s; the closed loop reached %.0f", k.MetPS, k.LimitedBy, k.Why, peak)
		}
	})
}

// TestKneeOfQueue: a tight objective is met up to the load at which the queue of
// an M/D/1 server is so long, which is well below its saturation.
func TestKneeOfQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := measuredVirtually(t, newOneThread(100*time.Microsecond, 0), "mean=200us", 0.6, nil)
		// The mean stay is 1/µ · (1 + ρ/(2(1 − ρ))), twice 1/µ at ρ = 2/3.
		if k := r.Knee; k.RatePS == nil || math.Abs(*k.RatePS/6667-1) > 0.15 {
			t.Errorf("knee %v (%s), theory says 6,667 a second", k.MetPS, k.Why)
		}
	})
}

// TestSlowServerIsBlamed: a server that waits for something else is the limit
// though it is not busy, as the generator is on time and has processors to spare.
func TestSlowServerIsBlamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := measuredVirtually(t, newOneThread(50*time.Microsecond, 950*time.Microsecond), "p99=20ms", 0.8, nil)
		k := r.Knee
		if k.RatePS == nil || k.LimitedBy != "redis" || !strings.Contains(k.Why, "the generator kept its schedule and waited for Redis") {
			t.Errorf("%v limited by %s: %s", k.MetPS, k.LimitedBy, k.Why)
		}
	})
}

// TestLateGeneratorIsRefused: sends that oversleep make the latency, not the
// server, which is nearly idle.
func TestLateGeneratorIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		oversleeps := func(d time.Duration) { time.Sleep(d + 8*time.Millisecond) }
		r := measuredVirtually(t, newOneThread(100*time.Microsecond, 0), "p99=5ms", 0.6, oversleeps)
		k := r.Knee
		if k.RatePS != nil || k.LimitedBy != "generator" || !strings.Contains(k.Why, "the generator was late") {
			t.Errorf("%v limited by %s: %s", k.MetPS, k.LimitedBy, k.Why)
		}
	})
}

// TestNoProcessorsLeftIsRefused: where nothing is idle nobody knows who waits.
func TestNoProcessorsLeftIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := measuredVirtually(t, newOneThread(80*time.Microsecond, 20*time.Microsecond), "p99=5ms", 0.02, nil)
		k := r.Knee
		if k.RatePS != nil || k.LimitedBy != "generator" || !strings.Contains(k.Why, "no processor to spare") || k.MetPS == 0 {
			t.Errorf("%v limited by %s: %s", k.MetPS, k.LimitedBy, k.Why)
		}
		if p := r.Plan; p.Shards == 0 || !strings.Contains(p.Formulas[0].Inputs, "the knee is refused") {
			t.Errorf("a plan that hides the refusal: %+v", p.Formulas)
		}
	})
}
