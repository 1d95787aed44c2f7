package check

import (
	"fmt"
	"math"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// arrivals is what check 3 keeps of one key's answered requests: in the first
// reading of the history the ideal bucket over the calls, in the second the
// replays that make the verdict, for they need the longest return − call, which
// is known only at the end. (A bound in one reading is no substitute: a bucket
// of x more tokens grants up to x more after every pause, not once.)
type arrivals struct {
	ideal   replay
	granted int64
	odd     int64   // answered requests that cost other than 1 token
	unknown float64 // grants of one token that each charge of the unknown requests may displace

	right     bracket
	explained bracket  // by the callers' clocks, where they are the limiter's
	expiries  expiries // in the whole history
}

func (a *arrivals) see(q *request) {
	a.expiries.see(q.call, q.ret, q.outcome != history.Unknown)
	if q.outcome == history.Unknown {
		a.unknown += math.Ceil(q.cost)
		return
	}
	if q.cost != 1 {
		a.odd++
	}
	if q.outcome == history.Allowed {
		a.granted++
	}
	a.ideal.take(q.call, q.cost, 0)
}

// replay is an ideal bucket that decides requests at their calls.
type replay struct {
	level    float64
	since    int64
	capacity float64
	rate     float64 // tokens per ns
	granted  float64 // tokens
	grants   int64
}

// take decides one request, generous by so many tokens.
func (b *replay) take(t int64, cost, generous float64) {
	b.level = min(b.capacity, b.level+b.rate*float64(t-b.since))
	b.since = t
	if b.level >= cost-generous {
		b.level -= cost
		b.granted += cost
		b.grants++
	}
}

// bracket is two replays that a number of grants lies between, of buckets that
// hold less and more. With D the longest return − call, a grant or a denial
// decided at its own instant differs from one decided at its call by what the
// bucket earns in D:
//
//	replay(C − R·(g + D)) ≤ grants ≤ replay(C + R·(g + D)).
//
// The lower side says nothing when its bucket holds less than a token. A fixed
// tolerance of a few tokens is wrong: R = 1, C = 1, pairs 1.000 s apart, the
// first of each 10 ms late: a right bucket grants half of the replay, for it is
// short of 10 ms at the second of each pair and the earned token overflows
// before the next.
type bracket struct {
	low, high replay
	few       *exactWindow // instead of low, where windows count
}

func newBracket(r *rules, less, more float64) bracket {
	var b bracket
	b.high = replay{capacity: r.capacity + more, rate: r.fast}
	b.high.level = b.high.capacity
	b.low = replay{capacity: r.capacity - less, rate: r.slow}
	if !r.empty {
		b.low.level = b.low.capacity
	}
	return b
}

func (b *bracket) take(t int64) {
	b.high.take(t, 1, tolerance)
	switch {
	case b.few != nil:
		b.few.take(t, 1)
	case b.low.capacity >= 1:
		b.low.take(t, 1, -tolerance)
	}
}

// bounds are the fewest and the most grants, lost being what unknown requests
// may have taken from the others.
func (b *bracket) bounds(lost float64) (low, high float64) {
	low = float64(b.low.grants)
	if b.few != nil {
		low = float64(b.few.grants)
	}
	return max(0, low-lost), float64(b.high.grants)
}

// brackets prepares the second reading. What the callers' clocks explain is
// found the same way: o = clock − instant spreads over S + D + g, by which the
// bucket's capacity is in doubt (see predict), and its instants are in doubt by
// D as before. (Not by S + D + g in all: R = 10, C = 3, two calls decided at
// 180 ms, first one that read 300 ms, then one that read 120 ms and is denied.)
// Each of the k expiries that may lie in the history can let as much be earned
// again, which a bucket that holds as much more to begin with covers. (As many
// more grants would not do: a quarter of a token is at times what is missing
// to a whole one.) Each leap of the clock that keys expire by is worth that, and
// a whole bucket.
func (s *sweep) brackets(leaps int) {
	r := s.rules
	if r.frame != nil {
		s.rate.right = newWindowBracket(r, float64(s.skews.longest))
		return
	}
	give := r.rate*float64(s.skews.longest) + r.slack
	s.rate.right = newBracket(r, give, give)
	if r.clock == bucket.CallerTime {
		give += r.rate * float64(s.skews.spread()+s.skews.longest)
		more := give*float64(1+s.rate.expiries.count+int64(leaps)) + float64(leaps)*r.capacity
		s.rate.explained = newBracket(r, give, more)
	}
}

// again is a request in the second reading.
func (s *sweep) again(q *request) {
	if q.outcome != history.Allowed && q.outcome != history.Denied {
		return
	}
	s.rate.right.take(q.call)
	if s.rules.clock == bucket.CallerTime {
		s.rate.explained.take(q.call)
	}
}

// explains says that the clock rule explains the number of grants.
func (s *sweep) explains(lost float64) bool {
	low, high := s.rate.explained.bounds(lost)
	g := float64(s.rate.granted)
	return s.rules.clock == bucket.CallerTime && low <= g && g <= high
}

// acceptRate is the result of check 3.
func (r *reading) acceptRate(again *recall) Result {
	res := Result{Name: AcceptRate, WithinPrediction: true, Value: map[string]float64{}}
	if r.counts.Answered() == 0 {
		return res.unasked(r.counts.Offered)
	}
	var granted, ideal, low, high float64
	explained := true
	for _, s := range r.order {
		if s.rate.odd > 0 {
			return res.skip("judged only where every request costs 1 token")
		}
		lost := r.rules.charges * s.rate.unknown
		l, h := s.rate.right.bounds(lost)
		g := float64(s.rate.granted)
		granted, ideal, low, high = granted+g, ideal+s.rate.ideal.granted, low+l, high+h
		k := KeyResult{Key: s.key, Verdict: Pass, Figure: g}
		if g < l || g > h {
			k.Verdict = Fail
			explained = explained && s.explains(lost)
		}
		res.Keys = append(res.Keys, k)
	}
	res.Value["granted"], res.Value["ideal"], res.Value["ratio"] = granted, ideal, 1
	if ideal > 0 {
		res.Value["ratio"] = granted / ideal
	}
	if !again.whole() {
		res.Keys = nil
		res.Verdict, res.Detail = Undecided, "the operations could be read only once"
		return res
	}
	res.Value["low"], res.Value["high"] = low, high
	res.Keys = perKey(res.Keys)
	res.Verdict = overall(res.Keys)
	res.Detail = fmt.Sprintf("granted %s where an ideal %s grants %s: %s to %s are right with the delays seen",
		tokens(granted), r.rules.oracle(), tokens(ideal), tokens(low), tokens(high))
	if res.Verdict == Fail {
		res.WithinPrediction = explained
		res.Evidence = &Evidence{Key: res.Keys[0].Key}
	}
	return res
}
