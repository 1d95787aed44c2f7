package load

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// phase is one stretch of load while it runs.
type phase struct {
	d       *Driver
	load    context.Context // ends when no more is to be sent
	replies context.Context // of the requests themselves: outlives load by the grace
	cancel  context.CancelFunc
	hold    Hold
	cost    float64
	stream  uint64

	running sync.WaitGroup
	callers []*caller // of this phase; only the goroutine that began it adds
}

func (d *Driver) begin(ctx context.Context, hold Hold, cost float64, stream uint64) *phase {
	if cost == 0 {
		cost = d.cost()
	}
	replies, cancel := context.WithCancel(context.WithoutCancel(ctx))
	return &phase{d: d, load: ctx, replies: replies, cancel: cancel, hold: hold, cost: cost, stream: stream}
}

// offer makes an order: from here on the request must end in an outcome.
func (p *phase) offer(n uint64, instance int, due time.Duration) order {
	o := order{n: n, instance: instance, due: due, cost: p.cost}
	number := uint64(p.d.account.offered.Add(1) - 1)
	if p.d.Keys != nil {
		o.key = p.d.Keys(number)
	}
	return o
}

// start runs a caller in a goroutine of its own.
func (p *phase) start(run func(c *caller)) {
	c := p.d.pool.get(p.d)
	p.callers = append(p.callers, c)
	p.running.Go(func() { run(c) })
}

// coarse is how exact a timer of the Go runtime is: on Linux an idle process
// waits in whole milliseconds.
const coarse = 2 * time.Millisecond

// until waits for the clock to read due, or for the load to be stopped, and
// reports whether the load goes on.
func (p *phase) until(due time.Duration) bool {
	for {
		left := due - p.d.Elapsed()
		switch {
		case left <= 0:
			return p.load.Err() == nil
		case left > 2*coarse:
			if !pause(p.load, left-coarse) {
				return false
			}
		case p.load.Err() != nil:
			return false
		default:
			p.d.sleep(left)
		}
	}
}

// end waits for the last reply. When the load is stopped, replies have the
// grace to come in; then their contexts end and they have it once more; what is
// still out then is recorded as never returned.
func (p *phase) end(what string) error {
	defer p.cancel()
	done := make(chan struct{})
	go func() {
		p.running.Wait()
		close(done)
	}()
	if p.settle(done) {
		p.d.pool.put(p.callers)
	} else {
		log := p.d.Recorder.Worker()
		for _, c := range p.callers {
			c.abandon(log)
		}
	}
	if p.load.Err() != nil {
		return fmt.Errorf("%s: %w", what, context.Cause(p.load))
	}
	return nil
}

func (p *phase) settle(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-p.load.Done():
	}
	if within(done, p.d.grace()) {
		return true
	}
	p.cancel()
	return within(done, p.d.grace())
}

func within(done <-chan struct{}, t time.Duration) bool {
	timer := time.NewTimer(t)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
