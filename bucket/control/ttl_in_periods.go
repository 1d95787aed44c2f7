package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// ttlInPeriods thinks of its rate as tokens a minute. A refill takes some
// minutes, and that number is given to EXPIRE, which counts seconds.
var ttlInPeriods = Control{
	Name:        "control/ttl-in-periods",
	StandsFor:   "the life is the number of periods that a refill takes, given as seconds, so the key dies before the bucket is full and is born again full",
	Threads:     "cristipufu/aspnetcore-redis-rate-limiting#46, upstash/ratelimit-js#50",
	Check:       "over-admission",
	Scenario:    "idle-burst/20-30",
	Time:        bucket.ServerTime,
	Granularity: time.Microsecond,
	State:       hashState,
	UsesCost:    true,
	Expect: map[string]limiterfile.Expectation{
		"over-admission":  limiterfile.Fail,
		"accept-rate":     limiterfile.Any,
		"state-audit":     limiterfile.Any, // the life is too short for the refill
		"linearizability": limiterfile.Any, // illegal wherever a decision is wrong
	},
	fault: lines{life: `
local periods = math.ceil(capacity / (rate * 60)) -- of a minute each
redis.call("EXPIRE", KEYS[1], periods) -- the fault: not seconds`,
	},
}
