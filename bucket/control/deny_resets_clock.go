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
	file: `name: control-deny-resets-clock
contract: token-bucket
time: server
granularity: 1us
keys: ["rl:control-deny-resets-clock:${key}"]
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
    redis.call("HSET", KEYS[1], "tokens", tokens - cost)
    allowed = 1
  end -- the fault: a denial stores no tokens, but its time
  redis.call("HSET", KEYS[1], "ts", now)
  redis.call("PEXPIRE", KEYS[1], math.ceil(capacity / rate * 1000))
  return allowed
`,
}
