package check

import (
	"math"

	"bucketproof/bucket"
)

// newWindowBracket is two replays that the grants of a contract that counts in
// windows lie between, with D the longest return − call.
//
// A limiter that denies only what finds N grants in the last span before it
// (W, or 2·W for a counter that weighs the window before) grants at least as
// much as an exact log of span + g + D at the calls: the log's grants are at
// their decisions more than span + g apart from N after, and the k-th grant of
// the limiter is never later than the k-th of those. For if it has granted
// fewer than k when the k-th of those is decided, it has granted k − 1, fewer
// than N of them in the last span.
//
// None grants more than a bucket: in d an exact log at most N·(⌊d/W⌋ + 1) ≤ N +
// R·d, fixed windows N·(⌊d/W⌋ + 2) ≤ 2·N + R·d, and a weighted counter N + 1 +
// R·d (see the package comment).
func newWindowBracket(r *rules, longest float64) bracket {
	f := r.frame
	span, burst := f.long(), f.limit
	if f.contract == bucket.SlidingWindow {
		span, burst = span+f.window*(1+f.drift), 1
	}
	few := exactWindow{limit: f.limit, window: span + longest + 1}
	if r.empty {
		few.kept, few.sum = []landing{{cost: f.limit}}, f.limit
	}
	high := replay{capacity: math.MaxFloat64}
	if short := f.short(); short > 0 {
		high.rate = f.limit / short
		high.capacity = f.limit + burst + high.rate*(longest+f.grain)
	}
	high.level = high.capacity
	return bracket{few: &few, high: high}
}
