package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// wholeSeconds reads only the first half of TIME. A second's tokens come all at
// once at its edge, up to R too early, and none before it.
var wholeSeconds = Control{
	Name:        "control/whole-seconds",
	StandsFor:   "time is counted in whole seconds, so a second's tokens are earned all at once at its edge and none before it",
	Threads:     "spring-cloud/spring-cloud-gateway#4027",
	Check:       "over-admission",
	Scenario:    "overload/20-100",
	Time:        bucket.ServerTime,
	Granularity: time.Microsecond,
	State:       hashState,
	UsesCost:    true,
	Expect: map[string]limiterfile.Expectation{
		"over-admission":  limiterfile.Fail,
		"spurious-denial": limiterfile.Any, // before the edge
		"accept-rate":     limiterfile.Any,
		"linearizability": limiterfile.Any, // illegal wherever a decision is wrong
		"fairness":        limiterfile.Any, // too few grants to judge
	},
	file: `name: control-whole-seconds
contract: token-bucket
time: server
granularity: 1us
keys: ["rl:control-whole-seconds:${key}"]
args: [rate, capacity, cost]
reply: {allowed: reply == 1}
state: {tokens: "hash tokens", time: "hash ts"}
source: |
  local rate, capacity, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
  local time = redis.call("TIME")
  local now = tonumber(time[1]) * 1000000 -- the fault: the microseconds are left out
  local stored = redis.call("HMGET", KEYS[1], "tokens", "ts")
  local tokens, ts = tonumber(stored[1]) or capacity, tonumber(stored[2]) or now
  tokens = math.min(capacity, tokens + (now - ts) / 1000000 * rate)
  local allowed = 0
  if tokens >= cost then
    tokens = tokens - cost
    allowed = 1
  end
  redis.call("HSET", KEYS[1], "tokens", tokens, "ts", now)
  redis.call("PEXPIRE", KEYS[1], math.ceil(capacity / rate * 1000))
  return allowed
`,
}
