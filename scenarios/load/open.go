package load

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"
	"time"
)

// Open is load on a schedule that is fixed in advance and waits for no reply.
type Open struct {
	Rate     float64       // requests per second over all instances, finite and above 0
	Arrivals Arrivals      // "": constant
	For      time.Duration // length of the schedule, above 0
	Hold     Hold
	Cost     float64 // tokens a request; 0: the driver's
	Stream   uint64  // tells the phases of a run apart, for what is random in them

	// MaxInFlight bounds the requests under way at once; 0: 4096. A request
	// beyond it is made as soon as another ends, and its latency counts from
	// its due time all the same.
	MaxInFlight int
}

const defaultInFlight = 4096

// Open runs o from the instances in from (indexes; empty: all). It ends when o
// is over and the last reply is in: with nil, or with an error that wraps the
// cause when ctx ended. Nothing is dropped: what was due when ctx ended and
// could not be sent is recorded as unsent.
func (d *Driver) Open(ctx context.Context, from []int, o Open) error {
	from, err := d.among(from)
	if err != nil {
		return fmt.Errorf("open loop: %w", err)
	}
	if err := o.Hold.Validate(); err != nil {
		return fmt.Errorf("open loop: %w", err)
	}
	arrivals, err := o.schedule(len(from), d.Seed)
	if err != nil {
		return fmt.Errorf("open loop: %w", err)
	}
	l := &openLoop{
		phase: d.begin(ctx, o.Hold, o.Cost, o.Stream), from: from, most: o.MaxInFlight,
		turn: make(chan struct{}, 1), over: make(chan struct{}), begun: d.Elapsed(),
	}
	if l.most == 0 {
		l.most = defaultInFlight
	}
	var stop func()
	l.arrivals, stop = iter.Pull(arrivals)
	defer stop()
	if l.advance(); l.left {
		l.join()
	}
	l.pass()
	select {
	case <-l.over:
	case <-l.load.Done():
		l.drop()
	}
	l.until(l.begun + o.For)
	return l.end("open loop")
}

// openLoop is a schedule and the callers that keep it. They take turns: one at a
// time waits until the next request is due, passes the turn on, and makes it. There
// is nobody between the schedule and a caller, so that a loop which cannot keep up
// costs hardly more than a closed one.
type openLoop struct {
	*phase
	from  []int
	most  int           // callers
	begun time.Duration // when the schedule began

	turn    chan struct{} // holds one when nobody has the turn
	waiting atomic.Int64  // callers that want it
	over    chan struct{} // closed when the schedule has ended

	// What belongs to who has the turn.
	arrivals func() (Arrival, bool)
	next     Arrival
	left     bool   // there is a next one
	n        uint64 // requests offered
}

// join adds a caller.
func (l *openLoop) join() {
	l.start(func(c *caller) {
		for {
			o, ok := l.take()
			if !ok {
				return
			}
			if _, ok := c.do(l.phase, o); !ok {
				return
			}
		}
	})
}

// take waits for the turn and until the next request is due; false when there will
// be none. When nobody else wants the turn a new caller gets it, if there may be more.
func (l *openLoop) take() (o order, ok bool) {
	l.waiting.Add(1)
	<-l.turn
	l.waiting.Add(-1)
	defer l.pass()
	if !l.left || !l.until(l.begun+l.next.Due) {
		return o, false
	}
	o = l.pop()
	if l.left && l.waiting.Load() == 0 && len(l.callers) < l.most {
		l.join()
	}
	return o, true
}

func (l *openLoop) pass() { l.turn <- struct{}{} }

// pop offers the next request.
func (l *openLoop) pop() order {
	o := l.offer(l.n, l.from[l.next.Instance], l.begun+l.next.Due)
	l.n++
	l.advance()
	return o
}

func (l *openLoop) advance() {
	if l.next, l.left = l.arrivals(); !l.left {
		close(l.over)
	}
}

// drop ends the schedule and records what was due by now as not sent.
func (l *openLoop) drop() {
	<-l.turn
	defer l.pass()
	c := l.d.pool.get(l.d)
	l.callers = append(l.callers, c)
	for now := l.d.Elapsed(); l.left && l.begun+l.next.Due <= now; {
		c.skip(l.pop())
	}
	l.left = false
}
