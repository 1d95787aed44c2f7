package check

import (
	"cmp"
	"math"
	"slices"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// The slow twins of the checks of windows, from their definitions: every pair of
// instants, every account from the start, nothing forgotten. They read the
// operations of one key.

// bruteFullest is by how much the fullest window of an exact log is over.
func bruteFullest(f *frame, ops []history.Operation) float64 {
	peak := math.Inf(-1)
	at := instants(ops)
	for _, o := range ops {
		if o.Outcome == history.Allowed {
			peak = max(peak, o.Cost-f.limit)
		}
	}
	for i, a := range at {
		for _, b := range at[i:] {
			if n := surely(ops, a, b); n > 0 && float64(b-a) < f.short() {
				peak = max(peak, n-f.limit)
			}
		}
	}
	return peak
}

// bruteStruck is the fewest grants of one token that must be struck from a
// record so that no window of an exact log is over, by trying all subsets.
func bruteStruck(f *frame, ops []history.Operation) float64 {
	var grants []history.Operation
	for _, o := range ops {
		if o.Outcome == history.Allowed {
			grants = append(grants, o)
		}
	}
	fewest := math.Inf(1)
	for set := range 1 << len(grants) {
		var kept []history.Operation
		for i, g := range grants {
			if set>>i&1 == 1 {
				kept = append(kept, g)
			}
		}
		if bruteFullest(f, kept) <= 0 {
			fewest = min(fewest, float64(len(grants)-len(kept)))
		}
	}
	return fewest
}

// bruteZone is where the boundary before window k of the account j lies.
func bruteZone(f *frame, j int, k float64, now int64) (least, most float64) {
	stray := f.grain + f.drift*math.Abs(float64(now))
	part := f.window / phaseCount
	return float64(j)*part + k*f.window - stray, float64(j+1)*part + k*f.window + stray
}

// bruteWindowsOf is the windows of the account j that [a, b] meets, zones
// included.
func bruteWindowsOf(f *frame, j int, a, b, now int64) (windows []float64) {
	from := math.Floor((float64(a)-2*f.window)/f.window) - math.Ceil((f.grain+f.drift*math.Abs(float64(now)))/f.window)
	for k := from; ; k++ {
		least, _ := bruteZone(f, j, k, now)
		_, end := bruteZone(f, j, k+1, now)
		if least > float64(b) {
			return windows
		}
		if end > float64(a) {
			windows = append(windows, k)
		}
	}
}

// brutePhase is the fullest window by the account j.
func brutePhase(f *frame, j int, ops []history.Operation) float64 {
	type placed struct {
		history.Operation
		k    float64
		edge bool // in k or in the one before
	}
	var grants []placed
	for _, o := range ops {
		if o.Outcome != history.Allowed {
			continue
		}
		switch in := bruteWindowsOf(f, j, o.Call, o.Return, o.Return); {
		case len(in) == 1:
			grants = append(grants, placed{o, in[0], false})
		case len(in) == 2 && (f.contract == bucket.FixedWindow || o.Cost == math.Trunc(o.Cost)):
			grants = append(grants, placed{o, in[1], true})
		}
	}
	peak := math.Inf(-1)
	for i, g := range grants {
		var count, before, edge float64
		for h, o := range grants {
			earlier := o.Return < g.Return || o.Return == g.Return && h <= i
			switch {
			case !earlier:
			case o.edge && o.k == g.k:
				edge += o.Cost
			case o.edge:
			case o.k == g.k:
				count += o.Cost
			case o.k == g.k-1:
				before += o.Cost
			}
		}
		part := 0.0
		if f.contract == bucket.SlidingWindow {
			least, _ := bruteZone(f, j, g.k, g.Return)
			part = 1 - min(1, (float64(g.Return)-least)/f.window)
		}
		// By the least of all ways to share the edge out.
		least := math.Inf(1)
		for moved := 0.0; moved <= edge; moved += 0.25 {
			if moved > 0 && before+moved > f.limit+1e-6 {
				break
			}
			if f.contract == bucket.FixedWindow || moved == math.Trunc(moved) {
				weight := min(f.limit, math.Max(0, math.Floor((before+moved)*part-1e-6)))
				least = min(least, weight+edge-moved+count)
			}
		}
		peak = max(peak, least-f.limit)
	}
	return peak
}

// bruteJustifies says that by the account j a denial may find more than room.
func bruteJustifies(f *frame, j int, ops []history.Operation, d history.Operation, room float64) bool {
	in := bruteWindowsOf(f, j, d.Call, d.Return, d.Return)
	if len(in) > 2 {
		return true
	}
	may := func(k, not float64) (sum float64) {
		for _, o := range ops {
			in := bruteWindowsOf(f, j, o.Call, min(o.Return, d.Return), d.Return)
			if o.Outcome == history.Allowed && o.Call <= d.Return && slices.Contains(in, k) && !slices.Contains(in, not) {
				sum += o.Cost
			}
		}
		return sum
	}
	for _, k := range in {
		sum := may(k, math.Inf(1))
		if f.contract == bucket.SlidingWindow {
			_, most := bruteZone(f, j, k, d.Return)
			past := math.Max(0, (float64(d.Call)-most)/f.window)
			sum += math.Ceil(may(k-1, k)*(1-min(1, past)) - 1e-6)
			if fractional(ops, d.Return) {
				sum++
			}
		}
		if sum > room+1e-6 {
			return true
		}
	}
	return false
}

// bruteRecent is what may have been granted in the last W before a denial.
func bruteRecent(f *frame, ops []history.Operation, d history.Operation) (sum float64) {
	for _, o := range ops {
		if o.Outcome == history.Allowed && o.Call <= d.Return && float64(o.Return) >= float64(d.Call)-f.long() {
			sum += o.Cost
		}
	}
	return sum
}

// bruteSliding judges a sliding window: the least of the fullest windows by any
// account that no denial refutes, and the spurious denials.
func bruteSliding(spec *Spec, ops []history.Operation) (peak float64, spurious int) {
	f := spec.frame()
	order := slices.Clone(ops)
	slices.SortStableFunc(order, func(a, b history.Operation) int { return cmp.Compare(a.Return, b.Return) })
	plain, looking := true, false
	refuted := make([]bool, phaseCount)
	var landed []history.Operation
	for _, o := range order {
		switch o.Outcome {
		case history.Allowed:
			landed = append(landed, o)
			looking = looking || bruteFullest(f, landed) > 1e-6
			continue
		case history.Denied:
		default:
			continue
		}
		lost := 0.0
		for _, u := range ops {
			if u.Outcome == history.Unknown && u.Call <= o.Return {
				lost += float64(1+spec.Retries) * u.Cost
			}
		}
		room := spec.Limit.Capacity - o.Cost - lost
		if o.Cost > spec.Limit.Capacity || room < -1e-6 || float64(o.Return-o.Call) > f.window ||
			spec.EmptyStart && float64(o.Call) < 2*f.long()+f.window/phaseCount {
			continue
		}
		mine := bruteRecent(f, ops, o) > room+1e-6
		if mine && !looking {
			continue
		}
		looking = true
		full := bruteFullest(f, landed)
		whole, any := plain && full <= 1e-6, plain && full <= 1e-6 && mine
		by := make([]bool, phaseCount)
		overdrawn := make([]bool, phaseCount)
		for j := range by {
			by[j] = bruteJustifies(f, j, ops, o, room)
			overdrawn[j] = brutePhase(f, j, landed) > 1e-6
			if !refuted[j] && !overdrawn[j] {
				whole, any = true, any || by[j]
			}
		}
		if !whole {
			any = plain && mine
			for j := range by {
				any = any || !refuted[j] && by[j]
			}
		}
		if !any {
			spurious++
			continue
		}
		plain = plain && mine
		for j := range by {
			refuted[j] = refuted[j] || !by[j]
		}
	}
	peak = math.Inf(1)
	if plain {
		peak = bruteFullest(f, landed)
	}
	if looking {
		for j := range refuted {
			if !refuted[j] {
				peak = min(peak, brutePhase(f, j, landed))
			}
		}
	}
	return peak, spurious
}

// bruteStarts is the fullest of windows that each begin with the first request
// after the one before has ended, from all that is known of their starts.
func bruteStarts(spec *Spec, ops []history.Operation) float64 {
	f, first := spec.frame(), ops[0].Call
	peak := math.Inf(-1)
	// earliest is when a window may begin that begins at t or later.
	earliest := func(t, known float64) float64 {
		if t <= known { // what returned before may have begun it, for all that is told
			return t
		}
		least := math.Inf(1)
		for _, o := range ops {
			able := o.Outcome == history.Allowed || o.Outcome == history.Unknown || o.Outcome == history.Denied && o.Cost > f.limit
			if able && (o.Outcome == history.Unknown || float64(o.Return-first) >= t) {
				least = min(least, max(t, float64(o.Call-first)))
			}
		}
		return least
	}
	grants := func(from, to float64) (kept []history.Operation) {
		for _, o := range ops {
			if o.Outcome == history.Allowed && float64(o.Call-first) >= from && float64(o.Return-first) < to {
				kept = append(kept, o)
			}
		}
		return kept
	}
	all := grants(math.Inf(-1), math.Inf(1))
	for _, o := range all {
		peak = max(peak, o.Cost-f.limit)
	}
	ended, least, most := math.Inf(-1), earliest(-1, -2), 0.0
	switch {
	case spec.EmptyStart:
		least = -f.long()
	case len(all) == 0:
		return peak
	default:
		most = soonest(all, first)
	}
	for {
		sum := 0.0
		for _, o := range grants(ended, least+f.short()) {
			sum += o.Cost
		}
		if sum > 0 {
			peak = max(peak, sum-f.limit)
		}
		ended = most + f.long()
		later := grants(ended, math.Inf(1))
		if len(later) == 0 {
			return peak
		}
		next := earliest(least+f.short(), most)
		most = soonest(later, first)
		least = min(next, most)
	}
}

// soonest is the first return.
func soonest(ops []history.Operation, first int64) float64 {
	ret := math.Inf(1)
	for _, o := range ops {
		ret = min(ret, float64(o.Return-first))
	}
	return ret
}

// fractional says that what is or may be granted, called by t, has a cost that is not whole.
func fractional(ops []history.Operation, t int64) bool {
	return slices.ContainsFunc(ops, func(o history.Operation) bool {
		return (o.Outcome == history.Allowed || o.Outcome == history.Unknown) && o.Call <= t && o.Cost != math.Trunc(o.Cost)
	})
}
