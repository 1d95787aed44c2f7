package check

import (
	"fmt"

	"bucketproof/bucket/history"
)

// arrivals is what check 3 keeps of one key's answered requests in one reading
// of the history: the ideal bucket over the calls. The two replays that make
// the verdict need the longest return − call, which is known only at the end,
// so they take a second reading. (A bound in one reading is no substitute: a
// bucket of x more tokens grants up to x more after every pause, not once.)
type arrivals struct {
	ideal   replay
	granted int64
	odd     int64 // answered requests that cost other than 1 token

	low, high replay // second reading
}

func (a *arrivals) see(q *request) {
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

// brackets prepares the replays that a right number of grants lies between.
// With D the longest return − call, a grant or a denial decided at its own
// instant differs from one decided at its call by what the bucket earns in D:
//
//	replay(C − R·(g + D)) ≤ grants ≤ replay(C + R·(g + D)).
//
// A fixed tolerance of a few tokens is wrong: R = 1, C = 1, pairs 1.000 s
// apart, the first of each 10 ms late: a right bucket grants half of the
// replay, for it is short of 10 ms at the second of each pair and the earned
// token overflows before the next.
func (s *sweep) brackets() {
	give := s.rules.rate*float64(s.skews.longest) + s.rules.slack
	a := &s.rate
	a.high = replay{capacity: s.rules.capacity + give, rate: s.rules.fast}
	a.high.level = a.high.capacity
	a.low = replay{capacity: s.rules.capacity - give, rate: s.rules.slow}
	if !s.rules.empty {
		a.low.level = a.low.capacity
	}
}

// again is a request in the second reading.
func (a *arrivals) again(t int64) {
	a.high.take(t, 1, tolerance)
	if a.low.capacity >= 1 {
		a.low.take(t, 1, -tolerance)
	}
}

// bounds are the fewest and the most grants that are right. Each unknown may
// have taken charges tokens from the others.
func (s *sweep) bounds() (low, high float64) {
	low = float64(s.rate.low.grants) - s.rules.charges*float64(s.denials.unknown)
	return max(0, low), float64(s.rate.high.grants)
}

// acceptRate is the result of check 3.
func (r *reading) acceptRate(again *recall) Result {
	res := Result{Name: AcceptRate, WithinPrediction: true, Value: map[string]float64{}}
	if r.counts.Answered() == 0 {
		return res.unasked(r.counts.Offered)
	}
	var granted, ideal, low, high float64
	for _, s := range r.order {
		if s.rate.odd > 0 {
			return res.skip("judged only where every request costs 1 token")
		}
		l, h := s.bounds()
		g := float64(s.rate.granted)
		granted, ideal, low, high = granted+g, ideal+s.rate.ideal.granted, low+l, high+h
		k := KeyResult{Key: s.key, Verdict: Pass, Figure: g}
		if g < l || g > h {
			k.Verdict = Fail
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
	res.Detail = fmt.Sprintf("granted %s where an ideal bucket grants %s: %s to %s are right with the delays seen",
		tokens(granted), tokens(ideal), tokens(low), tokens(high))
	if res.Verdict == Fail {
		res.WithinPrediction = false
		res.Evidence = &Evidence{Key: res.Keys[0].Key}
	}
	return res
}
