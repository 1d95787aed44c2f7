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
	fault: lines{refill: `
local earned = math.floor((now - ts) / 1000000 * rate) -- the fault: the fraction is dropped, and ts moves on
tokens = math.min(capacity, tokens + earned)`,
	},
}
