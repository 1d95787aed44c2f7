package thirdparty

import (
	"context"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"

	"github.com/redis/go-redis/v9"
	"github.com/throttled/throttled/v2"
)

// interloper is a client's hook that does something just before commands of a
// name are sent, as another process may.
type interloper struct {
	redis.Hook
	command string
	act     func()
}

func (i interloper) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == i.command {
			i.act()
		}
		return next(ctx, cmd)
	}
}

// TestThrottledIsPatient: the library alone gives up where somebody stores
// between every reading and storing; the adapter goes on until it is let in, and
// is charged once.
func TestThrottledIsPatient(t *testing.T) {
	limit := bucket.Limit{Rate: 0.001, Capacity: 100}
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		other := open(t, throttledGCRA, r)
		client := newClient(t, r)
		between, most := 0, 10
		client.AddHook(interloper{watch{}, "eval", func() {
			if between < most {
				between++
				take(t, other, limit, "k")
			}
		}})
		slow := openOn(t, throttledGCRA, client).(*throttledLimiter)
		take(t, other, limit, "k") // so that all storing is by compare-and-swap

		quota, err := throttledQuota(limit)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := throttled.NewGCRARateLimiterCtx(slow.store, quota)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := alone.RateLimitCtx(t.Context(), "k", 1); err == nil || !strings.Contains(err.Error(), "after 10 attempts") {
			t.Errorf("the library alone: %v, want an error after 10 attempts", err)
		}
		most = 22
		if d := take(t, slow, limit, "k"); !d.Allowed || between != 22 {
			t.Errorf("got %+v after somebody came between %d times, want it granted after 22", d, between)
		}
		if left := take(t, other, limit, "k").Remaining; left != 100-25 {
			t.Errorf("%v tokens remain of 100, want 75: 25 were granted", left)
		}
	})
}

// TestThrottledForgetsEarly: the two ways in which a key's life ends before the
// bucket is full, which [throttledGCRA] tells of.
func TestThrottledForgetsEarly(t *testing.T) {
	limit := bucket.Limit{Rate: 8, Capacity: 36} // fills in 4.5 s
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		life := func(key string) time.Duration {
			t.Helper()
			left, err := r.Client().PTTL(t.Context(), throttledPrefix+key).Result()
			if err != nil {
				t.Fatal(err)
			}
			return left
		}
		other := open(t, throttledGCRA, r)
		drain := func(key string) {
			t.Helper()
			if d, err := other.Take(t.Context(), limit, request(key, limit.Capacity)); err != nil || !d.Allowed {
				t.Fatalf("a whole bucket: %+v, %v", d, err)
			}
		}
		drain("whole seconds")
		if got := life("whole seconds"); got <= 3*time.Second || got > 4*time.Second {
			t.Errorf("an empty bucket is kept for %v, want the 4.5 s to fill it cut to 4", got)
		}

		client := newClient(t, r)
		client.AddHook(interloper{watch{}, "set", func() { drain("loser") }})
		loser := openOn(t, throttledGCRA, client)
		if take(t, loser, limit, "loser").Allowed {
			t.Fatal("granted of an empty bucket")
		}
		if got := life("loser"); got > time.Second {
			t.Errorf("an empty bucket is kept for %v, want 1 s: who came too late to create the key gives it the life of one token", got)
		}
	})
}
