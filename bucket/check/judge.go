package check

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"bucketproof/bucket/history"
)

// Judge judges the operations, which come in order of Call, by every check:
// over-admission, spurious-denial, accept-rate, state-audit, accounting, replay,
// linearizability, fairness, reply-contract, one Result each and always in this
// order. samples, sorted by Call, are what the state audit looks at; without any
// it is skipped, and so are others where the operations or the specification do
// not tell what they need: a witness, a model, what remains.
//
// Judge ranges over ops twice, so ops must give the same operations again, as
// slices and files do. The second reading is for what depends on the end of the
// first: the bounds of the accept rate, the prediction and the operations shown
// as evidence. Where a second reading gives another number of operations,
// accept-rate is undecided and nothing is predicted or shown.
//
// An operation may be reused by ops once the next one is asked for; its
// strings may not. Memory grows with the requests in flight, the keys, the
// instances and the evidence, not with the operations. The search for an order
// keeps up to 20,000 operations and what it remembers of 200,000 steps. It is
// the only check that real time can end, see [Spec].LinearizeTimeout.
//
// An error means that there is nothing to judge: ops or the specification is
// malformed, or the order is broken.
func Judge(spec Spec, ops iter.Seq2[*history.Operation, error], samples []Sample) (Report, error) {
	rules, err := spec.rules()
	if err != nil {
		return Report{}, err
	}
	r := &reading{spec: &spec, rules: rules, keys: make(map[string]*sweep), samples: samples}
	if err := r.checkSamples(); err != nil {
		return Report{}, err
	}
	if err := r.read(ops); err != nil {
		return Report{}, err
	}
	slices.SortFunc(r.order, func(a, b *sweep) int { return strings.Compare(a.key, b.key) })
	r.linear = r.linearize()
	again := newRecall(r)
	again.compose()
	if err := again.read(ops); err != nil {
		return Report{}, err
	}
	return r.report(again), nil
}

func (r *reading) report(again *recall) Report {
	members := r.crowd.sorted()
	over, spurious := r.bounds(again)
	books := accounting(r.spec, r.counts)
	r.charged(&books, again)
	if spurious.Value[atServer] == 1 {
		members = r.server.members(members)
	}
	sum := Summary{
		Counts: r.counts, Start: r.origin, End: r.origin + r.end,
		PredictedPeakExcess: over.Value["predicted_peak_excess"],
		Instances:           members,
		Exact:               r.server.exact(),
	}
	for _, s := range r.order {
		sum.TheoryAllowed = finite(sum.TheoryAllowed + s.rate.ideal.granted)
		sum.MaxInFlight = max(sum.MaxInFlight, s.line.most)
		sum.Within = max(sum.Within, time.Duration(s.skews.longest))
	}
	if sum.Exact {
		sum.Within = time.Duration(r.server.within)
	}
	results := []Result{
		over,
		spurious,
		r.acceptRate(again),
		r.stateAudit(),
		books,
		r.replay(again),
		r.linearizability(r.linear, again),
		r.fairness(members),
		r.replyContract(again),
	}
	for i := range results {
		results[i].tame()
	}
	return Report{Summary: sum, Results: results}
}

// tame makes figures finite that a limit near the end of the doubles' range
// drove out of it: JSON has no infinity.
func (r *Result) tame() {
	for name, v := range r.Value {
		r.Value[name] = finite(v)
	}
	for i := range r.Keys {
		r.Keys[i].Figure = finite(r.Keys[i].Figure)
	}
	if e := r.Evidence; e != nil && e.Window != nil {
		e.Window.Granted, e.Window.Bound = finite(e.Window.Granted), finite(e.Window.Bound)
	}
}

func finite(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return min(max(v, -math.MaxFloat64), math.MaxFloat64)
}

// perKey sorts key results as they are shown: failing ones first, then
// undecided ones, then by name.
func perKey(keys []KeyResult) []KeyResult {
	rank := map[Verdict]int{Fail: 0, Undecided: 1, Pass: 2, Skipped: 3}
	slices.SortStableFunc(keys, func(a, b KeyResult) int {
		if a.Verdict != b.Verdict {
			return rank[a.Verdict] - rank[b.Verdict]
		}
		return strings.Compare(a.Key, b.Key)
	})
	return keys
}

// overall is the verdict of a check on several keys: the worst of them.
func overall(keys []KeyResult) Verdict {
	v := Pass
	for _, k := range keys {
		switch k.Verdict {
		case Fail:
			return Fail
		case Undecided:
			v = Undecided
		}
	}
	return v
}

// skip makes the result skipped for a reason.
func (r Result) skip(why string) Result {
	r.Verdict, r.WithinPrediction, r.Detail = Skipped, true, why
	return r
}

// unasked makes the result undecided for want of answered requests.
func (r Result) unasked(offered int64) Result {
	r.Verdict, r.WithinPrediction, r.Detail = Undecided, true, "no requests"
	if offered > 0 {
		r.Detail = fmt.Sprintf("none of %s was answered", many(offered, "request"))
	}
	return r
}
