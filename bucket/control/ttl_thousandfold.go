package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// ttlThousandfold decides rightly, but its keys live a thousand times too long.
var ttlThousandfold = Control{
	Name:        "control/ttl-thousandfold",
	StandsFor:   "a life in milliseconds is given to a command that counts seconds, so every key lives a thousand times too long",
	Threads:     "Losant/redis-gcra#6, Kong/kong#14995",
	Check:       "state-audit",
	Scenario:    "many-keys",
	Time:        bucket.ServerTime,
	Granularity: time.Microsecond,
	State:       hashState,
	UsesCost:    true,
	Expect: map[string]limiterfile.Expectation{
		"state-audit": limiterfile.Fail,
	},
	file: `name: control-ttl-thousandfold
contract: token-bucket
time: server
granularity: 1us
keys: ["rl:control-ttl-thousandfold:${key}"]
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
  redis.call("EXPIRE", KEYS[1], math.ceil(capacity / rate * 1000)) -- the fault: these are milliseconds
  return allowed
`,
}
