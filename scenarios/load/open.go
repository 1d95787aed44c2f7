package load

import (
	"context"
	"fmt"
	"math"
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
	l := openLoop{phase: d.begin(ctx, o.Hold, o.Cost, o.Stream), orders: make(chan order), most: o.MaxInFlight}
	if l.most == 0 {
		l.most = defaultInFlight
	}
	start := d.Elapsed()
	end := time.Duration(math.MaxInt64) // of the schedule, once ctx has ended
	n := uint64(0)
	for a := range arrivals {
		due := start + a.Due
		if !l.until(due) {
			end = min(end, d.Elapsed())
		}
		if due > end {
			break
		}
		l.dispatch(l.offer(n, from[a.Instance], due))
		n++
	}
	close(l.orders)
	l.until(start + o.For)
	return l.end("open loop")
}

// openLoop hands orders to callers: to an idle one, else to a new one.
type openLoop struct {
	*phase
	orders chan order
	most   int
	idle   *caller // records what is not sent; nil until needed
}

func (l *openLoop) dispatch(o order) {
	if l.load.Err() != nil {
		l.skip(o)
		return
	}
	select {
	case l.orders <- o:
		return
	default:
	}
	if len(l.callers) < l.most {
		l.start(func(c *caller) {
			c.do(l.phase, o)
			for o := range l.orders {
				c.do(l.phase, o)
			}
		})
		return
	}
	select {
	case l.orders <- o:
	case <-l.load.Done():
		l.skip(o)
	}
}

func (l *openLoop) skip(o order) {
	if l.idle == nil {
		l.idle = l.d.pool.get(l.d)
		l.callers = append(l.callers, l.idle)
	}
	l.idle.skip(o)
}
