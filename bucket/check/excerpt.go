package check

import (
	"fmt"
	"math"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// The most that the search for an order can be asked: it is exponential in the
// requests in flight, unless the server numbered them.
const (
	excerptMost   = 1000   // requests of a key
	excerptsMost  = 20_000 // requests in all
	crowdMost     = 8      // requests in flight, and of unknown outcome
	numberedMost  = 256    // requests in flight where they are numbered
	excerptFewest = 10     // requests, below which a key is passed over
)

// excerpt is the beginning of one key's history, as far as it can be searched
// for an order: until too many requests are in flight, or too many were called,
// or the key may have expired.
//
// If the whole history has an order then so has the excerpt, where what had not
// returned by the cut may be left out: all that had returned was decided before
// anything called from the cut on.
type excerpt struct {
	calls    []quoted
	cut      int64  // ns: everything called from it on is left out; never: nothing is
	why      string // what made the cut; "" for none
	first    int64  // the first call, ns
	numbered bool   // the server told each decision's number, states and time
}

// quoted is a request of an excerpt. Times are ns as in a sweep.
type quoted struct {
	call, ret int64
	clock     int64 // ns since the Unix epoch; history.NoClock: not known
	index     int64
	cost      float64
	instance  int32
	outcome   history.Outcome
	seen      bucket.Witness // zero: none
}

// quote takes the next request into its key's excerpt, after the key's sweep saw
// its call.
func (r *reading) quote(s *sweep, q *request, op *history.Operation) {
	if r.spec.Model == nil || r.spec.LinearizeTimeout < 0 || q.outcome == history.Unsent {
		return
	}
	e := s.excerpt
	if e == nil {
		e = &excerpt{cut: never, first: q.call, numbered: isNumbered(op)}
		s.excerpt = e
	}
	if e.cut != never {
		return
	}
	if e.why = r.unfit(e, s, q, op); e.why != "" {
		e.cut = q.call
		return
	}
	r.quoted++
	e.calls = append(e.calls, quoted{
		call: q.call, ret: q.ret, clock: op.Clock, index: q.index, cost: q.cost, instance: q.instance,
		outcome: q.outcome, seen: op.Witness,
	})
}

// isNumbered says that the server told all of a decision.
func isNumbered(op *history.Operation) bool {
	w := &op.Witness
	return w.Sequence > 0 && w.BeforeMicros > 0 && isTold(w.Before) && isTold(w.After)
}

func isTold(s bucket.State) bool {
	return !s.Exists || s.Tokens == s.Tokens && s.Time == s.Time
}

// unfit says why an excerpt must end before q; "" when it need not.
func (r *reading) unfit(e *excerpt, s *sweep, q *request, op *history.Operation) string {
	most := crowdMost
	if e.numbered {
		most = numberedMost
	}
	switch answered := q.outcome != history.Unknown; {
	case len(e.calls) == excerptMost, r.quoted == excerptsMost:
		return "it is long"
	case s.line.open > most || s.denials.unknown > crowdMost || !e.numbered && s.line.open+int(s.denials.unknown) > crowdMost:
		return fmt.Sprintf("more than %d requests were in flight", most)
	case answered && isNumbered(op) != e.numbered:
		return "the server saw only some of the requests"
	case !e.numbered && r.spec.Time != bucket.CallerTime:
		return "nobody told the time that the limiter used"
	case op.Clock == history.NoClock && r.spec.Time == bucket.CallerTime:
		return "a caller's clock is not known"
	case !e.numbered && r.spec.EmptyStart:
		return "the first state is not known"
	case r.leaps(0, q.ret) > 0:
		return "the clock that keys expire by went forward"
	case answered && q.ret-max(e.first, s.decided) >= r.idle():
		return "the key may have expired"
	}
	return ""
}

// idle is how long a key surely lives after a decision, ns.
func (r *reading) idle() int64 {
	life := r.spec.life()
	if life == 0 && r.spec.Limit.TTLMillis() > 0 {
		return math.MaxInt64
	}
	return life - int64(rounding) - int64(r.spec.ClockStray)
}

// pending says that of the first n requests of the excerpt the i-th had not
// returned when the next one was called.
func (e *excerpt) pending(i, n int) bool {
	cut := e.cut
	if n < len(e.calls) {
		cut = e.calls[n].call
	}
	return e.calls[i].ret >= cut
}
