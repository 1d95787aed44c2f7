package check

import (
	"math"

	"bucketproof/bucket/history"
)

// sweep is everything one pass over one key's events keeps. Events come in
// order of time; at one instant all calls come before all returns. (With the
// returns first, a grant that ends where a window begins would not be seen to
// lie in it, nor a grant to fly at the instant of a denial: [0, 1] and [1, 1]
// share the instant 1.)
type sweep struct {
	rules *rules
	key   string

	line    line
	pending pending

	windows  *admission // check 1
	strikes  *admission // the same with bases, once a window is broken
	over     overshoot
	level    level // check 2
	minima   minima
	free     level // the same if no denial touched the bucket, see beyond
	taken    int   // place of the grant called last
	landed   int64 // return of the grant that returned last
	touched  int   // place of the last request whose decision may touch the bucket
	denials  denials
	rate     arrivals  // check 3
	windowed *windowed // checks 1 to 3 of a contract that counts in windows; nil: a token bucket
	skews    skews
	audit    trail // check 4

	replies conversation // what the limiter tells of the bucket
	track   *track       // what the server saw; nil: nothing
	excerpt *excerpt     // check 6; nil: not asked for
	began   int64        // the largest began of the requests that have returned, µs
	decided int64        // the largest call of the requests that have returned
}

// firstPlaces is the length of a new key's line.
const firstPlaces = 4

func newSweep(r *rules, key string, now int64) *sweep {
	s := &sweep{
		rules:   r,
		key:     key,
		line:    line{places: make([]request, 0, firstPlaces)},
		windows: newAdmission(firstPlaces, r.fast),
		minima:  newMinima(firstPlaces),
		level:   level{tokens: r.capacity, room: r.capacity, full: r.capacity, rate: r.slow},
	}
	s.free = s.level
	s.taken, s.landed = -1, math.MinInt64
	s.over.peak = math.Inf(-1)
	s.over.whole = true
	s.skews.reset()
	s.audit.last = math.MinInt64
	s.rate.expiries = expiries{life: r.life, from: now, late: math.MinInt64}
	s.rate.ideal = replay{level: r.capacity, capacity: r.capacity, rate: r.rate}
	if r.frame != nil {
		s.windowed = newWindowed(r)
	}
	if r.empty {
		// The history's first record finds the bucket in any state, so at the
		// latest then it begins to earn.
		s.level.tokens, s.level.since = 0, 0
		s.free = s.level
	} else {
		s.level.since, s.free.since = now, now
		s.level.tokens += r.slack + 2*tolerance // full for ever so far, see deny
		s.free.tokens = math.Inf(1)
	}
	return s
}

// call is the event of a request's call. Everything that returned before it
// must have been retired.
func (s *sweep) call(q *request) {
	if q.outcome == history.Unsent {
		return
	}
	s.skews.see(q)
	s.rate.see(q)
	if s.windowed != nil {
		s.callWindowed(q)
		return
	}
	if q.outcome == history.Unknown {
		s.denials.unknown++
		s.minima.dip(s.level.lose(q.call, s.rules.charges*q.cost))
		s.free.lose(q.call, s.rules.charges*q.cost)
		return
	}
	if s.line.full() {
		s.tidy()
	}
	place := s.line.join(*q)
	s.pending.push(due{ret: q.ret, place: int32(place)})
	if q.outcome == history.Denied {
		s.deny(place)
		return
	}
	s.admit(place, q)
	s.minima.dip(s.level.take(q.call, q.cost))
	s.free.take(q.call, q.cost)
	s.taken = place
}

// deny opens a denial. The level that it finds will be held against cost + R·g,
// for the limiter's clock may be R·g behind what the bucket has earned since it
// was last touched. But a bucket that nobody has touched for longer than that is
// full whatever its clock: it holds C, not C − R·g. (For C = 1 this is the only
// denial that can be shown to be wrong.) So while a denial is alone the level is
// followed R·g beyond C.
//
// A touch is any other decision, since it stores a reading from which the next
// may be up to g behind; where one clock decides everything (steady), readings
// never go back, so that only what takes tokens is a touch.
func (s *sweep) deny(place int) {
	q := &s.line.places[place]
	others := s.line.open - 1
	if s.rules.steady {
		others = s.level.flying
	}
	q.alone = others == 0 && s.denials.unknown == 0
	switch {
	case q.alone:
		s.minima.begin(place, min(s.level.loose(q.call), s.rules.capacity+s.rules.slack+2*tolerance))
	case s.rules.steady:
		s.minima.begin(place, min(s.level.loose(q.call), s.level.room))
	default:
		s.minima.begin(place, s.level.at(q.call))
	}
	if !s.rules.steady {
		s.touched = place
	}
}

// admit opens the windows that begin at a grant's call.
func (s *sweep) admit(place int, q *request) {
	s.touched = place
	if q.cost != math.Trunc(q.cost) {
		s.over.whole = false
	}
	s.audit.quiet(s, q.call)
	s.windows.begin(&s.line, place, 0)
	if s.strikes != nil {
		s.strikes.begin(&s.line, place, s.over.excess)
	}
}

// retire handles every return before the given time.
func (s *sweep) retire(before int64, crowd *crowd) {
	for len(s.pending) > 0 && s.pending[0].ret < before {
		place := int(s.pending.pop().place)
		q := s.line.leave(place)
		s.began, s.decided = max(s.began, q.began), max(s.decided, q.call)
		if s.windowed != nil {
			s.landWindowed(q, crowd)
			continue
		}
		if q.outcome == history.Denied {
			if !s.rules.steady {
				s.level.at(q.ret)
			}
			alone := q.alone && s.touched <= place && s.denials.unknown == 0
			s.justify(place, q, s.minima.of(place), alone, crowd)
			continue
		}
		s.level.land(q.ret, q.cost)
		s.free.land(q.ret, q.cost)
		s.landed = q.ret
		s.granted(place, q)
		s.denials.relieve(q.instance)
	}
}

// granted is the return of a grant: windows end here.
func (s *sweep) granted(place int, q *request) {
	s.over.tokens += q.cost
	s.over.grants++
	s.audit.last = max(s.audit.last, q.call)
	s.windows.grant(&s.line, place, q.cost)
	start, tokens, _, _ := s.windows.worst(&s.line)
	bound := s.rules.capacity + s.rules.fast*float64(q.ret-start)
	s.over.note(start, q.ret, tokens, bound)
	if s.strikes == nil {
		if tokens-bound-s.rules.slack <= tolerance {
			return
		}
		s.strikes = s.windows.fork()
	} else {
		s.strikes.grant(&s.line, place, q.cost)
	}
	start, tokens, base, _ := s.strikes.worst(&s.line)
	bound = s.rules.capacity + s.rules.fast*float64(q.ret-start)
	s.over.strike(base, tokens-bound-s.rules.slack)
}

// tidy drops places that nothing refers to any more. When more than half are
// still wanted it doubles the line, so that the work for a place is constant.
func (s *sweep) tidy() {
	s.windows.prune(&s.line)
	if s.strikes != nil {
		s.strikes.prune(&s.line)
	}
	s.minima.prune(&s.line)
	to := s.line.to[:0]
	kept := 0
	for p := range s.line.places {
		to = append(to, int32(kept))
		if s.wanted(p) {
			s.line.places[kept] = s.line.places[p]
			kept++
		}
	}
	s.line.places, s.line.to = s.line.places[:kept], to
	s.move(to)
	if kept > cap(s.line.places)/2 {
		s.grow(2 * cap(s.line.places))
	}
}

func (s *sweep) wanted(p int) bool {
	return s.line.places[p].open || s.windows.alive.has(p) || s.minima.groups.has(p) ||
		s.strikes != nil && s.strikes.alive.has(p)
}

func (s *sweep) move(to []int32) {
	s.windows.move(to)
	if s.strikes != nil {
		s.strikes.move(to)
	}
	s.minima.move(to)
	s.touched = int(to[s.touched]) // if dropped, that of the next one kept
	if s.taken >= 0 {
		s.taken = int(to[s.taken])
	}
	for i := range s.pending {
		s.pending[i].place = to[s.pending[i].place]
	}
}

func (s *sweep) grow(places int) {
	s.line.places = append(make([]request, 0, places), s.line.places...)
	s.windows.grow(places)
	if s.strikes != nil {
		s.strikes.grow(places)
	}
	s.minima.grow(places)
}
