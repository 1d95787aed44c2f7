package thirdparty

import (
	"context"
	"fmt"
	"time"

	"bucketproof/bucket"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
)

// redisRate is the limiter of the people behind go-redis: one script, GCRA on
// Redis TIME, a theoretical arrival time in seconds since 2017 as a double.
var redisRate = Library{
	Name:        "redis_rate",
	Module:      "github.com/go-redis/redis_rate/v10",
	Version:     "v10.0.1",
	Algorithm:   "GCRA",
	Contract:    bucket.TokenBucket,
	Time:        bucket.ServerTime,
	Granularity: time.Microsecond,
	Costs:       true,
	fits: func(l bucket.Limit) error {
		_, err := redisRateLimit(l)
		return err
	},
	open: func(c redis.UniversalClient) (bucket.Limiter, error) {
		return &redisRateLimiter{prefixed: "rate:", limiter: redis_rate.NewLimiter(c)}, nil
	},
}

func redisRateLimit(l bucket.Limit) (redis_rate.Limit, error) {
	burst, err := wholeTokens(l.Capacity)
	if err != nil {
		return redis_rate.Limit{}, err
	}
	n, period, err := perPeriod(l.Rate)
	if err != nil {
		return redis_rate.Limit{}, err
	}
	return redis_rate.Limit{Rate: n, Period: period, Burst: burst}, nil
}

type redisRateLimiter struct {
	prefixed
	limiter *redis_rate.Limiter
}

var _ bucket.KeyLister = (*redisRateLimiter)(nil)

// Take asks AllowN, one script call.
func (l *redisRateLimiter) Take(ctx context.Context, limit bucket.Limit, r bucket.Request) (bucket.Decision, error) {
	own, err := redisRateLimit(limit)
	if err != nil {
		return bucket.Untold(false), fmt.Errorf("redis_rate: %w: %w", bucket.ErrLimit, err)
	}
	cost, err := wholeCost(r)
	if err != nil {
		return bucket.Untold(false), fmt.Errorf("redis_rate: %w", err)
	}
	return ask(ctx, func(ctx context.Context) (bucket.Decision, error) {
		res, err := l.limiter.AllowN(ctx, r.Key, own, cost)
		if err != nil {
			return bucket.Decision{}, fmt.Errorf("redis_rate: %w", err)
		}
		return bucket.Decision{Allowed: res.Allowed > 0, Remaining: float64(res.Remaining), RetryAfter: res.RetryAfter}, nil
	})
}
