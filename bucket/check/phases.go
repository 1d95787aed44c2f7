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
	before tally // in the window before it
	edge   tally // in either of the two
	count  tally // in it
	next   int64 // a later window, if a grant may lie in it and surely lies in it or the one before
	ahead  tally // those
	first  int64 // the earliest call counted
	full   fullest
	excess float64

	newest int64      // the newest window that an instant so far may lie in
	may    [3]float64 // tokens that may have been granted in it, and in the two before
	across [3]float64 // of those, what may have been granted in the window before, too

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
			c.across = [3]float64{flying, c.across[0], c.across[1]}
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
			if k > first {
				c.across[c.newest-k] += cost
			}
		}
	}
}

// land counts a grant that has returned, for the upper bound; grants come in
// order of return. One that lies across a boundary lies in one of two windows.
// (Of a weighted counter only those of a whole cost are counted there, for what
// is moved from the one to the other must be whole; see weigh.)
func (p *phases) land(q *request, whole bool) {
	for j := range p.parts {
		c := &p.parts[j]
		if c.refuted {
			continue
		}
		switch first, last := p.windows(j, q.call, q.ret, q.ret); {
		case first == last:
			if first != c.window {
				c.enter(first, q.call)
			}
			p.weigh(c, j, c.window, c.before, c.edge, &c.count, q, whole)
		case last != first+1 || last < c.window || p.weighted && q.cost != math.Trunc(q.cost):
		case last == c.window:
			c.edge.add(q.cost)
			count := c.count
			p.weigh(c, j, last, c.before, c.edge, &count, &request{call: q.call, ret: q.ret}, whole)
			c.edge.left += count.left - c.count.left
		default:
			if last != c.next {
				c.next, c.ahead = last, tally{}
			}
			c.ahead.add(q.cost)
			var before, count tally
			if last == c.window+1 {
				before = c.count
			}
			p.weigh(c, j, last, before, c.ahead, &count, &request{call: q.call, ret: q.ret}, whole)
			c.ahead.left += count.left
		}
	}
}

// enter goes on to the window k.
func (c *phase) enter(k, call int64) {
	before, edge := tally{}, tally{}
	if k == c.window+1 {
		before = c.count
	}
	if k == c.next {
		edge = c.ahead
	}
	c.window, c.before, c.edge, c.count, c.first = k, before, edge, tally{}, call
}

// weigh adds q to the count of the window k and holds it against N. Of the edge
// as much lies in the window before as that has room for, since there it counts
// less: for nothing where windows are fixed, and for a weighted counter for a
// part 1 − f, where f is how far the window k has come, at most as far as q's
// return. The rest, and the count, lie in k:
//
//	⌊(1 − f)·min(N, before + edge)⌋ + max(0, before + edge − N) + count  ≤  N.
//
// Counters that take only whole tokens of the window before, or grant while the
// sum is below N, may give up to a token more than without the floor.
func (p *phases) weigh(c *phase, j int, k int64, before, edge tally, count *tally, q *request, whole bool) {
	part := 0.0
	if p.weighted {
		least, _ := p.boundary(j, k, q.ret)
		part = 1 - min(1, (float64(q.ret)-least)/p.frame.window)
	}
	count.add(q.cost)
	c.first = min(c.first, q.call)
	weight, rest := p.split(before.sum, edge.sum, part)
	if over := weight + rest + count.sum - p.frame.limit; over > c.full.peak {
		c.full = fullest{peak: over, start: c.first, end: q.ret, granted: rest + count.sum, before: weight}
	}
	weight, rest = p.split(before.left, edge.left, part)
	if over := weight + rest + count.left - p.frame.limit; over > tolerance {
		if whole {
			over = math.Ceil(over - tolerance)
		}
		count.left -= over
		c.excess += over
	}
}

// split is what of the window before and the edge counts for the window before,
// and what of the edge has no room there.
func (p *phases) split(before, edge, part float64) (weight, rest float64) {
	moved := max(0, p.frame.limit-before)
	if p.weighted { // only whole costs are in the edge
		moved = math.Floor(moved + tolerance)
	}
	moved = min(moved, edge)
	weight = max(0, math.Floor((before+moved)*part-tolerance))
	return min(weight, p.frame.limit), edge - moved
}

// justifies says that by the j-th account the denial may have found more than
// room tokens granted in the window that it was decided in. A counter may take
// whole tokens of the window before, rounded up.
//
// What may lie in either window counts whole, in the later one, as the charges
// of unknown requests do. (Unless all costs are whole, up to a token more of
// them may have been counted in the one before, for rounding.)
func (p *phases) justifies(j int, q *request, room float64, whole bool) bool {
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
			before := c.may[c.newest-k+1] - c.across[c.newest-k]
			sum += math.Ceil(before*(1-min(1, past)) - tolerance)
			if !whole {
				sum++
			}
		}
		if sum > room+tolerance {
			return true
		}
	}
	return false
}
