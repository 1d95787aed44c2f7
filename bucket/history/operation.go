// Package history records what happened: one [Operation] a request, in memory
// while the load runs and as JSON lines or CSV on disk. It stands between the
// load drivers, which append to a [Recorder], and package check, which reads
// operations in the order of their calls.
package history

import (
	"fmt"
	"math"
	"time"

	"bucketproof/bucket"
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

// outcomes holds the outcomes' names in histories.
var outcomes = [...]string{Allowed: "allowed", Denied: "denied", Unsent: "unsent", Unknown: "unknown"}

// String is the outcome's name in histories, or "outcome(n)" for none of the
// four.
func (o Outcome) String() string {
	if o < Allowed || o > Unknown {
		return fmt.Sprintf("outcome(%d)", uint8(o))
	}
	return outcomes[o]
}

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
	Return int64 // reply in hand; for an unknown when its caller gave up, or Forever
	Clock  int64 // what the instance's clock said at Call, ns since the Unix epoch; or NoClock

	Key      string
	Instance string
	Cost     float64 // tokens asked for, above 0
	Outcome  Outcome

	Remaining  float64       // as told by the limiter; NaN: not told
	RetryAfter time.Duration // as told by the limiter; below 0: not told

	Witness bucket.Witness // what the server saw around the decision; zero: nothing
}

// Latest is the largest Call, Return and Due, and −Latest is the smallest, so
// that the distance between any two of them is a Duration (146 years).
const Latest int64 = math.MaxInt64 / 2

// Validate reports the first thing that makes op no operation, in the words of
// the history file.
func (op *Operation) Validate() error {
	if op.Outcome < Allowed || op.Outcome > Unknown {
		return fmt.Errorf("outcome is %d, want allowed, denied, unsent or unknown", op.Outcome)
	}
	if err := inRange("call_ns", op.Call); err != nil {
		return err
	}
	if err := inRange("due_ns", op.Due); err != nil {
		return err
	}
	switch {
	case op.Return == Forever && op.Outcome == Unknown:
	case op.Return == Forever:
		return fmt.Errorf("return_ns is missing, which only an unknown or an unsent request may do, not one that was %v", op.Outcome)
	case op.Return < op.Call:
		return fmt.Errorf("return_ns %d is before call_ns %d", op.Return, op.Call)
	case op.Return > Latest:
		return inRange("return_ns", op.Return)
	}
	switch {
	case math.IsNaN(op.Cost) || math.IsInf(op.Cost, 0) || op.Cost <= 0:
		return fmt.Errorf("cost is %v, want a finite number above 0", op.Cost)
	}
	return validWitness(&op.Witness)
}

func inRange(name string, v int64) error {
	if v < -Latest || v > Latest {
		return fmt.Errorf("%s is %d, want at most %d either way", name, v, Latest)
	}
	return nil
}
