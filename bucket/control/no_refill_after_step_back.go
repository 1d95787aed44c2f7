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
	Expect: map[string]limiterfile.Expectation{
		"spurious-denial": limiterfile.Fail,
		"over-admission":  limiterfile.Any, // as for any limiter on callers' clocks
		"accept-rate":     limiterfile.Any,
		"state-audit":     limiterfile.Any,
		"linearizability": limiterfile.Any, // illegal wherever a decision is wrong
		"fairness":        limiterfile.Any,
	},
	file: `name: control-no-refill-after-step-back
contract: token-bucket
time: caller
granularity: 1ms
keys: ["rl:control-no-refill-after-step-back:${key}"]
args: [rate, capacity, now_ms, cost]
reply: {allowed: reply == 1}
state: {tokens: "hash tokens", time: "hash ts"}
source: |
  local rate, capacity = tonumber(ARGV[1]), tonumber(ARGV[2])
  local now, cost = tonumber(ARGV[3]), tonumber(ARGV[4])
  local stored = redis.call("HMGET", KEYS[1], "tokens", "ts")
  local tokens, ts = tonumber(stored[1]) or capacity, tonumber(stored[2]) or now
  if now > ts then -- the fault: never true until the clock has caught up
    tokens = math.min(capacity, tokens + (now - ts) / 1000 * rate)
    ts = now
  end
  local allowed = 0
  if tokens >= cost then
    tokens = tokens - cost
    allowed = 1
  end
  redis.call("HSET", KEYS[1], "tokens", tokens, "ts", ts)
  redis.call("PEXPIRE", KEYS[1], math.ceil(capacity / rate * 1000))
  return allowed
`,
}
