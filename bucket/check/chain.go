package check

import (
	"math"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// referee replays decisions by the sequential model.
type referee struct {
	rule    bucket.Rule
	limit   bucket.Limit
	source  bucket.TimeSource
	shifted bool  // the limiter's TIME is not the witness's
	forever bool  // no key expires
	life    int64 // of a key after a decision, µs
}

func newReferee(s *Spec) *referee {
	if s.Model == nil {
		return nil
	}
	p := &referee{rule: *s.Model, limit: s.Limit, source: s.Time, shifted: s.ShiftedTime, life: s.life() / 1000}
	// The life is also 0 where the script's PEXPIRE deletes the key at once.
	p.forever = p.life == 0 && (s.TTL > 0 || s.Limit.TTLMillis() > 0)
	return p
}

// expired says that a key may have expired in so many µs since a decision
// renewed its life. Redis counts in whole milliseconds.
func (p *referee) expired(micros int64) bool {
	return !p.forever && micros >= p.life-1000
}

// now is the time that the script used, in the rule's ticks: what the caller's
// clock said, floored, or, where the clock is the server's, what was stored. ok
// is false where that is not known.
func (p *referee) now(w *witnessed) (now float64, ok bool) {
	if p.source != bucket.ServerTime && w.clock != history.NoClock {
		return p.ticks(w.clock), true
	}
	return w.after.Time, w.after.Exists && !math.IsNaN(w.after.Time)
}

// ticks floors a clock's reading in ns to the rule's ticks.
func (p *referee) ticks(clock int64) float64 {
	tick := int64(1e9 / p.rule.TicksPerSecond)
	n := clock / tick
	if clock%tick < 0 {
		n--
	}
	return float64(n)
}

// timely says that the time that the script used lies between the server's two.
func (p *referee) timely(w *witnessed, now float64) bool {
	if p.source != bucket.ServerTime || p.shifted {
		return true
	}
	tick := 1e6 / p.rule.TicksPerSecond // µs
	if now < math.Floor(float64(w.began)/tick) {
		return false
	}
	held := p.rule.Monotonic && w.before.Exists && now == w.before.Time
	return now <= math.Floor(float64(w.ended)/tick) || held
}

// chain is the replay of one key: each decision by the model from what was
// stored before it, and each state before from the state after the decision
// ahead of it.
type chain struct {
	ahead witnessed // the decision ahead; its index is −1 before the first

	compared    int64 // decisions held against the model
	divergences int64 // decisions that differ from it, or do not follow from the one ahead
	gaps        int64 // stretches of missing numbers, bridged
	restarts    int64 // times that the numbers fell back or repeated, bridged
	expiries    int64 // times that a key was gone, rightly
	unseen      int64 // decisions whose state or time is not known

	recent  [shownAhead]int64 // operations: the last few, in a ring
	links   int64             // how many came
	first   *divergence
	missing int // operations yet to come behind the first divergence
}

// How many operations are shown around a divergence.
const (
	shownAhead  = 5
	shownBehind = 2
)

// next takes the next decision in the server's order. astray is how many unknown
// requests there are whose numbers have not been missed. They may have taken all
// numbers before w's on a store that was lost meanwhile: 1 is seen, all is
// flushed, the new 1 is not, and 2 does not follow from what was seen.
func (c *chain) next(p *referee, w *witnessed, astray int64) {
	d := c.link(p, w)
	if d != nil && w.sequence-1 <= astray {
		d = nil
		c.gaps++
	}
	if w.outcome != history.Unknown {
		if e := c.decide(p, w); d == nil {
			d = e
		}
	}
	if d != nil {
		c.divergences++
		if c.first == nil {
			d.of, d.ahead = *w, c.ahead
			d.around = c.lately()
			c.first, c.missing = d, shownBehind+1
		}
	}
	if c.missing > 0 {
		c.first.around = append(c.first.around, w.index)
		c.missing--
	}
	c.recent[c.links%shownAhead] = w.index
	c.links++
	c.ahead = *w
}

// lately is the last few operations, the oldest first.
func (c *chain) lately() []int64 {
	var at []int64
	for i := max(0, c.links-shownAhead); i < c.links; i++ {
		at = append(at, c.recent[i%shownAhead])
	}
	return at
}

// follows says that w is the decision after the one ahead. Where numbers are
// missing nothing is known of what happened between; where they fall back or
// repeat, or the server's clock did, the store is not the one it was.
func (c *chain) follows(w *witnessed) bool {
	switch a := &c.ahead; {
	case c.links == 0 || w.sequence == 0 || a.sequence == 0:
		return false
	case w.sequence <= a.sequence:
		c.restarts++
		return false
	case w.sequence > a.sequence+1:
		c.gaps++
		return false
	default:
		return w.began >= a.began
	}
}

// link holds the state before w against the one that the decision ahead left.
func (c *chain) link(p *referee, w *witnessed) *divergence {
	if !c.follows(w) {
		return nil
	}
	left, found := c.ahead.after, w.before
	may := p.expired(w.began + 1 - c.ahead.began)
	switch {
	case left.Exists && found.Exists:
		if !alike(left.Tokens, found.Tokens) || !alike(left.Time, found.Time) {
			return &divergence{kind: kindChanged, model: left, found: found}
		}
	case found.Exists:
		return &divergence{kind: kindAppeared, found: found}
	case !may && left.Exists:
		return &divergence{kind: kindGone, model: left}
	case !may:
		return &divergence{kind: kindUnstored}
	default:
		c.expiries++
	}
	return nil
}

// alike says that two numbers are the same, as far as both are known.
func alike(a, b float64) bool { return a == b || math.IsNaN(a) || math.IsNaN(b) }

// wholly says that nothing of a state is hidden.
func wholly(s bucket.State) bool {
	return !s.Exists || !math.IsNaN(s.Tokens) && !math.IsNaN(s.Time)
}

// decide holds a decision and what it stored against the model. A server before
// Redis 7.2 looks at the clock anew for each command of a block, so that a key
// which was there before the decision may have expired for it; one whose clock
// stands still in a block does not.
func (c *chain) decide(p *referee, w *witnessed) *divergence {
	now, ok := p.now(w)
	if !ok || !wholly(w.before) {
		c.unseen++
		return nil
	}
	c.compared++
	kind := p.differs(w, w.before, now)
	if kind == kindNone {
		return nil
	}
	if w.before.Exists && w.ended > w.began {
		linked := c.links > 0 && w.sequence == c.ahead.sequence+1
		if (!linked || p.expired(w.ended+1-c.ahead.began)) && p.differs(w, bucket.State{}, now) == kindNone {
			c.expiries++
			return nil
		}
	}
	d := &divergence{kind: kind, from: w.before, now: now}
	d.model, d.allowed = p.rule.Take(w.before, p.limit, now, w.cost)
	return d
}

// differs says in what a decision differs from the model's from a given state.
// Of a key that is gone after the decision the next one tells more.
func (p *referee) differs(w *witnessed, from bucket.State, now float64) divergenceKind {
	model, allowed := p.rule.Take(from, p.limit, now, w.cost)
	switch {
	case !p.timely(w, now):
		return kindTime
	case allowed != (w.outcome == history.Allowed):
		return kindDecision
	case w.after.Exists && !alike(w.after.Tokens, model.Tokens):
		return kindStored
	case w.after.Exists && !alike(w.after.Time, model.Time):
		return kindStamp
	}
	return kindNone
}
