package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// ttlInPeriods thinks of its rate as tokens a minute. A refill takes some
// minutes, and that number is given to EXPIRE, which counts seconds.
var ttlInPeriods = Control{
	Name:        "control/ttl-in-periods",
	StandsFor:   "the life is the number of periods that a refill takes, given as seconds, so the key dies before the bucket is full and is born again full",
	Threads:     "cristipufu/aspnetcore-redis-rate-limiting#46, upstash/ratelimit-js#50",
	Check:       "over-admission",
	Scenario:    "idle-burst/20-30",
	Time:        bucket.ServerTime,
	Granularity: time.Microsecond,
	State:       hashState,
	UsesCost:    true,
	Expect: map[string]limiterfile.Expectation{
		"over-admission":  limiterfile.Fail,
		"accept-rate":     limiterfile.Any,
		"state-audit":     limiterfile.Any, // the life is too short for the refill
		"linearizability": limiterfile.Any, // illegal wherever a decision is wrong
	},
	file: `name: control-ttl-in-periods
contract: token-bucket
time: server
granularity: 1us
keys: ["rl:control-ttl-in-periods:${key}"]
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
  local periods = math.ceil(capacity / (rate * 60)) -- of a minute each
  redis.call("EXPIRE", KEYS[1], periods) -- the fault: not seconds
  return allowed
`,
}
