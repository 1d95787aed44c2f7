package thirdparty

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"

	"github.com/redis/go-redis/v9"
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

// TestThrottledGivesUp: where somebody stores between every reading and storing,
// the tenth attempt ends in an error by default. It is an unknown outcome, for
// commands were sent; the other caller's tokens are all that is charged.
func TestThrottledGivesUp(t *testing.T) {
	limit := bucket.Limit{Rate: 1, Capacity: 100}
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		other := open(t, throttledGCRA, r)
		client := newClient(t, r)
		between := 0
		client.AddHook(interloper{watch{}, "eval", func() { between++; take(t, other, limit, "k") }})
		slow := openOn(t, throttledGCRA, client).(*throttledLimiter)
		slow.attempts = 10 // the default

		take(t, other, limit, "k") // so that all storing is by compare-and-swap
		d, err := slow.Take(t.Context(), limit, request("k", 1))
		if err == nil || !strings.Contains(err.Error(), "after 10 attempts") || errors.Is(err, bucket.ErrUnsent) || d.Allowed {
			t.Fatalf("got %+v, %v, want an error after 10 attempts and no answer", d, err)
		}
		if between != 10 {
			t.Errorf("somebody came between %d times, want 10", between)
		}
		if left := take(t, other, limit, "k").Remaining; left < 100-12 {
			t.Errorf("%v tokens remain, want at least 88: the caller that was given up on was charged", left)
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
