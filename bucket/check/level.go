package check

import "bucketproof/bucket/history"

// level is the pessimistic level of check 2: the fewest tokens that any
// placement of the other requests leaves in the bucket. It earns R·dt between
// events up to C − (cost of grants in flight), and loses a grant's cost at the
// grant's call. At time t it is
//
//	min over s ≤ t of  C + R·(t − s) − Σ cost of grants that may lie in [s, t],
//
// where a grant may lie in [s, t] when its call ≤ t and its return ≥ s.
//
// It is kept as (tokens at an instant) + R·(time since) − (spent since), both
// exact sums for whole costs, so that millions of events add no rounding.
type level struct {
	tokens float64 // at since
	since  int64   // ns
	spent  float64 // tokens charged since
	room   float64 // C − cost of grants in flight − unknown charges: the level's ceiling
	flying int     // grants in flight
	lost   float64 // tokens that unknown requests may yet charge
	rate   float64 // tokens per ns
	full   float64 // C
}

// spentMost bounds the sums that a level is kept as: beyond it they are
// settled, at the price of one rounding.
const spentMost = 1 << 20

// at is the level at time t ≥ every time before.
func (v *level) at(t int64) float64 {
	now := v.loose(t)
	if now >= v.room {
		now = v.room
		v.tokens, v.since, v.spent = now, t, 0
	} else if v.spent > spentMost {
		v.tokens, v.since, v.spent = now, t, 0
	}
	return now
}

// loose is the level at time t if it had no ceiling since the last event: what
// a bucket that nobody touched since has earned, however full it is.
func (v *level) loose(t int64) float64 {
	return v.tokens + v.rate*float64(t-v.since) - v.spent
}

// take charges a grant at its call and returns the level after it.
func (v *level) take(t int64, cost float64) float64 {
	now := v.at(t)
	v.spent += cost
	v.room -= cost
	v.flying++
	return now - cost
}

// land ends a grant's flight at its return.
func (v *level) land(t int64, cost float64) {
	v.at(t)
	v.flying--
	if v.room += cost; v.flying == 0 {
		v.room = v.full - v.lost // forgets what rounding left of fractional costs
	}
}

// lose charges an unknown request, in flight for ever, and returns the level
// after it.
func (v *level) lose(t int64, cost float64) float64 {
	now := v.at(t)
	v.spent += cost
	v.room -= cost
	v.lost += cost
	return now - cost
}

// minima follows the smallest level since the call of each denial under way.
// Denials that have the same minimum so far have it for ever and form a group;
// a group's place is that of its oldest denial, and minima rise from older to
// newer groups. A dip swallows the newest groups that are not below it: each
// group falls once.
type minima struct {
	groups bitset
	least  []float64 // tokens, of the group at a place
	newest int       // place of the newest group; −1: none
}

func newMinima(places int) minima {
	return minima{groups: newBitset(places), least: make([]float64, places), newest: -1}
}

// begin opens the denial at a place when the level is now.
func (m *minima) begin(place int, now float64) {
	m.dip(now)
	if m.newest >= 0 && m.least[m.newest] == now {
		return // the same minimum as the newest group's
	}
	m.groups.set(place)
	m.least[place] = now
	m.newest = place
}

// dip tells that the level fell to now.
func (m *minima) dip(now float64) {
	x := m.newest
	if x < 0 || m.least[x] <= now {
		return
	}
	for {
		older := m.groups.upTo(x - 1)
		if older < 0 || m.least[older] < now {
			break
		}
		m.groups.clear(x)
		x = older
	}
	m.least[x] = now
	m.newest = x
}

// of is the smallest level since the call of the denial at a place.
func (m *minima) of(place int) float64 { return m.least[m.groups.upTo(place)] }

// prune drops groups whose denials have all returned.
func (m *minima) prune(l *line) {
	wanted := false
	for p := len(l.places) - 1; p >= 0; p-- {
		if l.isOpen(p, history.Denied) {
			wanted = true
		}
		if m.groups.has(p) {
			if !wanted {
				m.groups.clear(p)
			}
			wanted = false
		}
	}
	m.newest = m.groups.upTo(len(l.places) - 1)
}

// move takes the groups to the places to[p] ≤ p, in the same order.
func (m *minima) move(to []int32) {
	for p := m.groups.after(-1); p >= 0; p = m.groups.after(p) {
		q := int(to[p])
		m.groups.clear(p)
		m.groups.set(q)
		m.least[q] = m.least[p]
	}
	if m.newest >= 0 {
		m.newest = int(to[m.newest])
	}
}

// grow makes room for so many places.
func (m *minima) grow(places int) {
	m.groups = grown(m.groups, (places+63)/64)
	m.least = grown(m.least, places)
}
