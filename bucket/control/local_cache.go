package control

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
	"bucketproof/bucket/lua"

	"github.com/redis/go-redis/v9"
)

// localCache asks Redis once in a while and grants from what it was told until
// then. Each of n instances believes that it has the whole level to itself, so
// up to (n − 1)·min(level, localCacheBatch) tokens are granted that are not
// there; what was granted is charged at the next turn, when it is too late.
var localCache = Control{
	Name:        "control/local-cache",
	StandsFor:   "each instance grants from its own copy of the level and settles with Redis only after a batch, so the excess grows with the number of instances",
	Threads:     "gubernator-io/gubernator (behaviour GLOBAL)",
	Check:       "over-admission",
	Scenario:    "overload/33.3-7.5",
	Time:        bucket.ServerTime,
	Granularity: time.Microsecond,
	State:       hashState,
	UsesCost:    true,
	Expect: map[string]limiterfile.Expectation{
		"over-admission":  limiterfile.Fail,
		"spurious-denial": limiterfile.Any, // a late charge takes what was earned since
		"accept-rate":     limiterfile.Any,
		"state-audit":     limiterfile.Any, // the level sinks below 0 when batches are settled
		"linearizability": limiterfile.Any, // illegal wherever over-admission shows
		"fairness":        limiterfile.Any,
	},
	open:         openLocalCache(localCacheBatch),
	openRepaired: openLocalCache(0),
}

// openLocalCache opens instances that grant so many tokens between two turns; 0:
// every request asks.
func openLocalCache(batch float64) func(redis.UniversalClient) (bucket.Limiter, error) {
	return func(c redis.UniversalClient) (bucket.Limiter, error) {
		return &localCacheLimiter{client: c, batch: batch, copies: make(map[string]*levelCopy)}, nil
	}
}

// localCacheBatch is how many tokens an instance grants between two turns.
const localCacheBatch = 20

// settle charges what an instance granted since its last turn, takes cost if it
// is there, and returns whether it was, and the level as text for its fraction.
const settle = `
local rate, capacity = tonumber(ARGV[1]), tonumber(ARGV[2])
local cost, spent = tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local stored = redis.call("HMGET", KEYS[1], "tokens", "ts")
local tokens, ts = tonumber(stored[1]) or capacity, tonumber(stored[2]) or now
tokens = math.min(capacity, tokens + (now - ts) / 1000000 * rate) - spent
local allowed = 0
if tokens >= cost then
  tokens = tokens - cost
  allowed = 1
end
redis.call("HSET", KEYS[1], "tokens", tokens, "ts", now)
redis.call("PEXPIRE", KEYS[1], math.ceil((capacity - tokens) / rate * 1000))
return {allowed, string.format("%.9f", tokens)}
`

// localCacheLimiter is one instance's limiter. The mutex is held while Redis is
// asked, as a cache does that lets only one caller through to fill it.
type localCacheLimiter struct {
	client lua.Client
	batch  float64 // tokens granted without asking; 0: every request asks

	mu     sync.Mutex
	copies map[string]*levelCopy
}

// levelCopy is what an instance believes of a bucket.
type levelCopy struct {
	level float64 // as told at the last turn, less what was granted since
	spent float64 // granted since, not charged yet
}

var _ bucket.KeyLister = (*localCacheLimiter)(nil)

// Keys returns the one hash that holds r's bucket.
func (c *localCacheLimiter) Keys(_ bucket.Limit, r bucket.Request) ([]string, error) {
	return []string{"rl:control-local-cache:" + r.Key}, nil
}

// Take grants from the instance's copy while the batch lasts, and asks Redis
// for the rest.
func (c *localCacheLimiter) Take(ctx context.Context, l bucket.Limit, r bucket.Request) (bucket.Decision, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.copies[r.Key]
	if b == nil {
		b = &levelCopy{}
		c.copies[r.Key] = b
	}
	if b.level >= r.Cost && b.spent+r.Cost <= c.batch { // the fault: others have the same copy
		b.level -= r.Cost
		b.spent += r.Cost
		return bucket.Untold(true), nil
	}
	allowed, err := c.turn(ctx, l, r, b)
	if err != nil {
		return bucket.Untold(false), fmt.Errorf("control/local-cache: %w", err)
	}
	return bucket.Untold(allowed), nil
}

// turn settles with Redis and asks for r's tokens.
func (c *localCacheLimiter) turn(ctx context.Context, l bucket.Limit, r bucket.Request, b *levelCopy) (bool, error) {
	keys, err := c.Keys(l, r)
	if err != nil {
		return false, err
	}
	reply, err := lua.Send(ctx, c.client, 3, "eval", settle, 1, keys[0],
		plain(l.Rate), plain(l.Capacity), plain(r.Cost), plain(b.spent))
	if err != nil {
		return false, fmt.Errorf("settle %s: %w", keys[0], err)
	}
	fields, ok := reply.([]any)
	if !ok || len(fields) != 2 {
		return false, fmt.Errorf("settle %s: the script answers %v, want two values", keys[0], reply)
	}
	text, _ := fields[1].(string)
	if b.level, err = strconv.ParseFloat(text, 64); err != nil {
		return false, fmt.Errorf("settle %s: the level: %w", keys[0], err)
	}
	b.spent = 0
	return fields[0] == int64(1), nil
}

// plain formats v for a script: an embedded server reads no 1e+06.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
