package check

import (
	"math"

	"bucketproof/bucket/history"
)

// callWindowed is the event of a request's call under a contract that counts in
// windows.
func (s *sweep) callWindowed(q *request) {
	s.windowed.call(q)
	if q.outcome == history.Unknown {
		s.denials.unknown++
		s.level.lost += s.rules.charges * q.cost
		return
	}
	if s.line.full() {
		s.tidy()
	}
	place := s.line.join(*q)
	s.pending.push(due{ret: q.ret, place: int32(place)})
}

// landWindowed is the event of its return.
func (s *sweep) landWindowed(q *request, crowd *crowd) {
	if q.outcome == history.Denied {
		s.justifyWindowed(q, crowd)
		return
	}
	s.over.tokens += q.cost
	s.over.grants++
	s.over.whole = s.over.whole && q.cost == math.Trunc(q.cost)
	s.audit.last = max(s.audit.last, q.call)
	s.windowed.land(q, &s.line, s.denials.unknown > 0)
	s.denials.relieve(q.instance)
}

// justifyWindowed judges a denial at its return. What unknown requests may yet
// be charged counts in every window.
func (s *sweep) justifyWindowed(q *request, c *crowd) {
	d, r := &s.denials, s.rules
	if q.cost > r.capacity {
		return // can never be granted
	}
	d.judged++
	room := r.capacity - q.cost - s.level.lost
	if room < -tolerance && s.level.lost > 0 {
		d.blind++
		return
	}
	if !s.windowed.spurious(q, room, r.empty, &s.line) {
		return
	}
	d.spurious++
	d.unexplained++
	if len(d.first) < evidenceMost {
		d.first = append(d.first, q.index)
	}
	d.deny(q, c)
}

// settle is called when everything has returned.
func (s *sweep) settle() {
	w := s.windowed
	if w == nil {
		return
	}
	full, excess := w.least()
	s.over.peak, s.over.start, s.over.end, s.over.granted = full.peak, full.start, full.end, full.granted
	s.over.before, s.over.excess = full.before, excess
	s.rate.ideal.granted = w.ideal.granted
}
