package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// ttlZero gives the key twice the fill time, in whole seconds: enough for any
// bucket that takes at least half a second to fill, and 0 for a smaller one.
// EXPIRE with 0 deletes the key.
var ttlZero = Control{
	Name:        "control/ttl-zero",
	StandsFor:   "the life in whole seconds rounds to 0 for a bucket that fills quickly, which deletes the key: nothing is stored and all is granted",
	Threads:     "spring-cloud/spring-cloud-gateway#2453",
	Check:       "over-admission",
	Scenario:    "idle-burst-short",
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
	fault: lines{
		life: `redis.call("EXPIRE", KEYS[1], math.floor(2 * capacity / rate)) -- the fault: may be 0`,
	},
}
