package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// lateCommand keeps level and time in two keys and needs no skew at all: one
// command that waited on its way puts the older time back, and the stretch
// since then is earned twice. With the clamp that is minting; without it (the
// reference) only the late call itself is denied.
var lateCommand = Control{
	Name:        "control/late-command",
	StandsFor:   "a command that was held up on its way stores the older time it was sent with, so what was earned since then is earned once more",
	Threads:     "zeromicro/go-zero#4072",
	Check:       "over-admission",
	Scenario:    "late-calls/3",
	Time:        bucket.CallerTime,
	Granularity: time.Millisecond,
	State:       &limiterfile.StateFields{Tokens: limiterfile.StateField{String: true}},
	UsesCost:    true,
	Expect: map[string]limiterfile.Expectation{
		"over-admission":  limiterfile.Fail,
		"spurious-denial": limiterfile.Any, // as for any limiter on callers' clocks
		"accept-rate":     limiterfile.Any,
		"state-audit":     limiterfile.Any,
		"fairness":        limiterfile.Any,
		"linearizability": limiterfile.Any, // illegal wherever a decision is wrong
	},
	own: lines{
		keys: `"rl:NAME:{${key}}:tokens", "rl:NAME:{${key}}:ts"`,
		read: `
local tokens = tonumber(redis.call("GET", KEYS[1])) or capacity
local ts = tonumber(redis.call("GET", KEYS[2])) or now`,
		refill: clamped,
		life:   `for _, key in ipairs(KEYS) do redis.call("PEXPIRE", key, math.ceil(capacity / rate * 1000)) end`,
	},
	fault: lines{store: `
redis.call("SET", KEYS[1], tokens)
redis.call("SET", KEYS[2], now) -- the fault: a late now lies before ts`,
	},
	repair: lines{store: `
redis.call("SET", KEYS[1], tokens)
redis.call("SET", KEYS[2], math.max(now, ts))`,
	},
}
