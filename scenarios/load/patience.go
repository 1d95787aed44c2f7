package load

import (
	"context"
	"time"
)

// patience is the context that the requests of one caller share for a while: a
// timer, and a place among the children of the phase's context, for every
// request of its own would cost more than the rest of it. It gives a request at
// least the driver's Timeout, and at most a 64th more.
type patience struct {
	phase  context.Context
	ctx    context.Context
	until  time.Duration // when a request may begin the last time, on the driver's clock
	cancel context.CancelFunc
}

// context is what a request that is sent now is sent with: a child of phase.
func (p *patience) context(phase context.Context, d *Driver, now time.Duration) context.Context {
	if d.Timeout <= 0 {
		return phase
	}
	if p.phase == phase && now <= p.until {
		return p.ctx
	}
	if p.cancel != nil {
		p.cancel()
	}
	spare := d.Timeout / 64
	p.phase, p.until = phase, now+spare
	p.ctx, p.cancel = context.WithTimeout(phase, d.Timeout+spare)
	return p.ctx
}
