package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// noRefillAfterStepBack refills only when its clock is ahead of the stored one.
// That is right against callers that disagree, but after the clock itself went
// back by S nobody earns anything for S.
var noRefillAfterStepBack = Control{
	Name:        "control/no-refill-after-step-back",
	StandsFor:   "the refill waits for the clock to pass the stored time, so after the clock went back nothing is earned until it has caught up",
	Threads:     "sethvargo/go-limiter#41",
	Check:       "spurious-denial",
	Scenario:    "step-back",
	Time:        bucket.CallerTime,
	Granularity: time.Millisecond,
	State:       hashState,
	UsesCost:    true,
	ByClocks:    true,
	Expect: map[string]limiterfile.Expectation{
		"spurious-denial": limiterfile.Fail,
		"over-admission":  limiterfile.Any, // as for any limiter on callers' clocks
		"accept-rate":     limiterfile.Any,
		"state-audit":     limiterfile.Any,
		"linearizability": limiterfile.Any, // illegal wherever a decision is wrong
		"fairness":        limiterfile.Any,
	},
	fault: lines{
		refill: `
if now > ts then -- the fault: never true until the clock has caught up
  tokens = math.min(capacity, tokens + (now - ts) / 1000 * rate)
  ts = now
end`,
		store: `redis.call("HSET", KEYS[1], "tokens", tokens, "ts", ts)`,
	},
	repair: lines{ // by the clock of which there is only one
		clock:  serverMillis,
		refill: `tokens = math.min(capacity, tokens + (now - ts) / 1000 * rate)`,
	},
}
