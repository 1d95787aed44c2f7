package load

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// order is one request that was offered and has yet to be made.
type order struct {
	n        uint64        // in its phase, for the hold
	key      string        // of the bucket
	instance int           // index into Driver.Instances
	due      time.Duration // unscheduled: equal to the call
	cost     float64       // tokens
}

// unscheduled is the due time of a request that no schedule wanted.
const unscheduled time.Duration = math.MinInt64

// What requests end with that this package ended.
var (
	errStopped   = fmt.Errorf("load was stopped: %w", bucket.ErrUnsent)
	errAbandoned = errors.New("no reply within the grace after the load was stopped")
)

// caller makes requests one after another and records them. Its goroutine
// owns it; the phase takes it away only from one that never comes back.
type caller struct {
	d      *Driver
	log    *history.Worker
	prefix string // of its request ids
	made   uint64
	id     []byte

	patience patience

	mu   sync.Mutex
	op   history.Operation // the request in flight while busy
	busy bool
	gone bool // taken away: record nothing more
}

// do makes one request and records it. It reports whether the caller may go on.
func (c *caller) do(p *phase, o order) (history.Operation, bool) {
	d := c.d
	instance := &d.Instances[o.instance]
	r := bucket.Request{ID: c.nextID(), Key: o.key, Instance: instance.Name, Cost: o.cost}
	call := d.Elapsed()
	r.Now = instance.Clock.Reading(d.Base, call)
	if o.due == unscheduled {
		o.due = call
	}
	if !c.begin(r, o.due, call) {
		return history.Operation{}, false
	}
	hold := p.hold.Of(d.Seed, p.stream, o.n)
	decision, err := c.send(p, instance.Limiter, r, call, hold)
	return c.end(decision, err, hold)
}

// skip records a request that is not made because the load was stopped.
func (c *caller) skip(o order) {
	d := c.d
	instance := &d.Instances[o.instance]
	r := bucket.Request{ID: c.nextID(), Key: o.key, Instance: instance.Name, Cost: o.cost}
	call := d.Elapsed()
	r.Now = instance.Clock.Reading(d.Base, call)
	if c.begin(r, o.due, call) {
		c.end(bucket.Decision{}, errStopped, 0)
	}
}

func (c *caller) nextID() string {
	c.made++
	c.id = strconv.AppendUint(append(c.id[:0], c.prefix...), c.made, 10)
	return string(c.id)
}

func (c *caller) begin(r bucket.Request, due, call time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return false
	}
	c.busy = true
	c.op = history.Operation{
		Due: int64(due), Call: int64(call), Clock: r.Now.UnixNano(),
		Key: r.Key, Instance: r.Instance, Cost: r.Cost,
		Remaining: math.NaN(), RetryAfter: -1,
	}
	return true
}

// send holds the request and then puts it to the limiter. The load may be
// stopped until then; a request that was sent gets its grace.
func (c *caller) send(p *phase, l bucket.Limiter, r bucket.Request, call, hold time.Duration) (bucket.Decision, error) {
	if !pause(p.load, hold) {
		return bucket.Decision{}, errStopped
	}
	now := call
	if hold > 0 {
		now = c.d.Elapsed()
	}
	return l.Take(c.patience.context(p.replies, c.d, now), c.d.Limit, r)
}

// end records how the request ended that was held for a while before it was sent.
func (c *caller) end(decision bucket.Decision, err error, hold time.Duration) (history.Operation, bool) {
	returned := c.d.Elapsed()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return history.Operation{}, false
	}
	c.busy = false
	c.op.Return = int64(returned)
	c.op.Outcome = outcome(decision, err)
	c.op.Witness = decision.Witness // an error may come with one, too
	if err == nil {
		c.op.Remaining, c.op.RetryAfter = decision.Remaining, decision.RetryAfter
	}
	c.log.Append(c.op)
	c.d.account.ended(c.op.Outcome, err)
	if c.op.Outcome != history.Unsent {
		c.d.account.took(returned - time.Duration(c.op.Call) - hold)
	}
	return c.op, true
}

// outcome is how a request ended. A limiter that cannot express the limit has
// sent nothing.
func outcome(d bucket.Decision, err error) history.Outcome {
	switch {
	case errors.Is(err, bucket.ErrUnsent), errors.Is(err, bucket.ErrLimit):
		return history.Unsent
	case err != nil:
		return history.Unknown
	case d.Allowed:
		return history.Allowed
	}
	return history.Denied
}

// abandon records the request in flight, if there is one, as never returned,
// and takes the caller away from its goroutine.
func (c *caller) abandon(log *history.Worker) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	if !c.busy {
		return
	}
	c.busy = false
	c.op.Return, c.op.Outcome = history.Forever, history.Unknown
	log.Append(c.op)
	c.d.account.ended(history.Unknown, errAbandoned)
}

// pool keeps the callers of phases that have ended, so that a run of many
// bursts has as many logs as its largest burst.
type pool struct {
	mu   sync.Mutex
	free []*caller
	made int
}

func (p *pool) get(d *Driver) *caller {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		c := p.free[n-1]
		p.free = p.free[:n-1]
		return c
	}
	p.made++
	return &caller{d: d, log: d.Recorder.Worker(), prefix: strconv.Itoa(p.made) + "-"}
}

func (p *pool) put(callers []*caller) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, callers...)
}
