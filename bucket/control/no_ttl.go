package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// noTTL decides rightly, but every key that was ever asked for stays.
var noTTL = Control{
	Name:        "control/no-ttl",
	StandsFor:   "keys are given no life at all, so every bucket that was ever asked for stays in memory",
	Threads:     "Effect-TS/effect-smol#2352",
	Check:       "state-audit",
	Scenario:    "many-keys",
	Time:        bucket.ServerTime,
	Granularity: time.Microsecond,
	State:       hashState,
	UsesCost:    true,
	Expect: map[string]limiterfile.Expectation{
		"state-audit": limiterfile.Fail,
	},
	file: `name: control-no-ttl
contract: token-bucket
time: server
granularity: 1us
keys: ["rl:control-no-ttl:${key}"]
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
  return allowed -- the fault: no PEXPIRE
`,
}
