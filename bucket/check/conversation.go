package check

import (
	"math"

	"bucketproof/bucket/history"
)

// said is an answer and what was told beside it.
type said struct {
	request
	remaining float64 // tokens; NaN: not told
	retry     int64   // ns; below 0: not told
}

// conversation follows what one key's replies tell of the bucket. Only a lone
// answer is judged, one whose [call, return] meets that of no other answered
// request: then it is known what came before it.
type conversation struct {
	last said // the last answer; it is judged when the next call shows whether it is lone
	held bool // there is one that is not judged yet
	lone bool // no answer was under way at its call, nor was one called since

	base     anchor
	promises []promise
	judged   int64
	broken   breaches
}

// anchor is what a lone answer told of the level: from its call on there were at
// most so many tokens, without what was earned and taken since.
type anchor struct {
	level float64
	since int64   // ns
	taken float64 // tokens granted after it
	index int64   // which operation
	known bool
}

// hear takes a reply in, after its key's sweep saw the call.
func (r *reading) hear(s *sweep, q *request, op *history.Operation) {
	if q.outcome != history.Allowed && q.outcome != history.Denied {
		return
	}
	if !r.tells && math.IsNaN(op.Remaining) && op.RetryAfter < 0 {
		return
	}
	r.tells = true
	c := &s.replies
	if c.held && q.call <= c.last.ret {
		c.lone = false
	}
	c.settle(r, s)
	c.last, c.held = said{*q, op.Remaining, int64(op.RetryAfter)}, true
	c.lone = s.line.open == 1
}

// settle judges the last answer if it is lone, and keeps it in mind.
func (c *conversation) settle(r *reading, s *sweep) {
	if !c.held {
		return
	}
	a := &c.last
	c.held = false
	granted := a.outcome == history.Allowed
	if c.lone && c.judge(r, s) {
		c.judged++
	}
	if granted {
		c.promises = c.promises[:0]
	}
	switch {
	case c.lone && !math.IsNaN(a.remaining):
		c.base = anchor{level: min(c.highest(), r.rules.capacity), since: a.call, index: a.index, known: true}
	case granted:
		c.base.taken += a.cost
	}
}

// highest is the most tokens that the last answer leaves in the bucket by what
// it tells, which may be floored. A denial may tell 0 of a level that is merely
// below its cost.
func (c *conversation) highest() float64 {
	if c.last.outcome == history.Denied {
		return max(c.last.remaining+1, c.last.cost)
	}
	return c.last.remaining + 1
}

// judge judges a lone answer. It reports whether there was anything to judge.
func (c *conversation) judge(r *reading, s *sweep) bool {
	a := &c.last
	told := !math.IsNaN(a.remaining)
	if told {
		c.remaining(r, s)
	}
	if a.cost > r.rules.capacity {
		return told // can never be granted, whatever it is told
	}
	due := c.due(a)
	if a.outcome == history.Denied {
		if due != nil && s.denials.unknown == 0 { // what an unknown request took may be what is missing
			c.kept(r, s, due)
		}
		if a.retry >= 0 {
			c.broken.long = max(c.broken.long, bounded(float64(a.retry)-r.rules.wait(a.cost)))
			c.promise(newPromise(a, &r.rules))
			told = true
		}
	}
	return told || due != nil
}

// remaining judges what a lone answer told to remain: a number in [0, C] that
// has not risen since the anchor by more than was earned from that call to this
// return less what was granted. The anchor's floor may make it a token more.
func (c *conversation) remaining(r *reading, s *sweep) {
	a, l := &c.last, &r.rules
	switch {
	case a.remaining > l.capacity+tolerance:
		c.broken.ranges++
		c.breach(r, s, math.Inf(1), []int64{a.index}, "told %s remaining of %s", exactly(l.capacity, a.remaining), tokens(l.capacity))
		return
	case a.remaining < -tolerance: // −0.1 may be told as −1
		c.broken.ranges++
		c.breach(r, s, (-a.remaining-1)/l.rate, []int64{a.index}, "told %s remaining", tokens(a.remaining))
	}
	if !c.base.known || l.frame != nil { // a window may end, and all be there again
		return
	}
	most := c.base.level + l.fast*float64(a.ret-c.base.since) + l.slack - c.base.taken
	if a.outcome == history.Allowed {
		most -= a.cost
	}
	if off := a.remaining - most; off > tolerance {
		c.broken.rises++
		late := off / l.rate
		if l.life > 0 && a.ret-c.base.since >= l.life && s.skews.spread()+s.skews.longest > 0 {
			late = 0 // the key may have expired, and is full
		}
		c.breach(r, s, late, []int64{c.base.index, a.index}, "told %s remaining where at most %s can be", tokens(a.remaining), tokens(max(0, most)))
	}
}
