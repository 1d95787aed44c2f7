package check

import "math"

// promise is what the retry-after of a lone denial says: from due on a request
// of no more than cost is granted, unless another one is before.
type promise struct {
	cost  float64
	told  int64 // the denial's return plus what it was told, ns
	due   int64 // the same, plus what the limiter's clock and arithmetic may be off
	index int64 // which operation
}

// hintError is what a hint in floating-point seconds may be off, in ns.
const hintError = 1000

// promisesMost is how many promises of different costs are kept in mind.
const promisesMost = 16

func newPromise(a *said, l *rules) promise {
	wait := bounded(float64(a.retry) * l.fast / l.rate)
	return promise{cost: a.cost, told: plus(a.ret, a.retry), due: plus(a.ret, plus(wait, l.patience())), index: a.index}
}

// patience is what the limiter's clock may be off, and its arithmetic, in ns.
func (r *rules) patience() int64 {
	if r.frame != nil {
		return int64(r.frame.grain) + hintError
	}
	return r.grain + hintError
}

// plus adds a stretch d ≥ 0 to t and stops at never.
func plus(t, d int64) int64 {
	if t > never-d {
		return never
	}
	return t + d
}

// bounded is x in ns, as far as it goes.
func bounded(x float64) int64 {
	return int64(min(max(x, math.MinInt64/2), math.MaxInt64/2))
}

// due is a promise by which a lone answer must be a grant; nil when there is
// none.
func (c *conversation) due(a *said) *promise {
	for i := range c.promises {
		if p := &c.promises[i]; p.cost >= a.cost && a.call >= p.due {
			return p
		}
	}
	return nil
}

// kept finds that a promise was not kept: the last answer is a denial. Its call
// came so long after the time that was told, so the hint was too short by that
// at least.
func (c *conversation) kept(r *reading, s *sweep, p *promise) {
	short := c.last.call - p.told
	c.broken.denials++
	c.broken.short = max(c.broken.short, short)
	c.breach(r, s, float64(short-r.rules.grain), []int64{p.index, c.last.index}, "denied %s after the time that it was told to wait for", length(short))
}

// promise keeps p in mind, unless one kept already says as much, and forgets
// those that say no more than p.
func (c *conversation) promise(p promise) {
	kept := c.promises[:0]
	for _, q := range c.promises {
		if q.cost >= p.cost && q.due <= p.due {
			return // nothing was dropped so far: p dominates none that dominates it
		}
		if q.cost > p.cost || q.due < p.due {
			kept = append(kept, q)
		}
	}
	if len(kept) == promisesMost {
		kept = append(kept[:0], kept[1:]...)
	}
	c.promises = append(kept, p)
}
