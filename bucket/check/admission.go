package check

import (
	"bucketproof/bucket/history"
)

// admission finds the worst window of check 1 as the events go by. A grant
// surely lies in [a, b] when a ≤ its call and its return ≤ b, and the window is
// broken when
//
//	Σ cost of grants surely in [a, b]  >  C + R·(b − a).
//
// It suffices to begin windows at calls of grants and end them at returns. A
// candidate start a is worth
//
//	value(a) = base + Σ cost of grants with call ≥ a that have returned + R·a,
//
// and the overshoot of the worst window that ends now is max value − R·now − C.
//
// Candidates are kept in order of time with values strictly rising, so that
// the newest is the best: a grant that returns counts for all candidates up to
// its call, hence for every older one whenever it counts for a newer one, and a
// candidate that has fallen to the value of an older one can never overtake it
// again. Values are kept as differences: behind[x] counts the tokens surely
// granted since x but not since the next candidate. So a returning grant
// changes one number, each candidate falls once, and R·a itself is never formed:
// for a history counted from 1970 at R = 1e6/s it would be 1.8e15, where
// doubles stand a quarter of a token apart.
type admission struct {
	alive  bitset    // the candidates' places in line
	behind []float64 // tokens; for the newest: all since it
	base   []float64 // tokens that were over in windows before this one began; nil: 0
	newest int       // place of the newest candidate; −1: none
	rate   float64   // R, tokens per ns
}

func newAdmission(places int, rate float64) *admission {
	return &admission{
		alive: newBitset(places), behind: make([]float64, places), newest: -1, rate: rate,
	}
}

// begin opens a candidate at the call of the grant at a place, worth base
// tokens from the start. It is dropped at once when an older one is worth as
// much.
func (w *admission) begin(l *line, place int, base float64) {
	if w.newest >= 0 && w.lead(l, w.newest, place, base) <= 0 {
		return
	}
	w.alive.set(place)
	w.behind[place] = 0
	if w.base != nil {
		w.base[place] = base
	}
	w.newest = place
}

// lead is by how many tokens the value of the candidate at place y, with the
// given base, exceeds that of the next older one at place x.
func (w *admission) lead(l *line, x, y int, base float64) float64 {
	if w.base != nil {
		base -= w.base[x]
	}
	return w.rate*float64(l.places[y].call-l.places[x].call) + base - w.behind[x]
}

// grant counts a grant that has returned, called at a place.
func (w *admission) grant(l *line, place int, cost float64) {
	x := w.alive.upTo(place)
	if x < 0 {
		return
	}
	w.behind[x] += cost
	for x != w.newest {
		y := w.alive.after(x)
		base := 0.0
		if w.base != nil {
			base = w.base[y]
		}
		if w.lead(l, x, y, base) > 0 {
			return
		}
		w.behind[x] += w.behind[y]
		w.alive.clear(y)
		if y == w.newest {
			w.newest = x
		}
	}
}

// worst is the best candidate's start and the tokens surely granted since it,
// and base with them; ok is false before the first grant.
func (w *admission) worst(l *line) (start int64, granted, base float64, ok bool) {
	if w.newest < 0 {
		return 0, 0, 0, false
	}
	if w.base != nil {
		base = w.base[w.newest]
	}
	return l.places[w.newest].call, w.behind[w.newest], base, true
}

// prune drops candidates that nothing sets apart from the next newer one: with
// no grant under way that was called between the two, both will get the same
// additions, and the newer is worth more. What is left is at most one a grant
// under way, and one. (Doing so only for those older than every open call is
// not enough: one call held for the whole run would keep thousands.)
func (w *admission) prune(l *line) {
	apart, carried := false, 0.0
	for p := w.newest; p >= 0; p-- {
		if l.isOpen(p, history.Allowed) {
			apart = true
		}
		if !w.alive.has(p) {
			continue
		}
		w.behind[p] += carried
		carried = 0
		if p != w.newest && !apart {
			w.alive.clear(p)
			carried = w.behind[p]
		}
		apart = false
	}
}

// move takes the candidates to the places to[p] ≤ p, in the same order.
func (w *admission) move(to []int32) {
	for p := w.alive.after(-1); p >= 0; p = w.alive.after(p) {
		q := int(to[p])
		w.alive.clear(p)
		w.alive.set(q)
		w.behind[q] = w.behind[p]
		if w.base != nil {
			w.base[q] = w.base[p]
		}
	}
	if w.newest >= 0 {
		w.newest = int(to[w.newest])
	}
}

// grow makes room for so many places.
func (w *admission) grow(places int) {
	w.alive = grown(w.alive, (places+63)/64)
	w.behind = grown(w.behind, places)
	if w.base != nil {
		w.base = grown(w.base, places)
	}
}

// fork copies w into a structure whose candidates carry bases, all 0 so far.
func (w *admission) fork() *admission {
	f := newAdmission(len(w.behind), w.rate)
	copy(f.alive, w.alive)
	copy(f.behind, w.behind)
	f.base = make([]float64, len(w.behind))
	f.newest = w.newest
	return f
}
