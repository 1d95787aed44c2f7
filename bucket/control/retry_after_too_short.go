package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// retryAfterTooShort decides rightly. A caller that waits as it is told asks up
// to a second too early and is denied again.
var retryAfterTooShort = Control{
	Name:        "control/retry-after-too-short",
	StandsFor:   "the time to wait is told in whole seconds, rounded down, so that who waits as told is denied again",
	Threads:     "brandur/redis-cell#56, benwis/tower-governor#65",
	Check:       "reply-contract",
	Scenario:    "obey-hint",
	Time:        bucket.ServerTime,
	Granularity: time.Microsecond,
	State:       hashState,
	UsesCost:    true,
	Expect: map[string]limiterfile.Expectation{
		"reply-contract": limiterfile.Fail,
	},
	own: lines{
		reply: `allowed: "reply[0] == 1", retry_after: "reply[1]"`,
		take: `
local allowed, wait = 0, 0
if tokens >= cost then
  tokens = tokens - cost
  allowed = 1
else
  wait = (cost - tokens) / rate
end`,
	},
	fault:  lines{answer: `return {allowed, math.floor(wait)} -- the fault: down, not up`},
	repair: lines{answer: `return {allowed, math.ceil(wait)}`},
}
