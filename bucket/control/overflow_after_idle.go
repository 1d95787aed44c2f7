package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// overflowAfterIdle computes rate × elapsed nanoseconds as 64-bit integers do,
// before it divides. After 2.9 years at 100 tokens a second, or after a jump of
// the caller's clock by as much, the product is negative and the key locked.
var overflowAfterIdle = Control{
	Name:        "control/overflow-after-idle",
	StandsFor:   "rate times elapsed time overflows after a long idle, so the level becomes hugely negative and the key is locked",
	Threads:     "bucket4j/bucket4j#51",
	Check:       "spurious-denial",
	Scenario:    "clock-leap",
	Time:        bucket.CallerTime,
	Granularity: time.Millisecond,
	State:       hashState,
	UsesCost:    true,
	Expect: map[string]limiterfile.Expectation{
		"spurious-denial": limiterfile.Fail,
		"over-admission":  limiterfile.Any, // as for any limiter on callers' clocks
		"accept-rate":     limiterfile.Any,
		"state-audit":     limiterfile.Any, // the level sinks below 0
		"linearizability": limiterfile.Any, // illegal wherever a decision is wrong
		"fairness":        limiterfile.Any,
	},
	fault: lines{refill: `
local function wrapped(x) -- as a signed 64-bit integer
  return x - 2^64 * math.floor(x / 2^64 + 0.5)
end
local earned = wrapped((now - ts) * 1000000 * rate) / 1000000000 -- the fault: multiplied before divided
tokens = math.min(capacity, tokens + earned)`,
	},
	repair: lines{refill: `tokens = math.min(capacity, tokens + (now - ts) / 1000 * rate)`},
}
