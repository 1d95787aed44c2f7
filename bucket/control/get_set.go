package control

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
	"bucketproof/bucket/lua"

	"github.com/redis/go-redis/v9"
)

// getSet is the reference without its atomicity: two callers that read the
// same level both take from it, and one of the two writes is lost.
var getSet = Control{
	Name:        "control/get-set",
	StandsFor:   "the level is read, computed and written in separate commands, so callers that read together are all granted from the same tokens",
	Threads:     "Netflix/concurrency-limits#234",
	Check:       "over-admission",
	Scenario:    "atomic-burst",
	Time:        bucket.CallerTime,
	Granularity: time.Millisecond,
	State:       hashState,
	UsesCost:    true,
	Model:       &bucket.RuleAppClock,
	Expect: map[string]limiterfile.Expectation{
		"over-admission":  limiterfile.Fail,
		"spurious-denial": limiterfile.Any, // a late write can put an older, lower level back
		"accept-rate":     limiterfile.Any,
		"state-audit":     limiterfile.Any, // HSET and PEXPIRE of two callers may interleave
		"linearizability": limiterfile.Any, // illegal wherever over-admission shows
		"fairness":        limiterfile.Any,
	},
	open: func(c redis.UniversalClient) (bucket.Limiter, error) { return &getSetLimiter{client: c}, nil },
	openRepaired: func(c redis.UniversalClient) (bucket.Limiter, error) {
		reference, err := lua.Builtin("app-clock") // the same rule in one script
		if err != nil {
			return nil, err
		}
		return lua.New(reference, c)
	},
}

type getSetLimiter struct{ client lua.Client }

var _ bucket.KeyLister = (*getSetLimiter)(nil)

// Keys returns the one hash that holds r's bucket.
func (g *getSetLimiter) Keys(_ bucket.Limit, r bucket.Request) ([]string, error) {
	return []string{"rl:control-get-set:" + r.Key}, nil
}

// Take reads, computes with the reference's own rule, and writes.
func (g *getSetLimiter) Take(ctx context.Context, l bucket.Limit, r bucket.Request) (bucket.Decision, error) {
	keys, err := g.Keys(l, r)
	if err != nil {
		return bucket.Untold(false), err
	}
	key := keys[0]
	stored, err := g.read(ctx, key)
	if err != nil {
		return bucket.Untold(false), fmt.Errorf("control/get-set: read %s: %w", key, err)
	}
	state, allowed := bucket.RuleAppClock.Take(stored, l, float64(r.Now.UnixMilli()), r.Cost)
	if err := g.write(ctx, key, state, l.TTLMillis()); err != nil {
		return bucket.Untold(false), fmt.Errorf("control/get-set: write %s: %w", key, err)
	}
	return bucket.Untold(allowed), nil
}

func (g *getSetLimiter) read(ctx context.Context, key string) (bucket.State, error) {
	reply, err := lua.Send(ctx, g.client, 1, "hmget", key, "tokens", "ts")
	if err != nil {
		return bucket.State{}, err
	}
	fields, ok := reply.([]any)
	if !ok || len(fields) != 2 {
		return bucket.State{}, fmt.Errorf("HMGET answers %v, want two fields", reply)
	}
	tokens, present := fields[0].(string)
	last, _ := fields[1].(string)
	if !present {
		return bucket.State{}, nil
	}
	s := bucket.State{Exists: true}
	if s.Tokens, err = strconv.ParseFloat(tokens, 64); err != nil {
		return s, fmt.Errorf("stored tokens: %w", err)
	}
	if s.Time, err = strconv.ParseFloat(last, 64); err != nil {
		return s, fmt.Errorf("stored time: %w", err)
	}
	return s, nil
}

// write stores s in two commands. Its errors never claim that nothing was
// sent: the read was, and the first of the two writes may have been.
func (g *getSetLimiter) write(ctx context.Context, key string, s bucket.State, ttl float64) error {
	_, err := lua.Send(ctx, g.client, 1, "hset", key, "tokens", exact(s.Tokens), "ts", exact(s.Time))
	if err == nil {
		_, err = lua.Send(ctx, g.client, 1, "pexpire", key, strconv.FormatFloat(ttl, 'f', -1, 64))
	}
	if errors.Is(err, bucket.ErrUnsent) {
		return fmt.Errorf("%v", err)
	}
	return err
}

// exact formats v so that it reads back as the same double.
func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
