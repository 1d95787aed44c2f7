// Package history records what happened: one [Operation] a request, in memory
// while the load runs and as JSON lines or CSV on disk. It stands between the
// load drivers, which append to a [Recorder], and package check, which reads
// operations in the order of their calls.
package history

import (
	"math"
	"time"
)

// Outcome is how a request ended. Every request ends in exactly one.
type Outcome uint8

// The four outcomes. The zero Outcome is none of them and never valid.
const (
	Allowed Outcome = iota + 1 // the limiter said yes
	Denied                     // the limiter said no
	Unsent                     // not one byte was written
	Unknown                    // something was sent, no usable reply
)

// Forever is the Return of an operation that never returned.
const Forever int64 = math.MaxInt64

// NoClock is the Clock of an operation whose instance's clock is not known.
const NoClock int64 = math.MinInt64

// Operation is one request and how it ended. Due, Call and Return are
// nanoseconds on the harness's one monotonic clock, from the start of the run;
// a history of another program may count from anywhere, as long as it counts
// from the same instant everywhere. An answered request took effect at one
// instant in the closed interval [Call, Return]; an unknown one may take effect
// at any time after Call.
type Operation struct {
	Due    int64 // when the schedule wanted it; equal to Call where there was no schedule
	Call   int64 // just before the instance read its clock and sent
	Return int64 // reply in hand; Forever for an unknown that has none
	Clock  int64 // what the instance's clock said at Call, ns since the Unix epoch; or NoClock

	Key      string
	Instance string
	Cost     float64 // tokens asked for, above 0
	Outcome  Outcome

	Remaining  float64       // as told by the limiter; NaN: not told
	RetryAfter time.Duration // as told by the limiter; below 0: not told

	Sequence     int64 // the witness's sequence number, from 1; 0: no witness
	ServerMicros int64 // the server's clock at the decision, µs since the Unix epoch; 0: not known
}
