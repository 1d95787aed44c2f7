package check

import "math"

// phaseCount is into how many parts a window is cut to say where the boundaries
// lie that follow one another W apart.
const phaseCount = 64

// phases are accounts of a limiter whose windows [φ + k·W, φ + (k + 1)·W) follow
// one another without a gap, one for each part of W that φ may lie in. In the
// j-th the boundary between the windows k − 1 and k lies in
//
//	[j·W/64 + k·W − g − ρ·t,  (j + 1)·W/64 + k·W + g + ρ·t],
//
// t being the time since the history's first call, in which the limiter's clock
// may have gone ρ·t astray. A request is surely in a window when its call and
// return lie between the zones of two boundaries, and may be in it when they
// meet that stretch or its zones.
//
// Each counts the tokens surely granted in the window under way and in the one
// before, for the upper bound, and those that may have been, for the lower one.
type phases struct {
	frame    *frame
	weighted bool // the window before counts by how much of it the last W covers
	part     float64
	parts    [phaseCount]phase
}

// tally is what was surely granted in a window, and what of it is not struck.
type tally struct{ sum, left float64 }

func (t *tally) add(cost float64) {
	t.sum += cost
	t.left += cost
}

// phase is one account.
type phase struct {
	window int64 // that the last surely placed grant lies in
	count  tally // in it
	before tally // in the one before, or in either
	edge   tally // in the window under way or the next, where last such a grant lies
	next   int64 // that next window
	first  int64 // the earliest call counted
	full   fullest
	excess float64

	newest int64      // the newest window that an instant so far may lie in
	may    [3]float64 // tokens that may have been granted in it, and in the two before

	refuted bool // by a denial that it does not explain: nothing is counted any more
}

func newPhases(f *frame, weighted bool, now int64) *phases {
	p := &phases{frame: f, weighted: weighted, part: f.window / phaseCount}
	for j := range p.parts {
		c := &p.parts[j]
		c.window, c.next = math.MinInt64/2, math.MinInt64/2
		c.full.peak = math.Inf(-1)
		_, c.newest = p.windows(j, now, now, now)
	}
	return p
}

// windows is the first and the last window of the j-th account that an instant in
// [from, to] may lie in, as seen at now ≥ to.
func (p *phases) windows(j int, from, to, now int64) (first, last int64) {
	stray := p.frame.grain + p.frame.drift*math.Abs(float64(now))
	start := float64(j) * p.part
	first = int64(math.Floor((float64(from) - start - p.part - stray) / p.frame.window))
	last = int64(math.Floor((float64(to) - start + stray) / p.frame.window))
	return first, last
}

// boundary is where the window k of the j-th account begins at the earliest and
// at the latest.
func (p *phases) boundary(j int, k, now int64) (least, most float64) {
	stray := p.frame.grain + p.frame.drift*math.Abs(float64(now))
	least = float64(j)*p.part + float64(k)*p.frame.window
	return least - stray, least + p.part + stray
}

// advance comes to an instant at which so many tokens of grants are in flight:
// each may be granted in any window that begins until then.
func (p *phases) advance(now int64, flying float64) {
	for j := range p.parts {
		c := &p.parts[j]
		if c.refuted {
			continue
		}
		_, newest := p.windows(j, now, now, now)
		for n := min(newest-c.newest, int64(len(c.may))); n > 0; n-- {
			c.may = [3]float64{flying, c.may[0], c.may[1]}
		}
		c.newest = max(c.newest, newest)
	}
}

// call counts a grant, in flight from its call to its return or seen until now,
// for the lower bound.
func (p *phases) call(call, ret, now int64, cost float64) {
	for j := range p.parts {
		c := &p.parts[j]
		if c.refuted {
			continue
		}
		first, last := p.windows(j, call, min(ret, now), now)
		for k := max(first, c.newest-2); k <= min(last, c.newest); k++ {
			c.may[c.newest-k] += cost
		}
	}
}

// land counts a grant that has returned, for the upper bound; grants come in
// order of return.
func (p *phases) land(q *request, whole bool) {
	for j := range p.parts {
		c := &p.parts[j]
		if c.refuted {
			continue
		}
		switch first, last := p.windows(j, q.call, q.ret, q.ret); {
		case first == last:
			c.enter(first, q)
			p.weigh(c, j, q, whole)
		case last == first+1 && p.weighted && q.cost == math.Trunc(q.cost):
			c.straddle(last, q)
		}
	}
}

// straddle counts a grant of a whole cost that surely lies in the window k or in
// the one before. In k it counts whole and in the one before in part, so that it
// counts in part at least.
func (c *phase) straddle(k int64, q *request) {
	if k == c.window {
		c.before.add(q.cost)
		return
	}
	if k != c.next {
		c.next, c.edge = k, tally{}
	}
	c.edge.add(q.cost)
}

// enter counts a grant that surely lies in the window k.
func (c *phase) enter(k int64, q *request) {
	if k != c.window {
		if c.before = (tally{}); k == c.window+1 {
			c.before = c.count
		}
		if k == c.next {
			c.before.sum += c.edge.sum
			c.before.left += c.edge.left
		}
		c.window, c.count, c.first = k, tally{}, q.call
	}
	c.count.add(q.cost)
	c.first = min(c.first, q.call)
}

// weigh holds the window under way against N, with what the window before
// counts for when q was decided: a part 1 − f of it, where f is how far the
// window under way has come, at most as far as q's return. Counters that take
// only whole tokens of it, or grant while the sum is below N, may give up to a
// token more than N less that part, hence the floor.
func (p *phases) weigh(c *phase, j int, q *request, whole bool) {
	before, left := 0.0, p.frame.limit
	if p.weighted {
		least, _ := p.boundary(j, c.window, q.ret)
		rest := 1 - min(1, (float64(q.ret)-least)/p.frame.window)
		before = min(p.frame.limit, max(0, math.Floor(c.before.sum*rest-tolerance)))
		left -= max(0, math.Floor(c.before.left*rest-tolerance))
	}
	if over := c.count.sum + before - p.frame.limit; over > c.full.peak {
		c.full = fullest{peak: over, start: c.first, end: q.ret, granted: c.count.sum, before: before}
	}
	if over := c.count.left - left; over > tolerance {
		if whole {
			over = math.Ceil(over - tolerance)
		}
		c.count.left -= over
		c.excess += over
	}
}

// justifies says that by the j-th account the denial may have found more than
// room tokens granted in the window that it was decided in. A counter may take
// whole tokens of the window before, rounded up.
func (p *phases) justifies(j int, q *request, room float64) bool {
	c := &p.parts[j]
	first, last := p.windows(j, q.call, q.ret, q.ret)
	if last-first > 1 || last > c.newest || first-1 < c.newest-2 {
		return true // too long to tell
	}
	for k := first; k <= last; k++ {
		sum := c.may[c.newest-k]
		if p.weighted {
			_, most := p.boundary(j, k, q.ret)
			past := max(0, (float64(q.call)-most)/p.frame.window)
			sum += math.Ceil(c.may[c.newest-k+1]*(1-min(1, past)) - tolerance)
		}
		if sum > room+tolerance {
			return true
		}
	}
	return false
}
