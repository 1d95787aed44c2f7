package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// linearizeTimeout is how long a search for an order may take, unless the
// specification says.
const linearizeTimeout = 2 * time.Second

// lastShown is how many requests are shown at the end of those without an
// order.
const lastShown = 8

// linear is what check 6 found.
type linear struct {
	keys     []KeyResult
	requests int64
	passed   []string // why keys were passed over
	gave     string   // after what the search gave up, on a key or on some of its requests; "": never
	unasked  int      // keys that were left when all looks together had taken too long
	failed   *sweep   // the first key without an order
	shortest int      // so many first requests on it have none
	sure     bool     // one fewer has
	steps    int64
}

// linearize searches every key's excerpt for an order.
func (r *reading) linearize() *linear {
	l := &linear{}
	h := r.newSearch()
	for _, s := range r.order {
		e := s.excerpt
		if e == nil {
			continue
		}
		if why := s.unsearched(); why != "" {
			l.passed = append(l.passed, why)
			continue
		}
		if h.spent >= stepsMost {
			l.unasked++
			l.keys = append(l.keys, KeyResult{Key: s.key, Verdict: Undecided})
			continue
		}
		n, res := h.begin(e)
		if h.gave != "" {
			l.gave = h.gave
		}
		k := KeyResult{Key: s.key, Verdict: Pass, Figure: float64(n)}
		switch res {
		case porcupine.Unknown:
			k.Verdict = Undecided
		case porcupine.Illegal:
			k.Verdict = Fail
			if l.failed == nil {
				l.failed, l.shortest = s, n
			}
		}
		l.keys = append(l.keys, k)
		l.requests += int64(n)
	}
	l.steps = h.spent
	if l.failed != nil {
		l.shortest, l.sure = h.shortest(l.failed.excerpt, l.shortest)
	}
	return l
}

// unsearched says why a key is passed over; "" when it is not.
func (s *sweep) unsearched() string {
	e := s.excerpt
	switch {
	case e.numbered && s.track != nil && s.track.charges.restarts > 0:
		return "the numbers of its decisions fell back"
	case e.why != "" && len(e.calls) < excerptFewest:
		return e.why
	}
	return ""
}

func (r *reading) newSearch() *search {
	h := &search{spec: r.spec, timeout: r.spec.LinearizeTimeout}
	if h.timeout == 0 {
		h.timeout = linearizeTimeout
	}
	return h
}

// last is the operations to show of those without an order.
func (l *linear) last() []int64 {
	var at []int64
	calls := l.failed.excerpt.calls[:l.shortest]
	for _, q := range calls[max(0, len(calls)-lastShown):] {
		at = append(at, q.index)
	}
	return at
}

// linearizability is the result of check 6.
func (r *reading) linearizability(l *linear, again *recall) Result {
	res := Result{Name: Linearizability, WithinPrediction: true, Value: map[string]float64{}}
	switch {
	case r.spec.Model == nil:
		return res.skip("no model of the reference family is named for the limiter")
	case r.spec.LinearizeTimeout < 0:
		return res.skip("no time to search for an order")
	case len(l.keys) == 0 && len(l.passed) == 0:
		return res.unasked(r.counts.Offered)
	case len(l.keys) == 0:
		return res.skip("on no key is there a history to search: " + l.passed[0])
	}
	res.Keys = perKey(l.keys)
	res.Verdict = overall(res.Keys)
	res.Value["requests"], res.Value["keys"], res.Value["steps"] = float64(l.requests), float64(len(l.keys)), float64(l.steps)
	requests := many(l.requests, "request")
	if all := r.counts.Offered - r.counts.Unsent; l.requests < all {
		requests = fmt.Sprintf("%d of %s", l.requests, many(all, "request"))
	}
	switch res.Verdict {
	case Fail:
		res.WithinPrediction = false
		r.showDisorder(&res, l, again)
	case Undecided:
		res.Detail = "the search for an order of " + requests + " gave up " + l.gave
	default:
		res.Detail = fmt.Sprintf("%s have an order in which the model decides as they were decided", requests)
		if l.gave != "" {
			res.Detail += "; of more the search gave up " + l.gave
		}
	}
	if l.unasked > 0 {
		res.Detail += fmt.Sprintf("; %s left when the search had taken %d steps", many(int64(l.unasked), "key"), l.steps)
	}
	if n := len(l.passed); n > 0 {
		slices.Sort(l.passed)
		res.Detail += fmt.Sprintf("; %s passed over: %s", many(int64(n), "key"), strings.Join(slices.Compact(l.passed), ", "))
	}
	return res
}

// showDisorder puts the end of the requests without an order into the result.
func (r *reading) showDisorder(res *Result, l *linear, again *recall) {
	e := l.failed.excerpt
	res.Value["shortest"] = float64(l.shortest)
	res.Detail = fmt.Sprintf("the first %s%s have no order in which the model decides as they were decided", many(int64(l.shortest), "request"), onKey(l.failed.key))
	if l.sure {
		res.Detail += fmt.Sprintf("; the first %d have", l.shortest-1)
	}
	res.Evidence = &Evidence{Key: l.failed.key, Operations: again.album.shown[ofLinear]}
	for i := max(0, l.shortest-lastShown); i < l.shortest; i++ {
		q := &e.calls[i]
		who := called(r.crowd.members[q.instance].Name)
		res.Evidence.Notes = append(res.Evidence.Notes, fmt.Sprintf("request %d, %s: %v", i+1, who, &attempt{quoted: q}))
	}
}
