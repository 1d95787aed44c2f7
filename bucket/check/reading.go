package check

import (
	"errors"
	"fmt"
	"iter"
	"math"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// never is the return of a request that never returned.
const never int64 = math.MaxInt64

// reading is the first pass over a history.
type reading struct {
	spec  *Spec
	rules rules

	keys   map[string]*sweep
	order  []*sweep
	recent recent[*sweep]
	crowd  crowd
	counts Counts

	origin int64 // the first call on the history's clock; sweeps count from it
	now    int64 // the last call
	end    int64 // the last call or return

	samples []Sample
	glances []glance

	server *server // the history as the server saw it; nil: it saw nothing
	tells  bool    // a reply told more than yes or no
	quoted int     // requests in excerpts
	linear *linear // what check 6 found, after the reading
}

// read takes the whole history in.
func (r *reading) read(ops iter.Seq2[*history.Operation, error]) error {
	for op, err := range ops {
		if err != nil {
			return fmt.Errorf("read operation %d: %w", r.counts.Offered+1, err)
		}
		if err := r.operation(op); err != nil {
			return fmt.Errorf("operation %d: %w", r.counts.Offered+1, err)
		}
	}
	r.sample(math.MaxInt64)
	for _, s := range r.order {
		s.rate.expiries.done(r.end)
		s.retire(never, &r.crowd)
		s.settle()
		s.replies.settle(r, s)
		r.unwatch(s)
	}
	return nil
}

func (r *reading) operation(op *history.Operation) error {
	if r.counts.Offered == 0 {
		r.origin = op.Call
	}
	q, err := r.request(op)
	if err != nil {
		return err
	}
	if len(r.glances) < len(r.samples) {
		r.sample(op.Call)
	}
	s := r.sweep(op.Key, q.call)
	r.now = q.call
	r.end = max(r.end, q.call)
	if q.ret != never {
		r.end = max(r.end, q.ret)
	}
	r.counts.add(q.outcome)
	r.crowd.members[q.instance].add(q.outcome)
	s.retire(q.call, &r.crowd)
	r.witness(s, &q, op)
	s.call(&q)
	r.hear(s, &q, op)
	r.quote(s, &q, op)
	return nil
}

// request puts an operation into a sweep's words and refuses a malformed one.
func (r *reading) request(op *history.Operation) (request, error) {
	q := r.inWords(op)
	if err := r.malformed(op, q); err != nil {
		return request{}, err
	}
	q.index = r.counts.Offered
	q.instance = r.crowd.number(op.Instance)
	return q, nil
}

// inWords puts an operation into a sweep's words, whatever it says.
func (r *reading) inWords(op *history.Operation) request {
	q := request{call: op.Call - r.origin, ret: never, cost: op.Cost, skew: noSkew, began: op.Witness.BeforeMicros, outcome: op.Outcome}
	if op.Return != history.Forever {
		q.ret = op.Return - r.origin
	}
	switch {
	case r.spec.Shift != nil && r.spec.Time == bucket.ServerTime:
		to := op.Return
		if op.Outcome == history.Unknown {
			to = history.Forever // it may be decided after its caller has gone
		}
		least, most := r.spec.Shift(op.Call, to)
		q.skew, q.wide = least, most-least
	case op.Clock != history.NoClock:
		q.skew = op.Clock - op.Call
	}
	return q
}

func (r *reading) malformed(op *history.Operation, q request) error {
	answered := op.Outcome == history.Allowed || op.Outcome == history.Denied
	switch {
	case !(op.Cost > 0 && op.Cost <= math.MaxFloat64):
		return fmt.Errorf("cost is %v, want a finite number above 0", op.Cost)
	case !answered && op.Outcome != history.Unsent && op.Outcome != history.Unknown:
		return fmt.Errorf("outcome %d is none of allowed, denied, unsent and unknown", op.Outcome)
	case op.Return < op.Call:
		return fmt.Errorf("returns at %d ns, before its call at %d ns", op.Return, op.Call)
	case answered && op.Return == history.Forever:
		return errors.New("was answered and has no return")
	case op.Call >= r.origin && q.call < 0, q.ret < q.call:
		return errors.New("lies more than 292 years after the first")
	case q.call < r.now:
		return fmt.Errorf("is called %d ns before the one ahead of it; operations must come in order of call", r.now-q.call)
	}
	return nil
}

// sweep is the key's, begun now if there is none.
func (r *reading) sweep(key string, now int64) *sweep {
	s := r.known(key)
	if s == nil {
		s = newSweep(&r.rules, key, now)
		r.keys[key] = s
		r.order = append(r.order, s)
	}
	return s
}

// known is the key's sweep; nil when there is none.
func (r *reading) known(key string) *sweep {
	if s, ok := r.recent.find(key); ok {
		return s
	}
	s := r.keys[key]
	if s != nil {
		r.recent.keep(key, s)
	}
	return s
}

// sample notes what the samples taken before time t, on the history's clock,
// must be judged by: the grants that returned before the sample's call. (Not at
// its very instant: what returns then may have been decided after the look.)
func (r *reading) sample(t int64) {
	for len(r.glances) < len(r.samples) {
		m := &r.samples[len(r.glances)]
		if m.Call >= t {
			return
		}
		g := glance{}
		if s := r.keys[m.Key]; s != nil {
			s.retire(m.Call-r.origin, &r.crowd)
			g = s.glance(m, m.Return-r.origin)
		}
		r.glances = append(r.glances, g)
	}
}

func (r *reading) checkSamples() error {
	for i := range r.samples {
		m := &r.samples[i]
		switch {
		case m.Return < m.Call:
			return fmt.Errorf("sample %d: returns at %d ns, before its call at %d ns", i+1, m.Return, m.Call)
		case i > 0 && m.Call < r.samples[i-1].Call:
			return fmt.Errorf("sample %d: is called before the one ahead of it; samples must come in order of call", i+1)
		}
	}
	return nil
}
