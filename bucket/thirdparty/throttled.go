package thirdparty

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"

	"github.com/redis/go-redis/v9"
	"github.com/throttled/throttled/v2"
	store "github.com/throttled/throttled/v2/store/goredisstore.v9"
)

// throttledGCRA is throttled with its store for go-redis v9: GCRA computed in
// the process on Redis TIME, and stored by compare-and-swap.
var throttledGCRA = Library{
	Name:        "throttled",
	Module:      "github.com/throttled/throttled/v2",
	Version:     "v2.15.0",
	Algorithm:   "GCRA by compare-and-swap",
	Contract:    bucket.TokenBucket,
	Time:        bucket.ServerTime,
	Granularity: time.Microsecond,
	Costs:       true,
	Findings: []Finding{
		{
			Check: "over-admission", Expect: limiterfile.Fail, Scenario: "idle-lone",
			Because: "a key's life is cut down to whole seconds (store/goredisstore.v9/goredisstore.go:103), so up to a second's tokens are granted twice: " +
				"the key is forgotten and the bucket born again full before they are earned",
			Threads: "throttled/throttled#27",
		},
		{
			Check: "state-audit", Expect: limiterfile.Fail, Scenario: "idle-lone",
			Because: "a key's life is cut down to whole seconds (store/goredisstore.v9/goredisstore.go:103), and a new key is set without one, " +
				"which a second command gives it (:79 and 91), also when another caller's key was there already and needs a longer one",
			Threads: "throttled/throttled#26, throttled/throttled#27",
		},
		{Check: "accept-rate", Expect: limiterfile.Any, Because: "follows from over-admission"},
		{Check: "reply-contract", Expect: limiterfile.Any, Because: "what remains leaps to the whole bucket when the key is forgotten"},
	},
	fits: func(l bucket.Limit) error {
		_, err := throttledQuota(l)
		return err
	},
	open: func(c redis.UniversalClient) (bucket.Limiter, error) {
		s, err := store.NewCtx(c, throttledPrefix)
		if err != nil {
			return nil, err
		}
		return &throttledLimiter{prefixed: throttledPrefix, store: s}, nil
	},
}

const throttledPrefix = "throttled:"

// throttledQuota expresses a limit. The gap between tokens is a whole number of
// nanoseconds, cut off; the first token of a burst is not part of MaxBurst.
func throttledQuota(l bucket.Limit) (throttled.RateQuota, error) {
	burst, err := wholeTokens(l.Capacity)
	if err != nil {
		return throttled.RateQuota{}, err
	}
	n, period, err := perPeriod(l.Rate)
	if err != nil {
		return throttled.RateQuota{}, err
	}
	switch gap := period / time.Duration(n); {
	case gap == 0:
		return throttled.RateQuota{}, fmt.Errorf("at %v/s tokens are less than a nanosecond apart", l.Rate)
	case float64(gap)*l.Capacity >= math.MaxInt64:
		return throttled.RateQuota{}, fmt.Errorf("a fill time of %v s is more than a time.Duration holds", l.Capacity/l.Rate)
	}
	return throttled.RateQuota{MaxRate: throttled.PerDuration(n, period), MaxBurst: burst - 1}, nil
}

type throttledLimiter struct {
	prefixed
	store *store.GoRedisStore
}

var _ bucket.KeyLister = (*throttledLimiter)(nil)

// Take asks RateLimitCtx, which reads and then stores until nobody came between.
func (l *throttledLimiter) Take(ctx context.Context, limit bucket.Limit, r bucket.Request) (bucket.Decision, error) {
	quota, err := throttledQuota(limit)
	if err != nil {
		return bucket.Untold(false), fmt.Errorf("throttled: %w: %w", bucket.ErrLimit, err)
	}
	cost, err := wholeCost(r)
	if err != nil {
		return bucket.Untold(false), fmt.Errorf("throttled: %w", err)
	}
	limiter, err := throttled.NewGCRARateLimiterCtx(&patient{GCRAStoreCtx: l.store}, quota) // keeps nothing between calls
	if err != nil {
		return bucket.Untold(false), fmt.Errorf("throttled: %w: %w", bucket.ErrLimit, err)
	}
	limiter.SetMaxCASAttemptsLimit(math.MaxInt)
	return ask(ctx, func(ctx context.Context) (bucket.Decision, error) {
		limited, res, err := limiter.RateLimitCtx(ctx, r.Key, cost)
		if err != nil {
			return bucket.Decision{}, fmt.Errorf("throttled: %w", err)
		}
		return bucket.Decision{Allowed: !limited, Remaining: float64(res.Remaining), RetryAfter: res.RetryAfter}, nil
	})
}

// patient is the store of one call. It waits at random after each time that
// others came between the call's reading and its storing, twice as long each
// time. The library waits for nothing and gives up the tenth time with an error
// (rate.go:12 and 259, throttled/throttled#41 and #91), which is no answer: on
// one key most calls of a burst would end like that, and spin until they do.
type patient struct {
	throttled.GCRAStoreCtx
	lost int
}

// Waits begin below a millisecond and end at a second.
const (
	shortestWait = time.Millisecond
	mostDoubled  = 10
)

// SetIfNotExistsWithTTL is the store's.
func (p *patient) SetIfNotExistsWithTTL(ctx context.Context, key string, value int64, ttl time.Duration) (bool, error) {
	stored, err := p.GCRAStoreCtx.SetIfNotExistsWithTTL(ctx, key, value, ttl)
	return p.waited(ctx, stored, err)
}

// CompareAndSwapWithTTL is the store's.
func (p *patient) CompareAndSwapWithTTL(ctx context.Context, key string, old, value int64, ttl time.Duration) (bool, error) {
	stored, err := p.GCRAStoreCtx.CompareAndSwapWithTTL(ctx, key, old, value, ttl)
	return p.waited(ctx, stored, err)
}

func (p *patient) waited(ctx context.Context, stored bool, err error) (bool, error) {
	if stored || err != nil {
		return stored, err
	}
	most := shortestWait << min(p.lost, mostDoubled)
	p.lost++
	pause := time.NewTimer(rand.N(most))
	defer pause.Stop()
	select {
	case <-pause.C:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}
