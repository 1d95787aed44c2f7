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
	file: `name: control-retry-after-too-short
contract: token-bucket
time: server
granularity: 1us
keys: ["rl:control-retry-after-too-short:${key}"]
args: [rate, capacity, cost]
reply: {allowed: "reply[0] == 1", retry_after: "reply[1]"}
state: {tokens: "hash tokens", time: "hash ts"}
source: |
  local rate, capacity, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
  local time = redis.call("TIME")
  local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
  local stored = redis.call("HMGET", KEYS[1], "tokens", "ts")
  local tokens, ts = tonumber(stored[1]) or capacity, tonumber(stored[2]) or now
  tokens = math.min(capacity, tokens + (now - ts) / 1000000 * rate)
  local allowed, wait = 0, 0
  if tokens >= cost then
    tokens = tokens - cost
    allowed = 1
  else
    wait = math.floor((cost - tokens) / rate) -- the fault: down, not up
  end
  redis.call("HSET", KEYS[1], "tokens", tokens, "ts", now)
  redis.call("PEXPIRE", KEYS[1], math.ceil(capacity / rate * 1000))
  return {allowed, wait}
`,
}
