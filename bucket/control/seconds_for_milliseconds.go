package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// secondsForMilliseconds multiplies milliseconds with a rate a second.
var secondsForMilliseconds = Control{
	Name:        "control/seconds-for-milliseconds",
	StandsFor:   "the elapsed time is in milliseconds and the rate in tokens a second, so the bucket fills a thousand times too fast",
	Threads:     "lucia-auth/lucia#1778",
	Check:       "over-admission",
	Scenario:    "overload/100-50",
	Time:        bucket.ServerTime,
	Granularity: time.Microsecond,
	State:       hashState,
	UsesCost:    true,
	Expect: map[string]limiterfile.Expectation{
		"over-admission":  limiterfile.Fail,
		"accept-rate":     limiterfile.Any,
		"linearizability": limiterfile.Any, // illegal wherever a decision is wrong
	},
	file: `name: control-seconds-for-milliseconds
contract: token-bucket
time: server
granularity: 1us
keys: ["rl:control-seconds-for-milliseconds:${key}"]
args: [rate, capacity, cost]
reply: {allowed: reply == 1}
state: {tokens: "hash tokens", time: "hash ts"}
source: |
  local rate, capacity, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
  local time = redis.call("TIME")
  local now = tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000 -- milliseconds
  local stored = redis.call("HMGET", KEYS[1], "tokens", "ts")
  local tokens, ts = tonumber(stored[1]) or capacity, tonumber(stored[2]) or now
  tokens = math.min(capacity, tokens + (now - ts) * rate) -- the fault: a thousandfold
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
