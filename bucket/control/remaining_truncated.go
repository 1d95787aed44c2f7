package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// remainingTruncated lets its caller decide by the level after charging. Lua
// numbers lose their fraction on the way out, towards 0: a request that finds
// half a token reads −0.5 as 0, is granted, and was not charged.
var remainingTruncated = Control{
	Name:        "control/remaining-truncated",
	StandsFor:   "the script returns the level after charging, −0.5 arrives as 0, and the caller takes 0 or more for a grant",
	Threads:     "WeTransfer/prorate#40",
	Check:       "over-admission",
	Scenario:    "slow-rate",
	Time:        bucket.ServerTime,
	Granularity: time.Microsecond,
	State:       hashState,
	UsesCost:    true,
	Expect: map[string]limiterfile.Expectation{
		"over-admission":  limiterfile.Fail,
		"accept-rate":     limiterfile.Any,
		"linearizability": limiterfile.Any, // illegal wherever a decision is wrong
	},
	own: lines{
		reply: `allowed: reply >= 0`,
		take: `
local left = tokens - cost
if left >= 0 then tokens = left end`,
	},
	fault:  lines{answer: `return left -- the fault: cut towards 0`},
	repair: lines{answer: `return math.floor(left)`},
}
