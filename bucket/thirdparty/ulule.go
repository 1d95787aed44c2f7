package thirdparty

import (
	"context"
	"fmt"
	"time"

	"bucketproof/bucket"

	"github.com/redis/go-redis/v9"
	"github.com/ulule/limiter/v3"
	store "github.com/ulule/limiter/v3/drivers/store/redis"
)

// ululeLimiter is ulule/limiter with its Redis store: one script that counts
// requests, denied ones too, in a key that lives as long as a window.
var ululeLimiter = Library{
	Name:        "ulule",
	Module:      "github.com/ulule/limiter/v3",
	Version:     "v3.11.2",
	Algorithm:   "fixed window from the first request on",
	Contract:    bucket.FixedWindow,
	Time:        bucket.ServerTime, // by the key's life
	Granularity: time.Millisecond,
	Costs:       true,
	fits: func(l bucket.Limit) error {
		_, err := ululeRate(l)
		return err
	},
	open: func(c redis.UniversalClient) (bucket.Limiter, error) {
		s, err := store.NewStoreWithOptions(c, limiter.StoreOptions{Prefix: limiter.DefaultPrefix})
		if err != nil {
			return nil, err
		}
		return &ululeTaker{prefixed: limiter.DefaultPrefix + ":", store: s}, nil
	},
}

// ululeRate expresses a limit: as many requests as the bucket holds, in as long
// as it takes to fill.
func ululeRate(l bucket.Limit) (limiter.Rate, error) {
	requests, err := wholeTokens(l.Capacity)
	if err != nil {
		return limiter.Rate{}, err
	}
	period, err := window(l, time.Millisecond)
	if err != nil {
		return limiter.Rate{}, err
	}
	return limiter.Rate{Period: period, Limit: int64(requests)}, nil
}

type ululeTaker struct {
	prefixed
	store limiter.Store
}

var _ bucket.KeyLister = (*ululeTaker)(nil)

// Take asks Increment, one script call. When to retry is not told: Reset is the
// end of the window cut to a whole second, for a header.
func (l *ululeTaker) Take(ctx context.Context, limit bucket.Limit, r bucket.Request) (bucket.Decision, error) {
	rate, err := ululeRate(limit)
	if err != nil {
		return bucket.Untold(false), fmt.Errorf("ulule: %w: %w", bucket.ErrLimit, err)
	}
	cost, err := wholeCost(r)
	if err != nil {
		return bucket.Untold(false), fmt.Errorf("ulule: %w", err)
	}
	return ask(ctx, func(ctx context.Context) (bucket.Decision, error) {
		res, err := limiter.New(l.store, rate).Increment(ctx, r.Key, int64(cost))
		if err != nil {
			return bucket.Decision{}, fmt.Errorf("ulule: %w", err)
		}
		return bucket.Decision{Allowed: !res.Reached, Remaining: float64(res.Remaining), RetryAfter: -1}, nil
	})
}
