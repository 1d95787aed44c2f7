package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"bucketproof/bucket/history"
)

// Closed is load from workers that each wait for their reply, think, and ask
// again.
type Closed struct {
	Workers     int           // in all, spread over the instances in turn; 1 to 100,000
	Think       time.Duration // between a reply and the next call, 0 or more
	RandomThink bool          // think times are exponential with mean Think, the first before the first call
	Obey        bool          // a denied worker that is told how long to wait waits that long in place of thinking
	For         time.Duration // how long calls are made, above 0
	Hold        Hold
	Cost        float64 // tokens a request; 0: the driver's
	Stream      uint64  // tells the phases of a run apart, for what is random in them
}

// retreat is the least a worker waits after a request that had no answer, so
// that an outage is not asked a million times whether it is over.
const retreat = time.Millisecond

func (c Closed) validate() error {
	switch {
	case c.Workers < 1 || c.Workers > maxBurst:
		return fmt.Errorf("%d workers, want 1 to %d", c.Workers, maxBurst)
	case c.Think < 0:
		return fmt.Errorf("think is %v, want 0 or more", c.Think)
	case c.For <= 0:
		return fmt.Errorf("length is %v, want above 0", c.For)
	}
	return c.Hold.Validate()
}

// Closed runs c from the instances in from (indexes; empty: all). It ends when
// the time is over and the last reply is in: with nil, or with an error that
// wraps the cause when ctx ended.
func (d *Driver) Closed(ctx context.Context, from []int, c Closed) error {
	from, err := d.among(from)
	if err != nil {
		return fmt.Errorf("closed loop: %w", err)
	}
	if err := c.validate(); err != nil {
		return fmt.Errorf("closed loop: %w", err)
	}
	p := d.begin(ctx, c.Hold, c.Cost, c.Stream)
	over := d.Elapsed() + c.For
	for w := range c.Workers {
		p.start(func(by *caller) { p.work(by, c, from[w%len(from)], w, over) })
	}
	return p.end("closed loop")
}

// work is one worker until over.
func (p *phase) work(by *caller, c Closed, instance, worker int, over time.Duration) {
	r := rand.New(newSource(p.d.Seed^mix(uint64(worker)), p.stream))
	wait := time.Duration(0)
	if c.RandomThink {
		wait = c.think(r)
	}
	for n := uint64(worker) << 32; ; n++ {
		if !pause(p.load, min(wait, over-p.d.Elapsed())) || p.d.Elapsed() >= over {
			return
		}
		op, ok := by.do(p, p.offer(n, instance, unscheduled))
		if !ok {
			return
		}
		wait = c.wait(op, r)
	}
}

// wait is how long a worker waits after op.
func (c Closed) wait(op history.Operation, r *rand.Rand) time.Duration {
	think := c.think(r)
	switch {
	case op.Outcome == history.Unsent || op.Outcome == history.Unknown:
		return max(think, retreat)
	case c.Obey && op.Outcome == history.Denied && op.RetryAfter > 0:
		return op.RetryAfter
	}
	return think
}

func (c Closed) think(r *rand.Rand) time.Duration {
	if c.RandomThink {
		return time.Duration(r.ExpFloat64() * float64(c.Think))
	}
	return c.Think
}
