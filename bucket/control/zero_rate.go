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
	fault: lines{clock: `
if math.floor(rate) == 0 then return 1 end -- the fault: 0.5 a second is no limit` + bucketLines.clock,
	},
}
