package check

import (
	"math"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// outlook is a second look at a key's worst window: which grants lie in it, and
// what the callers' clocks explain of it.
type outlook struct {
	start, end int64 // ns
	skews      skews
	expiries   expiries
	leaps      int                 // of the clock that keys expire by, in the window
	grants     []history.Operation // the first few surely inside
}

func (r *reading) newOutlook(o *overshoot) *outlook {
	l := &outlook{start: o.start, end: o.end, expiries: expiries{life: r.rules.life, from: o.start, late: math.MinInt64}}
	l.leaps = r.leaps(o.start, o.end)
	l.skews.reset()
	return l
}

// leaps counts those of the clock that keys expire by in [start, end], where they
// take more than the limiter's own clock tells.
func (r *reading) leaps(start, end int64) int {
	if r.spec.Time != bucket.CallerTime {
		return 0
	}
	n := 0
	for _, leap := range r.spec.Leaps {
		if leap.To-r.origin >= start && leap.From-r.origin <= end {
			n++
		}
	}
	return n
}

// see takes the next request of the key in order of call; op is the same in
// the history's words. What may have been decided in the window counts: the
// requests whose [call, return] meets it, and the unknown ones called before
// its end, at any age up to it.
func (l *outlook) see(q *request, op *history.Operation) {
	if q.outcome == history.Unsent || q.call > l.end {
		return
	}
	seen := *q
	if q.outcome == history.Unknown {
		seen.ret = l.end
		l.skews.longest = max(l.skews.longest, l.end-q.call)
	}
	if seen.ret < l.start {
		return
	}
	l.skews.see(&seen)
	l.expiries.see(seen.call, seen.ret, q.outcome != history.Unknown)
	inside := q.call >= l.start && q.ret <= l.end
	if q.outcome == history.Allowed && inside && len(l.grants) < evidenceMost {
		l.grants = append(l.grants, *op)
	}
}

// skew is what the clocks did in the window; done must have been called on the
// expiries.
func (l *outlook) skew(g time.Duration) bucket.Skew {
	return bucket.Skew{
		Spread:      time.Duration(l.skews.spread()),
		Granularity: g,
		Age:         time.Duration(l.skews.longest),
		Expiries:    int(l.expiries.count),
		Leaps:       l.leaps,
	}
}

// predict is the most tokens beyond C + R·(b − a) that the limiter's own clock
// rule explains in the window:
//
//	R·(S + g) + k·R·(S + D + g) + e·(C + R·(S + D + g))
//
// for the caller's clock, seen on [call, return]; R·g for any other. Only the
// requests that may have been decided in the window count. For with o = clock −
// instant and level T, U = T − R·o is a bucket in true time with capacity C −
// R·o: the first decision in the window caps U at C − R·o_first and the last
// grant needs U ≥ cost − R·o_last, so the window holds at most C + R·(b − a) +
// R·(o_last − o_first), whatever was stored before it, as long as the key lives.
// A key that is gone before its time, for its server's clock went forward, leaves
// a full bucket to the next decision at b: U rises by at most C + R·o_b − R·o_last.
// Of windows nothing is predicted.
func (s Spec) predict(l *outlook) float64 {
	if s.Contract.Windowed() {
		return 0
	}
	k := bucket.Skew{Granularity: s.step()}
	if s.clock() == bucket.CallerTime && l != nil {
		k = l.skew(s.step())
	}
	return min(s.Limit.PredictedExcess(k), math.MaxFloat64)
}
