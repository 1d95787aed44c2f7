package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// olderNowWritten is the common "fix" for clocks that disagree, worse than the
// disease: with callers a spread S apart, a fast call earns R·S again each time
// that a slow call has put the older time back.
var olderNowWritten = Control{
	Name:        "control/older-now-written",
	StandsFor:   "a negative elapsed time is clamped to 0 but the older time is stored, so every turn from a fast to a slow to a fast clock mints tokens",
	Threads:     "spring-cloud/spring-cloud-gateway#2412, spring-cloud/spring-cloud-gateway#1688, tikv/pd#10744",
	Check:       "over-admission",
	Scenario:    "skew-mixed/4",
	Time:        bucket.CallerTime,
	Granularity: time.Millisecond,
	State:       hashState,
	UsesCost:    true,
	Expect: map[string]limiterfile.Expectation{
		"over-admission":  limiterfile.Fail,
		"spurious-denial": limiterfile.Any, // as for any limiter on callers' clocks
		"accept-rate":     limiterfile.Any,
		"state-audit":     limiterfile.Any,
		"linearizability": limiterfile.Any, // illegal wherever over-admission shows
		"fairness":        limiterfile.Any,
	},
	own:    lines{refill: clamped},
	fault:  lines{store: `redis.call("HSET", KEYS[1], "tokens", tokens, "ts", now) -- the fault: now may lie before ts`},
	repair: lines{store: `redis.call("HSET", KEYS[1], "tokens", tokens, "ts", math.max(now, ts))`},
}

// clamped is a refill that takes nothing back when a caller is behind.
const clamped = `
local elapsed = math.max(0, now - ts) -- the clamp
tokens = math.min(capacity, tokens + elapsed / 1000 * rate)`
