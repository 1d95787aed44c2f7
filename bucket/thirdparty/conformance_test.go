package thirdparty

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
	"bucketproof/bucket/limitertest"

	"github.com/redis/go-redis/v9"
)

// TestConformance: what promises a token bucket is one, as far as callers in
// good order can tell.
func TestConformance(t *testing.T) {
	for _, l := range All() {
		if l.Contract != bucket.TokenBucket {
			continue
		}
		t.Run(l.Name, func(t *testing.T) {
			backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
				limitertest.Run(t, func(t *testing.T) bucket.Limiter { return open(t, l, r) },
					limitertest.Options{Costs: l.Costs, Granularity: l.Granularity})
			})
		})
	}
}

// TestWindows: what promises a window grants its limit, no more, and as much
// again when it is over.
func TestWindows(t *testing.T) {
	limit := bucket.Limit{Rate: 5, Capacity: 5} // 5 in 1 s
	for _, l := range All() {
		if l.Contract != bucket.FixedWindow {
			continue
		}
		t.Run(l.Name, func(t *testing.T) {
			backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
				limiter := open(t, l, r)
				for range 2 {
					began := wait(t, limiter, limit, "a")
					granted := 1
					for range 12 {
						if take(t, limiter, limit, "a").Allowed {
							granted++
						}
					}
					windows := 1 + int(time.Since(began)/time.Second)
					if l.Time == bucket.ProcessTime { // and whole seconds: one may end at once
						windows++
					}
					if granted < 5 || granted > 5*windows {
						t.Errorf("granted %d of 13 in at most %d windows of 5", granted, windows)
					}
				}
				if !take(t, limiter, limit, "b").Allowed {
					t.Error("denied in another bucket's window")
				}
			})
		})
	}
}

// TestCertainty: an error says that nothing was sent where that is sure, and
// nowhere else. Fiber keeps its storage's errors to itself.
func TestCertainty(t *testing.T) {
	limit := bucket.Limit{Rate: 50, Capacity: 50}
	for _, l := range All() {
		t.Run(l.Name, func(t *testing.T) {
			r := backendtest.Embedded(t)
			client := r.NewClient("certainty")
			limiter, err := l.Open(client)
			if err != nil {
				t.Fatal(err)
			}
			take(t, limiter, limit, "a")

			gone, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := limiter.Take(gone, limit, request("a", 1)); !errors.Is(err, bucket.ErrUnsent) {
				t.Errorf("a caller that has given up gets %v, want bucket.ErrUnsent", err)
			}
			if _, err := limiter.Take(t.Context(), bucket.Limit{Rate: 1, Capacity: 1.5}, request("a", 1)); !errors.Is(err, bucket.ErrLimit) {
				t.Errorf("half a token gets %v, want bucket.ErrLimit", err)
			}
			if _, err := limiter.Take(t.Context(), limit, request("a", 0.5)); !errors.Is(err, bucket.ErrUnsent) {
				t.Errorf("a cost of half a token gets %v, want bucket.ErrUnsent", err)
			}
			if l.Name == fiberLimiter.Name {
				return
			}
			if err := r.Pause(t.Context(), 500*time.Millisecond); err != nil {
				t.Fatal(err)
			}
			hasty, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if _, err := limiter.Take(hasty, limit, request("a", 1)); err == nil || errors.Is(err, bucket.ErrUnsent) {
				t.Errorf("a request that Redis took and did not answer gets %v, want an unknown outcome", err)
			}
			if err := client.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := limiter.Take(t.Context(), limit, request("a", 1)); !errors.Is(err, bucket.ErrUnsent) {
				t.Errorf("without a connection it gets %v, want bucket.ErrUnsent", err)
			}
		})
	}
}

// open opens a library on a client of its own.
func open(t *testing.T, l Library, r *backend.Redis) bucket.Limiter {
	t.Helper()
	return openOn(t, l, newClient(t, r))
}

func newClient(t *testing.T, r *backend.Redis) redis.UniversalClient {
	t.Helper()
	c := r.NewClient(t.Name())
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func openOn(t *testing.T, l Library, c redis.UniversalClient) bucket.Limiter {
	t.Helper()
	limiter, err := l.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return limiter
}

func request(key string, cost float64) bucket.Request {
	return bucket.Request{ID: "r", Key: key, Instance: "test", Cost: cost, Now: time.Now()}
}

func take(t *testing.T, l bucket.Limiter, limit bucket.Limit, key string) bucket.Decision {
	t.Helper()
	d, err := l.Take(t.Context(), limit, request(key, 1))
	if err != nil {
		t.Fatal(fmt.Errorf("take of %s: %w", key, err))
	}
	return d
}

// wait asks until it is granted, and returns when it asked for that.
func wait(t *testing.T, l bucket.Limiter, limit bucket.Limit, key string) time.Time {
	t.Helper()
	for {
		asked := time.Now()
		if take(t, l, limit, key).Allowed {
			return asked
		}
		time.Sleep(20 * time.Millisecond)
	}
}
