package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// wholeSeconds reads only the first half of TIME. A second's tokens come all at
// once at its edge, up to R too early, and none before it.
var wholeSeconds = Control{
	Name:        "control/whole-seconds",
	StandsFor:   "time is counted in whole seconds, so a second's tokens are earned all at once at its edge and none before it",
	Threads:     "spring-cloud/spring-cloud-gateway#4027",
	Check:       "over-admission",
	Scenario:    "second-edge",
	Time:        bucket.ServerTime,
	Granularity: time.Microsecond,
	State:       hashState,
	UsesCost:    true,
	Expect: map[string]limiterfile.Expectation{
		"over-admission":  limiterfile.Fail,
		"spurious-denial": limiterfile.Any, // before the edge
		"accept-rate":     limiterfile.Any,
		"linearizability": limiterfile.Any, // illegal wherever a decision is wrong
		"fairness":        limiterfile.Any, // too few grants to judge
	},
	fault: lines{clock: `
local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000000 -- the fault: the microseconds are left out`,
	},
}
