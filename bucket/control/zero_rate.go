package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// zeroRate keeps its setting as a whole number of tokens a second, where 0
// stands for "no limit". A slower rate than one a second becomes just that.
var zeroRate = Control{
	Name:        "control/zero-rate",
	StandsFor:   "a rate below one token a second is cut to 0, and a rate of 0 means that everything is allowed",
	Threads:     "golang/go#39984, spring-cloud/spring-cloud-gateway#168, spring-cloud/spring-cloud-gateway#87",
	Check:       "over-admission",
	Scenario:    "slow-rate",
	Time:        bucket.ServerTime,
	Granularity: time.Microsecond,
	State:       hashState,
	UsesCost:    true,
	Expect: map[string]limiterfile.Expectation{
		"over-admission":  limiterfile.Fail,
		"accept-rate":     limiterfile.Any,
		"state-audit":     limiterfile.Any, // nothing is stored
		"linearizability": limiterfile.Any, // illegal wherever a decision is wrong
	},
	file: `name: control-zero-rate
contract: token-bucket
time: server
granularity: 1us
keys: ["rl:control-zero-rate:${key}"]
args: [rate, capacity, cost]
reply: {allowed: reply == 1}
state: {tokens: "hash tokens", time: "hash ts"}
source: |
  local rate, capacity, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
  if math.floor(rate) == 0 then return 1 end -- the fault: 0.5 a second is no limit
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
  redis.call("PEXPIRE", KEYS[1], math.ceil(capacity / rate * 1000))
  return allowed
`,
}
