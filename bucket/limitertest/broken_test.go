package limitertest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"bucketproof/bucket"
)

// broken are limiters with one fault each, and the case that must find it.
var broken = []struct {
	name, caughtBy string
	open           func(good bucket.Limiter) bucket.Limiter
}{
	{"one token more", "starts full", func(l bucket.Limiter) bucket.Limiter {
		return with(func(ctx context.Context, limit bucket.Limit, r bucket.Request) (bucket.Decision, error) {
			limit.Capacity++
			return l.Take(ctx, limit, r)
		})
	}},
	{"one token less", "starts full", func(l bucket.Limiter) bucket.Limiter {
		return with(func(ctx context.Context, limit bucket.Limit, r bucket.Request) (bucket.Decision, error) {
			limit.Capacity--
			return l.Take(ctx, limit, r)
		})
	}},
	{"a third of the rate", "denies, then refills", func(l bucket.Limiter) bucket.Limiter {
		return with(func(ctx context.Context, limit bucket.Limit, r bucket.Request) (bucket.Decision, error) {
			limit.Rate /= 3
			d, err := l.Take(ctx, limit, r)
			return bucket.Untold(d.Allowed), err
		})
	}},
	{"a hint too short", "denies, then refills", func(l bucket.Limiter) bucket.Limiter {
		return with(func(ctx context.Context, limit bucket.Limit, r bucket.Request) (bucket.Decision, error) {
			d, err := l.Take(ctx, limit, r)
			d.RetryAfter /= 4
			return d, err
		})
	}},
	{"fills beyond", "fills to the capacity, not beyond", func(l bucket.Limiter) bucket.Limiter {
		used := map[string]bool{}
		return with(func(ctx context.Context, limit bucket.Limit, r bucket.Request) (bucket.Decision, error) {
			d, err := l.Take(ctx, limit, r)
			if !d.Allowed {
				used[r.Key] = true
			}
			if used[r.Key] && d.Remaining >= limit.Capacity-1.5 {
				_, err = l.Take(ctx, limit, bucket.Request{Key: r.Key, Cost: -5}) // a gift
			}
			return bucket.Untold(d.Allowed), err
		})
	}},
	{"one bucket for all", "keys are independent", func(l bucket.Limiter) bucket.Limiter {
		return with(func(ctx context.Context, limit bucket.Limit, r bucket.Request) (bucket.Decision, error) {
			r.Key = "all"
			return l.Take(ctx, limit, r)
		})
	}},
	{"a denial is charged", "costs", func(l bucket.Limiter) bucket.Limiter {
		return with(func(ctx context.Context, limit bucket.Limit, r bucket.Request) (bucket.Decision, error) {
			d, err := l.Take(ctx, limit, r)
			if !d.Allowed {
				r.Cost = d.Remaining
				_, err = l.Take(ctx, limit, r)
			}
			return d, err
		})
	}},
	{"every cost is 1", "costs", func(l bucket.Limiter) bucket.Limiter {
		return with(func(ctx context.Context, limit bucket.Limit, r bucket.Request) (bucket.Decision, error) {
			r.Cost = 1
			return l.Take(ctx, limit, r)
		})
	}},
	{"an error is a denial", "a cancelled context is no denial", func(l bucket.Limiter) bucket.Limiter {
		return with(func(ctx context.Context, limit bucket.Limit, r bucket.Request) (bucket.Decision, error) {
			if ctx.Err() != nil {
				return bucket.Untold(false), nil
			}
			return l.Take(ctx, limit, r)
		})
	}},
	{"an unsent request is charged", "a cancelled context is no denial", func(l bucket.Limiter) bucket.Limiter {
		return with(func(ctx context.Context, limit bucket.Limit, r bucket.Request) (bucket.Decision, error) {
			d, err := l.Take(context.WithoutCancel(ctx), limit, r)
			if ctx.Err() != nil {
				return bucket.Untold(false), fmt.Errorf("%w: %w", bucket.ErrUnsent, ctx.Err())
			}
			return d, err
		})
	}},
	{"read, then write", "concurrent callers", func(bucket.Limiter) bucket.Limiter {
		var mu sync.Mutex
		levels := map[string]float64{}
		return with(func(_ context.Context, limit bucket.Limit, r bucket.Request) (bucket.Decision, error) {
			mu.Lock()
			used := levels[r.Key]
			mu.Unlock()
			time.Sleep(time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			if used+r.Cost > limit.Capacity {
				return bucket.Untold(false), nil
			}
			levels[r.Key] = used + r.Cost
			return bucket.Untold(true), nil
		})
	}},
	{"no key", "lists its keys", func(l bucket.Limiter) bucket.Limiter { return listing{l, nil} }},
	{"one key for all", "lists its keys", func(l bucket.Limiter) bucket.Limiter { return listing{l, []string{"all"}} }},
}

func TestTheSuiteCatchesWhatIsBroken(t *testing.T) {
	for _, b := range broken {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			o := Options{Costs: true, Granularity: time.Microsecond}.withDefaults()
			for i, c := range cases(o) {
				if c.name != b.caughtBy {
					continue
				}
				start := time.Now()
				good := bucket.NewMemory(func() time.Duration { return time.Since(start) })
				r := &recorder{TB: t}
				r.do(func() { c.run(newSuite(r, b.open(good), o, i)) })
				if len(r.failures) == 0 && !r.skipped {
					t.Errorf("%q did not catch it", c.name)
				}
				return
			}
			t.Errorf("no case %q", b.caughtBy)
		})
	}
}

// with is a limiter that is one function.
type with func(context.Context, bucket.Limit, bucket.Request) (bucket.Decision, error)

func (w with) Take(ctx context.Context, l bucket.Limit, r bucket.Request) (bucket.Decision, error) {
	return w(ctx, l, r)
}

// listing is a limiter that names keys.
type listing struct {
	bucket.Limiter
	keys []string
}

func (l listing) Keys(bucket.Limit, bucket.Request) ([]string, error) {
	if l.keys == nil {
		return nil, errors.New("unknown")
	}
	return l.keys, nil
}

// recorder is a test whose failures are the point.
type recorder struct {
	testing.TB
	mu       sync.Mutex
	failures []string
	skipped  bool
}

// do runs f to its end, which Fatalf and Skip bring about early.
func (r *recorder) do(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Error(args ...any) { r.Errorf("%s", fmt.Sprint(args...)) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skip(...any) {
	r.skipped = true
	runtime.Goexit()
}
