package check

import (
	"bucketproof/bucket/history"
)

// noSkew is the skew of a request whose instance's clock is not known.
const noSkew = history.NoClock

// request is what a sweep remembers of a request under way. Times are
// nanoseconds since the history's first call.
type request struct {
	call, ret int64
	cost      float64 // tokens
	skew      int64   // clock − call, ns up to a constant; noSkew: not known
	wide      int64   // so much more it may be, ns ≥ 0
	index     int64   // which operation of the history
	began     int64   // the server's clock just before the decision, µs since the Unix epoch; 0: not known
	instance  int32
	outcome   history.Outcome
	open      bool // not yet returned
	alone     bool // a denial at whose call no other request was under way
}

// line holds the requests of one key in order of their calls: every one that
// is under way and, until the next tidying, some that have returned. A place
// in it stands for a call time in the structures that run beside it.
type line struct {
	places []request
	to     []int32 // scratch of tidying: where each place went
	open   int     // requests under way
	most   int     // the most that were under way at once
}

// full says that the line must be tidied or grown before the next join.
func (l *line) full() bool { return len(l.places) == cap(l.places) }

// join appends r, which is under way, and returns its place.
func (l *line) join(r request) int {
	r.open = true
	l.places = append(l.places, r)
	l.open++
	l.most = max(l.most, l.open)
	return len(l.places) - 1
}

// leave marks the request at a place as returned.
func (l *line) leave(place int) *request {
	r := &l.places[place]
	r.open = false
	l.open--
	return r
}

// isOpen says that the request at a place is under way with outcome o.
func (l *line) isOpen(place int, o history.Outcome) bool {
	return l.places[place].open && l.places[place].outcome == o
}

// grown is s with room for n elements, the new ones zero.
func grown[S ~[]E, E any](s S, n int) S {
	if len(s) >= n {
		return s
	}
	return append(s, make(S, n-len(s))...)
}
