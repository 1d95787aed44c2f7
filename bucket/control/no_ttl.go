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
	fault: lines{life: `-- the fault: no PEXPIRE`},
}
