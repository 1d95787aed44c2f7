package control

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
	"bucketproof/bucket/limitertest"

	"github.com/redis/go-redis/v9"
)

// TestOneCallerSeesNoFault: these faults need several callers, which is why
// they survive ordinary tests.
func TestOneCallerSeesNoFault(t *testing.T) {
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		for _, c := range []Control{getSet, olderNowWritten} {
			t.Run(strings.TrimPrefix(c.Name, "control/"), func(t *testing.T) {
				limitertest.Run(t, func(t *testing.T) bucket.Limiter { return open(t, r, c) },
					limitertest.Options{Costs: c.UsesCost, Granularity: c.Granularity, Racy: true})
			})
		}
	})
}

// open makes a control with a client of its own.
func open(t *testing.T, r *backend.Redis, c Control) bucket.Limiter {
	t.Helper()
	client := r.NewClient("test")
	t.Cleanup(func() { _ = client.Close() })
	l, err := c.Open(client)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestGetSetGrantsTheSameTokensTwice releases callers together on a clock that
// stands still, so that not one token is earned.
func TestGetSetGrantsTheSameTokensTwice(t *testing.T) {
	l := open(t, backendtest.Any(t), getSet)
	limit := bucket.Limit{Rate: 0.001, Capacity: 5}
	for round := range 50 {
		var granted atomic.Int64
		var wg sync.WaitGroup
		start := make(chan struct{})
		for range 32 {
			wg.Go(func() {
				<-start
				d, err := l.Take(t.Context(), limit, bucket.Request{Key: fmt.Sprint("k", round), Cost: 1, Now: time.UnixMilli(1)})
				if err != nil {
					t.Error(err)
				}
				if d.Allowed {
					granted.Add(1)
				}
			})
		}
		close(start)
		wg.Wait()
		if granted.Load() > 5 {
			return
		}
	}
	t.Error("50 bursts of 32 callers, and never more than the capacity granted: the control is not broken")
}

// TestGetSetNeverClaimsUnsentAfterTheRead: the read was sent, so a write that
// was not is an unknown outcome.
func TestGetSetNeverClaimsUnsentAfterTheRead(t *testing.T) {
	r := backendtest.Embedded(t)
	c := redis.NewClient(&redis.Options{Addr: r.Info().Address, MaxRetries: -1})
	g := &getSetLimiter{client: c}
	if _, err := g.read(t.Context(), "k"); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := g.write(t.Context(), "k", bucket.State{}, 1); err == nil || errors.Is(err, bucket.ErrUnsent) {
		t.Errorf("a write that was not sent gives %v", err)
	}
	if _, err := g.read(t.Context(), "k"); !errors.Is(err, bucket.ErrUnsent) {
		t.Errorf("a read that was not sent gives %v", err)
	}
}
