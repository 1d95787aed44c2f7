package check

import (
	"math"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// server is a history as the server saw it: the same requests at the instants
// at which it decided them, on its own clock, in its own order.
//
// The embedded reading has a sweep a key for checks 1 and 2 and nothing else.
// Its times count like those of the history's: the first witnessed request
// begins at its call. Where the two clocks stand to each other is not needed.
type server struct {
	reading
	of      *reading
	referee *referee // nil: nothing to replay by

	zero     int64 // µs: the first witnessed request's began
	offset   int64 // ns: its call
	answered int64 // requests that were answered and have an instant
	within   int64 // the longest of those instants, ns
	back     int64 // the most that the clock is known to have gone back on a key, ns
	disorder int64 // times that the clock and the numbers of decisions disagree
}

// exactTolerance is ρ at the server's instants for a limiter that keeps a
// level. Its clock is the limiter's, so that nothing is left but the rounding of
// either's arithmetic.
const exactTolerance = 1e-9

// rounding1970 is half of what two neighbouring doubles near a time since 1970
// lie apart, in s: 119 ns when it is told in s, 122 in ms, 125 in µs, 128 in ns.
const rounding1970 = 128e-9

// toleranceAtServer is ρ at the server's instants for a rate in tokens per second.
//
// A limiter that keeps no level but a time, as GCRA does, adds the gap 1/R to a
// time since 1970 at each grant, and the sum is rounded to a double: by up to h,
// and each time the same way, for the last sum was such a double already. Its
// gaps are 1/R ± h and its rate at most R/(1 − R·h) = R·(1 + ρ), ρ = R·h/(1 −
// R·h). R = 130/s in µs: 7692.308 becomes 7692.25, 7.5e-6 too fast, which is
// 0.008 tokens after 1,060 grants.
//
// It is no more than a run allows a clock: beyond 781 tokens/s the time is too
// coarse for the limit, and that is a fault. A stored level is told by who has
// one: its arithmetic is on small numbers.
func toleranceAtServer(rate float64, level bool) float64 {
	if level {
		return exactTolerance
	}
	off := min(rate*rounding1970, DefaultRateTolerance)
	return min(exactTolerance+off/(1-off), DefaultRateTolerance)
}

// farthest is how far two of a server's instants may lie apart, in µs (31
// years); what is farther is no time of a server.
const farthest = 1e15

// newServer begins with the first witnessed request, which left the given state.
func newServer(r *reading, q *request, after bucket.State) *server {
	spec := *r.spec
	level := after.Exists && !math.IsNaN(after.Tokens)
	spec.RateTolerance, spec.ClockStray = toleranceAtServer(spec.Limit.Rate, level), 0
	v := &server{of: r, zero: q.began, offset: q.call, referee: newReferee(r.spec)}
	v.spec = &spec
	v.rules, _ = spec.rules() // r has validated it
	v.origin = r.origin
	return v
}

// at moves a request to the server's instants; false when it has none.
func (v *server) at(q *request, ended int64) bool {
	if q.began == 0 || ended < q.began || max(q.began-v.zero, v.zero-q.began, ended-q.began) > farthest {
		return false
	}
	q.call = (q.began-v.zero)*1000 + v.offset
	q.ret = (ended+1-v.zero)*1000 + v.offset
	return true
}

// witness takes the next request in, before its key's sweep sees its call.
func (r *reading) witness(s *sweep, q *request, op *history.Operation) {
	if q.outcome == history.Unsent || q.began == 0 && s.track == nil {
		return
	}
	if r.server == nil {
		r.server = newServer(r, q, op.Witness.After)
	}
	v := r.server
	w := witnessed{
		request: *q, sequence: op.Witness.Sequence, ended: op.Witness.AfterMicros, clock: op.Clock,
		before: op.Witness.Before, after: op.Witness.After,
	}
	seen := v.at(&w.request, w.ended)
	if s.track == nil {
		if !seen {
			return
		}
		s.track = &track{unknown: s.denials.unknown, early: s.level.lost / r.rules.charges, last: math.MinInt64}
	}
	v.release(s.track, s.began)
	switch {
	case seen:
		v.know(q.instance)
		if q.outcome != history.Unknown {
			v.answered++
			v.within = max(v.within, w.ret-w.call)
		}
		s.track.hold(&w)
	case q.outcome == history.Unknown:
		v.lose(s.track, s.began, &w.request)
	}
}

// know makes room for an instance, which has the same number as in the history.
func (v *server) know(instance int32) {
	for n := len(v.crowd.members); n <= int(instance); n++ {
		v.crowd.members = append(v.crowd.members, InstanceSummary{Name: v.of.crowd.members[n].Name})
	}
}

// lose takes in an unknown request that nobody witnessed. It may have been
// charged at any time after those that had returned by its call. (Nor is the
// first that left any later than that: a charge before it counts for all that
// follow, as one at its instant does.)
func (v *server) lose(t *track, bound int64, q *request) {
	t.unknown++
	if t.sweep == nil {
		t.early += q.cost
		return
	}
	q.call, q.ret = t.last, never
	if call := (bound-v.zero)*1000 + v.offset; bound != 0 {
		q.call = max(q.call, call)
	}
	t.last = q.call
	t.sweep.retire(q.call, &v.crowd)
	t.sweep.call(q)
}

// leave is the next request in the server's order.
func (v *server) leave(t *track, w *witnessed) {
	if t.sweep == nil {
		v.begin(t, w)
	}
	if w.call < t.last {
		v.back = max(v.back, t.last-w.call)
	} else {
		t.last = w.call
		t.sweep.retire(w.call, &v.crowd)
		t.sweep.call(&w.request)
	}
	t.charges.next(w, v.spec.Witnessed)
	if v.referee != nil {
		t.chain.next(v.referee, w, t.unknown-t.charges.missing)
	}
}

// begin opens a key's sweep at its first instant.
func (v *server) begin(t *track, w *witnessed) {
	t.sweep = newSweep(&v.rules, "", w.call)
	if t.early > 0 {
		t.sweep.call(&request{call: w.call, ret: never, cost: t.early, skew: noSkew, index: -1, outcome: history.Unknown})
		t.sweep.denials.unknown = t.unknown
	}
	v.order = append(v.order, t.sweep)
}

// unwatch ends a key.
func (r *reading) unwatch(s *sweep) {
	if t := s.track; t != nil {
		r.server.release(t, math.MaxInt64)
		if t.sweep != nil {
			t.sweep.key = s.key
			t.sweep.retire(never, &r.server.crowd)
			t.sweep.settle()
		}
		r.server.disorder += t.charges.disorder
	}
}
