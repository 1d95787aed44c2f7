package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// ttlZero gives the key twice the fill time, in whole seconds: enough for any
// bucket that takes at least half a second to fill, and 0 for a smaller one.
// EXPIRE with 0 deletes the key.
var ttlZero = Control{
	Name:        "control/ttl-zero",
	StandsFor:   "the life in whole seconds rounds to 0 for a bucket that fills quickly, which deletes the key: nothing is stored and all is granted",
	Threads:     "spring-cloud/spring-cloud-gateway#2453",
	Check:       "over-admission",
	Scenario:    "idle-burst-short",
	Time:        bucket.ServerTime,
	Granularity: time.Microsecond,
	State:       hashState,
	UsesCost:    true,
	Expect: map[string]limiterfile.Expectation{
		"over-admission":  limiterfile.Fail,
		"accept-rate":     limiterfile.Any,
		"state-audit":     limiterfile.Any, // nothing is stored
		"linearizability": limiterfile.Any, // illegal wherever a decision is wrong
	},
	file: `name: control-ttl-zero
contract: token-bucket
time: server
granularity: 1us
keys: ["rl:control-ttl-zero:${key}"]
args: [rate, capacity, cost]
reply: {allowed: reply == 1}
state: {tokens: "hash tokens", time: "hash ts"}
source: |
  local rate, capacity, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
  local time = redis.call("TIME")
  local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
  local stored = redis.call("HMGET", KEYS[1], "tokens", "ts")
  local tokens, ts = tonumber(stored[1]) or capacity, tonumber(stored[2]) or now
  tokens = math.min(capacity, tokens + (now - ts) / 1000000 * rate)
  local allowed = 0
  if tokens >= cost then
    tokens = tokens - cost
    allowed = 1
  end
  redis.call("HSET", KEYS[1], "tokens", tokens, "ts", now)
  redis.call("EXPIRE", KEYS[1], math.floor(2 * capacity / rate)) -- the fault: may be 0
  return allowed
`,
}
