package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// floorRefill earns whole tokens only and yet starts the next stretch now, so
// that the fraction is lost at every request: at λ requests a second and a rate
// R it earns ⌊R/λ⌋·λ, which is nothing at all once λ > R.
var floorRefill = Control{
	Name:        "control/floor-refill",
	StandsFor:   "what was earned is cut to whole tokens and the clock is moved to now, so the fraction is lost at every request",
	Threads:     "varnish/varnish-modules#243, apache/polaris#3433",
	Check:       "spurious-denial",
	Scenario:    "polite/200-20",
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
	file: `name: control-floor-refill
contract: token-bucket
time: server
granularity: 1us
keys: ["rl:control-floor-refill:${key}"]
args: [rate, capacity, cost]
reply: {allowed: reply == 1}
state: {tokens: "hash tokens", time: "hash ts"}
source: |
  local rate, capacity, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
  local time = redis.call("TIME")
  local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
  local stored = redis.call("HMGET", KEYS[1], "tokens", "ts")
  local tokens, ts = tonumber(stored[1]) or capacity, tonumber(stored[2]) or now
  local earned = math.floor((now - ts) / 1000000 * rate) -- the fault: the fraction is dropped, and ts moves on
  tokens = math.min(capacity, tokens + earned)
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
