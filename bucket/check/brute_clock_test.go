package check

import (
	"slices"

	"bucketproof/bucket/history"
)

// bruteSkew is the spread of skews, the longest return − call and the most
// expiries among the requests that may have been decided in [a, b].
func bruteSkew(ops []history.Operation, a, b, life int64) (spread, longest int64, expiries int) {
	var skews []int64
	var met []history.Operation
	for _, o := range ops {
		if o.Outcome == history.Unknown && o.Call <= b {
			o.Return = b
			if o.Call > a {
				o.Return = max(b, o.Call)
			}
		}
		if o.Outcome == history.Unsent || o.Call > b || o.Return < a {
			continue
		}
		met = append(met, o)
		longest = max(longest, o.Return-o.Call)
		if o.Clock != history.NoClock {
			skews = append(skews, o.Clock-o.Call)
		}
	}
	if len(skews) > 0 {
		spread = slices.Max(skews) - slices.Min(skews)
	}
	return spread, longest, bruteExpiries(met, a, b, life)
}

// bruteExpiries tries every stretch of the key's life that begins where a
// request may have been decided (or with the window) and holds none that surely
// was, then every next one.
func bruteExpiries(met []history.Operation, a, b, life int64) int {
	var begins []int64 // calls and the window's start, and whole lives after them
	for _, o := range append(slices.Clone(met), history.Operation{Call: a, Return: a}) {
		for s := max(a, o.Call); s+life <= b; s += life {
			begins = append(begins, s)
		}
	}
	slices.Sort(begins)
	begins = slices.Compact(begins)
	most := map[int64]int{} // from this begin on
	best := 0
	for i := len(begins) - 1; i >= 0; i-- {
		s := begins[i]
		if !mayBegin(met, a, s) || holdsOne(met, s, s+life) {
			continue
		}
		most[s] = 1
		for _, next := range begins[i+1:] {
			if next >= s+life {
				most[s] = max(most[s], 1+most[next])
			}
		}
		best = max(best, most[s])
	}
	return best
}

func mayBegin(met []history.Operation, a, s int64) bool {
	return s == a || slices.ContainsFunc(met, func(o history.Operation) bool { return o.Call <= s && s <= o.Return })
}

// holdsOne says that a request was surely decided inside (s, e).
func holdsOne(met []history.Operation, s, e int64) bool {
	return slices.ContainsFunc(met, func(o history.Operation) bool {
		return o.Outcome != history.Unknown && s < o.Call && o.Return < e
	})
}
