package load

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Burst is a number of requests that are released together.
type Burst struct {
	Requests int // in all, spread over the instances in turn; 1 to 100,000
	Hold     Hold
	Cost     float64 // tokens a request; 0: the driver's
	Stream   uint64  // tells the phases of a run apart, for what is random in them
}

// maxBurst keeps the goroutines of a burst within a few hundred megabytes.
const maxBurst = 100_000

// Burst releases b from the instances in from (indexes; empty: all) and ends
// with the last reply: nil, or an error that wraps the cause when ctx ended.
// Each request has its goroutine; all wait at a barrier, and their due time is
// the instant of release.
func (d *Driver) Burst(ctx context.Context, from []int, b Burst) error {
	from, err := d.among(from)
	if err != nil {
		return fmt.Errorf("burst: %w", err)
	}
	if b.Requests < 1 || b.Requests > maxBurst {
		return fmt.Errorf("burst: %d requests, want 1 to %d", b.Requests, maxBurst)
	}
	if err := b.Hold.Validate(); err != nil {
		return fmt.Errorf("burst: %w", err)
	}
	var (
		p       = d.begin(ctx, b.Hold, b.Cost, b.Stream)
		gate    = make(chan struct{})
		release time.Duration // written before the gate opens
		ready   sync.WaitGroup
	)
	ready.Add(b.Requests)
	for i := range b.Requests {
		o := p.offer(uint64(i), from[i%len(from)], 0)
		p.start(func(c *caller) {
			ready.Done()
			<-gate
			o.due = release
			c.do(p, o)
		})
	}
	ready.Wait()
	release = d.Elapsed()
	close(gate)
	return p.end("burst")
}
