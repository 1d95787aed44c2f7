package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// denyResetsClock forgets at every denial what was earned since the last
// request: a caller that asks again before a whole token is earned never gets
// one.
var denyResetsClock = Control{
	Name:        "control/deny-resets-clock",
	StandsFor:   "a denial moves the stored time to now without storing what was earned until then, so an impatient caller never gets in",
	Threads:     "spring-cloud/spring-cloud-gateway#591, svix/diom#115",
	Check:       "spurious-denial",
	Scenario:    "poll/20-1",
	Time:        bucket.ServerTime,
	Granularity: time.Microsecond,
	State:       hashState,
	UsesCost:    true,
	Expect: map[string]limiterfile.Expectation{
		"spurious-denial": limiterfile.Fail,
		"accept-rate":     limiterfile.Any,
		"linearizability": limiterfile.Any, // illegal wherever a decision is wrong
		"fairness":        limiterfile.Any, // too few grants to judge
	},
	fault: lines{
		take: `
local allowed = 0
if tokens >= cost then
  redis.call("HSET", KEYS[1], "tokens", tokens - cost)
  allowed = 1
end -- the fault: a denial stores no tokens, but its time`,
		store: `redis.call("HSET", KEYS[1], "ts", now)`,
	},
}
