// Package load sends requests to limiters: in bursts, on a schedule that waits
// for nobody (open loop), or from workers that wait for their replies (closed
// loop), from several instances that each have their own clock. It stands
// between a scenario's phases and package history: every request that is
// offered ends as one recorded operation.
//
// What is sent when is a pure function of a seed; the only clock is
// [Driver.Elapsed], so everything here also runs in virtual time.
package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
	"bucketproof/scenarios/clock"
)

// Instance is one caller of the limiter, as one process of a service would be.
type Instance struct {
	Name    string
	Clock   clock.Model
	Limiter bucket.Limiter // used concurrently
}

// Driver drives load against its instances. Set its fields before the first
// phase and leave them alone while one runs; between phases they may change.
// The methods may then run at the same time, from any goroutines, each a phase
// of its own. A Driver must not be copied after its first use.
type Driver struct {
	Elapsed   func() time.Duration // the one monotonic clock: time since the start of the run; for concurrent use
	Base      time.Time            // true wall time when Elapsed was 0
	Limit     bucket.Limit
	Cost      float64             // tokens a request; 0: one
	Instances []Instance          // at least one
	Keys      KeyPicker           // nil: every request has the key ""
	Recorder  *history.Recorder   // takes every request
	Timeout   time.Duration       // how long a request may take once it is sent, at least, and at most a 64th more; 0: no limit
	Seed      uint64              // of everything random
	Grace     time.Duration       // when a phase is interrupted: how long replies may take to come in; 0: half a second
	Sleep     func(time.Duration) // the open loop's last wait before a send, a few milliseconds; nil: time.Sleep. See [Alarm]

	account account
	pool    pool
}

// defaultGrace is the Grace of a Driver that names none.
const defaultGrace = 500 * time.Millisecond

func (d *Driver) grace() time.Duration {
	if d.Grace > 0 {
		return d.Grace
	}
	return defaultGrace
}

func (d *Driver) cost() float64 {
	if d.Cost == 0 {
		return 1
	}
	return d.Cost
}

func (d *Driver) sleep(t time.Duration) {
	if d.Sleep != nil {
		d.Sleep(t)
		return
	}
	time.Sleep(t)
}

// among returns the instances that a phase drives: from, or all of them when
// from is empty.
func (d *Driver) among(from []int) ([]int, error) {
	if d.Elapsed == nil || d.Recorder == nil || len(d.Instances) == 0 {
		return nil, errors.New("driver needs a clock, a recorder and an instance")
	}
	if len(from) == 0 {
		from = make([]int, len(d.Instances))
		for i := range from {
			from[i] = i
		}
	}
	for _, i := range from {
		if i < 0 || i >= len(d.Instances) {
			return nil, fmt.Errorf("instance %d of %d", i, len(d.Instances))
		}
	}
	return from, nil
}

// pause waits for t or until ctx ends, whichever is first, and reports whether
// ctx is still good.
func pause(ctx context.Context, t time.Duration) bool {
	if t <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(t)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
