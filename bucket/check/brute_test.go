package check

import (
	"math"
	"slices"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// The slow twins: each check from its definition, over all windows or all
// placements of an instant, with no structure shared with the fast ones. They
// read the operations of one key.

// instants is every call and return, in order, each once.
func instants(ops []history.Operation) []int64 {
	var at []int64
	for _, o := range ops {
		at = append(at, o.Call)
		if o.Return != history.Forever {
			at = append(at, o.Return)
		}
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// surely is the tokens of grants whose call and return lie in [a, b].
func surely(ops []history.Operation, a, b int64) float64 {
	var sum float64
	for _, o := range ops {
		if o.Outcome == history.Allowed && a <= o.Call && o.Return <= b {
			sum += o.Cost
		}
	}
	return sum
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// brutePeak is the largest overshoot over all windows that hold a grant; −∞
// when none does.
func brutePeak(spec *Spec, ops []history.Operation) float64 {
	peak := math.Inf(-1)
	at := instants(ops)
	for i, a := range at {
		for _, b := range at[i:] {
			if n := surely(ops, a, b); n > 0 {
				peak = max(peak, n-spec.Limit.Capacity-spec.Limit.Rate*(1+spec.RateTolerance)*seconds(b-a))
			}
		}
	}
	return peak
}

// bruteExcess is the best sum over disjoint windows of what each is over, by
// dynamic programming over all windows.
func bruteExcess(spec *Spec, ops []history.Operation) float64 {
	at := instants(ops)
	best := make([]float64, len(at)+1) // best[j]: windows that end before at[j]
	for j, b := range at {
		best[j+1] = best[j]
		whole := true // all costs called by then
		for _, o := range ops {
			whole = whole && (o.Outcome != history.Allowed || o.Call > b || o.Cost == math.Trunc(o.Cost))
		}
		for i, a := range at[:j+1] {
			over := surely(ops, a, b) - spec.Limit.Capacity - spec.Limit.Rate*(1+spec.RateTolerance)*seconds(b-a) -
				spec.Limit.Rate*spec.Granularity.Seconds()
			if over <= 1e-6 {
				continue
			}
			if whole {
				over = math.Ceil(over - 1e-6)
			}
			best[j+1] = max(best[j+1], best[i]+over)
		}
	}
	return best[len(at)]
}

// maybe is the tokens that grants and unknown requests may have taken in
// [s, t].
func maybe(spec *Spec, ops []history.Operation, s, t int64) float64 {
	var sum float64
	for _, o := range ops {
		switch {
		case o.Call > t:
		case o.Outcome == history.Unknown:
			sum += float64(1+spec.Retries) * o.Cost
		case o.Outcome == history.Allowed && o.Return >= s:
			sum += o.Cost
		}
	}
	return sum
}

// bruteLevel is the fewest tokens in the bucket at t by any placement: min over
// s ≤ t. Between two returns C + R·(t − s) falls with s while the grants that may lie in
// [s, t] stay the same, so s is a return or t itself. start is the history's first
// call, for a bucket that begins empty.
func bruteLevel(spec *Spec, ops []history.Operation, t, start int64) float64 {
	rate := spec.Limit.Rate * (1 - spec.RateTolerance)
	least := spec.Limit.Capacity - maybe(spec, ops, t, t)
	for _, s := range instants(ops) {
		if s <= t {
			least = min(least, spec.Limit.Capacity+rate*seconds(t-s)-maybe(spec, ops, s, t))
		}
	}
	if spec.EmptyStart {
		least = min(least, rate*seconds(t-start)-maybe(spec, ops, start, t))
	}
	return least
}

// bruteLeast is the smallest level in a denial's interval, at its call or at a
// later event in it, for between calls the level only rises.
func bruteLeast(spec *Spec, ops []history.Operation, d int, start int64) float64 {
	least := math.Inf(1)
	for _, t := range instants(ops) {
		if ops[d].Call <= t && t <= ops[d].Return {
			least = min(least, bruteLevelFor(spec, ops, d, t, start))
		}
	}
	return least
}

// touches says that a decision of o leaves the next one's clock in doubt.
func touches(spec *Spec, o history.Operation) bool {
	switch o.Outcome {
	case history.Allowed, history.Unknown:
		return true
	case history.Denied:
		return spec.Time != bucket.ServerTime
	}
	return false
}

// bruteLevelFor is the level that denial d finds at t. While another request
// may touch the bucket at t it is the level. Else it has earned since the last
// touch and may be fuller than full by what the granularity is worth.
func bruteLevelFor(spec *Spec, ops []history.Operation, d int, t, start int64) float64 {
	touched := int64(math.MinInt64)
	for i, o := range ops {
		if i == d || o.Call > t || !touches(spec, o) {
			continue
		}
		if o.Return >= t || o.Outcome == history.Unknown {
			return bruteLevel(spec, ops, t, start)
		}
		touched = max(touched, o.Return)
	}
	rate := spec.Limit.Rate * (1 - spec.RateTolerance)
	over := spec.Limit.Capacity + spec.Limit.Rate*spec.Granularity.Seconds() + 2e-6
	switch {
	case touched > math.MinInt64:
		return min(over, bruteLevel(spec, ops, touched, start)+rate*seconds(t-touched))
	case spec.EmptyStart:
		return min(over, rate*seconds(t-start))
	}
	return over
}

// alone says that no other request may touch the bucket from d's call to its
// return.
func alone(spec *Spec, ops []history.Operation, d int) bool {
	for i, o := range ops {
		if i != d && touches(spec, o) && o.Call <= ops[d].Return && (o.Return >= ops[d].Call || o.Outcome == history.Unknown) {
			return false
		}
	}
	return true
}

// verdictOn is what check 2 finds on one key, slowly.
type verdictOn struct {
	spurious, unexplained, judged, hidden int
	blind                                 bool
	lockouts                              map[string]int64
}

func bruteDenials(spec *Spec, ops []history.Operation, start int64) verdictOn {
	v := verdictOn{lockouts: map[string]int64{}}
	type answer struct {
		op   history.Operation
		spur bool
	}
	var answers []answer
	slack := spec.Limit.Rate * spec.Granularity.Seconds()
	for i, o := range ops {
		spur := false
		if o.Outcome == history.Denied && o.Cost <= spec.Limit.Capacity {
			v.judged++
			lost := 0.0
			for _, u := range ops {
				if u.Outcome == history.Unknown && u.Call <= o.Return {
					lost += float64(1+spec.Retries) * u.Cost
				}
			}
			least := bruteLeast(spec, ops, i, start)
			switch room := spec.Limit.Capacity - o.Cost - slack - lost; {
			case room <= 1e-6 && !alone(spec, ops, i) && lost > 0:
				v.blind = true
			case room <= 1e-6 && !alone(spec, ops, i):
				if least >= o.Cost-1e-6 {
					v.hidden++
				}
			case least-o.Cost-slack > 1e-6:
				spur = true
				v.spurious++
				late := spec.Limit.Rate * seconds(bruteAhead(ops, o)+o.Return-o.Call)
				if max(least, bruteFree(spec, ops, i, start))-o.Cost-slack-late > 1e-6 {
					v.unexplained++
				}
			}
		}
		if o.Outcome == history.Allowed || spur {
			answers = append(answers, answer{o, spur})
		}
	}
	slices.SortStableFunc(answers, func(a, b answer) int { return int(min(1, max(-1, a.op.Return-b.op.Return))) })
	for i, a := range answers {
		first, last := a.op.Call, a.op.Return
		for _, b := range answers[i:] {
			if b.op.Instance != a.op.Instance || !a.spur {
				continue
			}
			if !b.spur {
				break
			}
			first, last = min(first, b.op.Call), max(last, b.op.Return)
			v.lockouts[a.op.Instance] = max(v.lockouts[a.op.Instance], last-first)
		}
	}
	return v
}

// bruteFree is the level that denial d finds if a bucket is held against C only
// while somebody takes from it; -∞ where somebody may do so beside d.
func bruteFree(spec *Spec, ops []history.Operation, d int, start int64) float64 {
	var grants []history.Operation
	landed := int64(math.MinInt64)
	for _, o := range ops {
		switch {
		case o.Outcome == history.Unknown && o.Call <= ops[d].Return:
			return math.Inf(-1)
		case o.Outcome != history.Allowed || o.Call > ops[d].Return:
		case o.Return >= ops[d].Call:
			return math.Inf(-1)
		default:
			landed = max(landed, o.Return)
			grants = append(grants, o)
		}
	}
	rate := spec.Limit.Rate * (1 - spec.RateTolerance)
	switch {
	case len(grants) > 0:
		return bruteLevel(spec, grants, landed, start) + rate*seconds(ops[d].Call-landed)
	case spec.EmptyStart:
		return rate * seconds(ops[d].Call-start)
	}
	return math.Inf(1)
}

// bruteAhead is how far the fastest clock of calls up to o's return is ahead of
// o's.
func bruteAhead(ops []history.Operation, o history.Operation) int64 {
	var skews []int64
	for _, p := range ops {
		if p.Call <= o.Return && p.Clock != history.NoClock && p.Outcome != history.Unsent {
			skews = append(skews, p.Clock-p.Call)
		}
	}
	switch {
	case len(skews) == 0:
		return 0
	case o.Clock == history.NoClock:
		return slices.Max(skews) - slices.Min(skews)
	}
	return slices.Max(skews) - (o.Clock - o.Call)
}

func (v verdictOn) verdict() Verdict {
	switch {
	case v.spurious > 0:
		return Fail
	case v.blind, 2*v.hidden > v.judged:
		return Undecided
	}
	return Pass
}

// bruteReplay is how many requests of one token an ideal bucket of so many
// tokens grants at their calls. fair is what a request must find: 1 token, more
// or less by what counts as equal.
func bruteReplay(ops []history.Operation, capacity, rate, fair, begin float64) float64 {
	level, granted := begin, 0.0
	last := int64(math.MinInt64)
	for _, o := range ops {
		if o.Outcome != history.Allowed && o.Outcome != history.Denied {
			continue
		}
		if last != math.MinInt64 {
			level = min(capacity, level+rate*seconds(o.Call-last))
		}
		last = o.Call
		if level >= fair {
			level--
			granted++
		}
	}
	return granted
}

// bruteRate is the fewest and the most right grants on one key.
func bruteRate(spec *Spec, ops []history.Operation, start int64) (low, high float64) {
	var longest int64
	unknown := 0.0
	first := int64(math.MinInt64)
	for _, o := range ops {
		switch o.Outcome {
		case history.Unknown:
			unknown += math.Ceil(o.Cost)
		case history.Allowed, history.Denied:
			longest = max(longest, o.Return-o.Call)
			if first == math.MinInt64 {
				first = o.Call
			}
		}
	}
	give := spec.Limit.Rate * (spec.Granularity.Seconds() + seconds(longest))
	more, less := spec.Limit.Capacity+give, spec.Limit.Capacity-give
	high = bruteReplay(ops, more, spec.Limit.Rate*(1+spec.RateTolerance), 1-1e-6, more)
	if less >= 1 {
		slow := spec.Limit.Rate * (1 - spec.RateTolerance)
		begin := less
		if spec.EmptyStart {
			begin = min(less, slow*seconds(first-start))
		}
		low = bruteReplay(ops, less, slow, 1+1e-6, begin)
	}
	return max(0, low-unknown*float64(1+spec.Retries)), high
}

// bruteOwed is how many tokens must be missing at t by the grants that returned
// before a look was begun.
func bruteOwed(spec *Spec, ops []history.Operation, look, t int64) float64 {
	rate := spec.Limit.Rate * (1 + spec.RateTolerance)
	owed, last := 0.0, int64(math.MinInt64)
	for _, a := range instants(ops) {
		if a > t {
			break
		}
		var sum float64
		for _, o := range ops {
			if o.Outcome == history.Allowed && o.Return < look && o.Call >= a {
				sum += o.Cost
				last = max(last, o.Call)
			}
		}
		owed = max(owed, sum-rate*seconds(t-a))
	}
	return max(0, min(owed, spec.Limit.Capacity-rate*seconds(t-last)))
}
