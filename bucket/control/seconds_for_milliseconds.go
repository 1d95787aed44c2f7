package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// secondsForMilliseconds multiplies milliseconds with a rate a second.
var secondsForMilliseconds = Control{
	Name:        "control/seconds-for-milliseconds",
	StandsFor:   "the elapsed time is in milliseconds and the rate in tokens a second, so the bucket fills a thousand times too fast",
	Threads:     "lucia-auth/lucia#1778",
	Check:       "over-admission",
	Scenario:    "overload/100-50",
	Time:        bucket.ServerTime,
	Granularity: time.Microsecond,
	State:       hashState,
	UsesCost:    true,
	Expect: map[string]limiterfile.Expectation{
		"over-admission":  limiterfile.Fail,
		"accept-rate":     limiterfile.Any,
		"linearizability": limiterfile.Any, // illegal wherever a decision is wrong
	},
	own:    lines{clock: serverMillis},
	fault:  lines{refill: `tokens = math.min(capacity, tokens + (now - ts) * rate) -- the fault: a thousandfold`},
	repair: lines{refill: `tokens = math.min(capacity, tokens + (now - ts) / 1000 * rate)`},
}
