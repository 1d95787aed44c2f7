package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// lateCommand keeps level and time in two keys and needs no skew at all: one
// command that waited on its way puts the older time back, and the stretch
// since then is earned twice. With the clamp that is minting; without it (the
// reference) only the late call itself is denied.
var lateCommand = Control{
	Name:        "control/late-command",
	StandsFor:   "a command that was held up on its way stores the older time it was sent with, so what was earned since then is earned once more",
	Threads:     "zeromicro/go-zero#4072",
	Check:       "over-admission",
	Scenario:    "late-calls/3",
	Time:        bucket.CallerTime,
	Granularity: time.Millisecond,
	State:       &limiterfile.StateFields{Tokens: limiterfile.StateField{String: true}},
	UsesCost:    true,
	Expect: map[string]limiterfile.Expectation{
		"over-admission":  limiterfile.Fail,
		"spurious-denial": limiterfile.Any, // as for any limiter on callers' clocks
		"accept-rate":     limiterfile.Any,
		"state-audit":     limiterfile.Any,
		"fairness":        limiterfile.Any,
		"linearizability": limiterfile.Any, // illegal wherever a decision is wrong
	},
	file: `name: control-late-command
contract: token-bucket
time: caller
granularity: 1ms
keys: ["rl:control-late-command:{${key}}:tokens", "rl:control-late-command:{${key}}:ts"]
args: [rate, capacity, now_ms, cost]
reply: {allowed: reply == 1}
state: {tokens: string}
source: |
  local rate, capacity = tonumber(ARGV[1]), tonumber(ARGV[2])
  local now, cost = tonumber(ARGV[3]), tonumber(ARGV[4])
  local tokens = tonumber(redis.call("GET", KEYS[1])) or capacity
  local ts = tonumber(redis.call("GET", KEYS[2])) or now
  tokens = math.min(capacity, tokens + math.max(0, now - ts) / 1000 * rate)
  local allowed = 0
  if tokens >= cost then
    tokens = tokens - cost
    allowed = 1
  end
  local life = math.ceil(capacity / rate * 1000)
  redis.call("SET", KEYS[1], tokens, "PX", life)
  redis.call("SET", KEYS[2], now, "PX", life) -- the fault: a late now lies before ts
  return allowed
`,
}
