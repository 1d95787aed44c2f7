package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// denyCharged takes the tokens first and looks afterwards. The level sinks
// below 0, by a large cost so far that the key is locked for days: its life
// follows the debt.
var denyCharged = Control{
	Name:        "control/deny-charged",
	StandsFor:   "a denied request is charged all the same, so the stored level sinks below 0 and the refill has to pay for what nobody got",
	Threads:     "upstash/ratelimit-js#156",
	Check:       "spurious-denial",
	Scenario:    "overload/100-50",
	Time:        bucket.ServerTime,
	Granularity: time.Microsecond,
	State:       hashState,
	UsesCost:    true,
	Expect: map[string]limiterfile.Expectation{
		"spurious-denial": limiterfile.Fail,
		"accept-rate":     limiterfile.Any,
		"state-audit":     limiterfile.Any, // the level sinks below 0
		"linearizability": limiterfile.Any, // illegal wherever a decision is wrong
		"fairness":        limiterfile.Any, // too few grants to judge
	},
	fault: lines{
		take: `
tokens = tokens - cost -- the fault: also when there are not enough
local allowed = 0
if tokens >= 0 then allowed = 1 end`,
		life: `redis.call("PEXPIRE", KEYS[1], math.ceil((capacity - tokens) / rate * 1000)) -- until it is full`,
	},
}
