package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// olderNowWritten is the common "fix" for clocks that disagree, worse than the
// disease: with callers a spread S apart, a fast call earns R·S again each time
// that a slow call has put the older time back.
var olderNowWritten = Control{
	Name:        "control/older-now-written",
	StandsFor:   "a negative elapsed time is clamped to 0 but the older time is stored, so every turn from a fast to a slow to a fast clock mints tokens",
	Threads:     "spring-cloud/spring-cloud-gateway#2412, spring-cloud/spring-cloud-gateway#1688, tikv/pd#10744",
	Check:       "over-admission",
	Scenario:    "skew-mixed/4",
	Time:        bucket.CallerTime,
	Granularity: time.Millisecond,
	State: &limiterfile.StateFields{
		Tokens: limiterfile.StateField{Hash: "tokens"},
		Time:   limiterfile.StateField{Hash: "ts"},
	},
	UsesCost: true,
	Expect: map[string]limiterfile.Expectation{
		"over-admission":  limiterfile.Fail,
		"spurious-denial": limiterfile.Any, // as for any limiter on callers' clocks
		"accept-rate":     limiterfile.Any,
		"state-audit":     limiterfile.Any,
		"linearizability": limiterfile.Any, // illegal wherever over-admission shows
		"fairness":        limiterfile.Any,
	},
	file: `name: control-older-now-written
contract: token-bucket
time: caller
granularity: 1ms
keys: ["rl:control-older-now-written:${key}"]
args: [rate, capacity, now_ms, cost]
reply: {allowed: reply == 1}
state: {tokens: "hash tokens", time: "hash ts"}
source: |
  local rate, capacity = tonumber(ARGV[1]), tonumber(ARGV[2])
  local now, cost = tonumber(ARGV[3]), tonumber(ARGV[4])
  local stored = redis.call("HMGET", KEYS[1], "tokens", "ts")
  local tokens, ts = tonumber(stored[1]) or capacity, tonumber(stored[2]) or now
  local elapsed = math.max(0, now - ts) -- the clamp
  tokens = math.min(capacity, tokens + elapsed / 1000 * rate)
  local allowed = 0
  if tokens >= cost then
    tokens = tokens - cost
    allowed = 1
  end
  redis.call("HSET", KEYS[1], "tokens", tokens, "ts", now) -- the fault: now may lie before ts
  redis.call("PEXPIRE", KEYS[1], math.ceil(capacity / rate * 1000))
  return allowed
`,
}
