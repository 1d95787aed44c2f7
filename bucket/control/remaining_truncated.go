package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// remainingTruncated lets its caller decide by the level after charging. Lua
// numbers lose their fraction on the way out, towards 0: a request that finds
// half a token reads −0.5 as 0, is granted, and was not charged.
var remainingTruncated = Control{
	Name:        "control/remaining-truncated",
	StandsFor:   "the script returns the level after charging, −0.5 arrives as 0, and the caller takes 0 or more for a grant",
	Threads:     "WeTransfer/prorate#40",
	Check:       "over-admission",
	Scenario:    "slow-rate",
	Time:        bucket.ServerTime,
	Granularity: time.Microsecond,
	State:       hashState,
	UsesCost:    true,
	Expect: map[string]limiterfile.Expectation{
		"over-admission":  limiterfile.Fail,
		"accept-rate":     limiterfile.Any,
		"linearizability": limiterfile.Any, // illegal wherever a decision is wrong
	},
	file: `name: control-remaining-truncated
contract: token-bucket
time: server
granularity: 1us
keys: ["rl:control-remaining-truncated:${key}"]
args: [rate, capacity, cost]
reply: {allowed: reply >= 0}
state: {tokens: "hash tokens", time: "hash ts"}
source: |
  local rate, capacity, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
  local time = redis.call("TIME")
  local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
  local stored = redis.call("HMGET", KEYS[1], "tokens", "ts")
  local tokens, ts = tonumber(stored[1]) or capacity, tonumber(stored[2]) or now
  tokens = math.min(capacity, tokens + (now - ts) / 1000000 * rate)
  local left = tokens - cost
  if left >= 0 then tokens = left end
  redis.call("HSET", KEYS[1], "tokens", tokens, "ts", now)
  redis.call("PEXPIRE", KEYS[1], math.ceil(capacity / rate * 1000))
  return left -- the fault: cut towards 0
`,
}
