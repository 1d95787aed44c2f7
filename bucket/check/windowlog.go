package check

import "math"

// windowLog finds the fullest window of an exact log, as grants return. More
// than N grants that surely lie in [a, b] break it when b − a is less than W may
// measure: a log lets go of a grant when it is W old, so that two grants exactly
// W apart do not meet.
//
// It suffices to end windows at returns b and begin them as early as they may,
// just after b − W. Grants are kept in order of call, each for W; a new one is
// nearly always the last, else no farther from the end than there are grants in
// flight.
type windowLog struct {
	frame   *frame
	entries []logged // from head on
	head    int
	sum     float64 // of the costs kept
	left    float64 // of what is not struck
	whole   bool    // all costs so far are whole numbers
	full    fullest
	excess  float64 // tokens struck so far
}

// logged is a grant in the log.
type logged struct {
	call       int64
	cost, left float64
}

// fullest is the window that is most over what it may hold.
type fullest struct {
	peak       float64 // granted − bound; −∞: no window yet
	start, end int64
	granted    float64
	before     float64 // tokens of N that the window before still counts for
}

func (f *fullest) note(start, end int64, granted, over float64) {
	if over > f.peak {
		*f = fullest{peak: over, start: start, end: end, granted: granted}
	}
}

func newWindowLog(f *frame) *windowLog {
	return &windowLog{frame: f, whole: true, full: fullest{peak: math.Inf(-1)}}
}

// land counts a grant that has returned; grants come in order of return.
func (w *windowLog) land(q *request) {
	short := w.frame.short()
	if q.cost != math.Trunc(q.cost) {
		w.whole = false
	}
	for w.head < len(w.entries) && float64(q.ret-w.entries[w.head].call) >= short {
		w.sum -= w.entries[w.head].cost
		w.left -= w.entries[w.head].left
		w.head++
	}
	if w.head == len(w.entries) {
		w.entries, w.head, w.sum, w.left = w.entries[:0], 0, 0, 0 // forgets what rounding left
	}
	if float64(q.ret-q.call) >= short {
		w.full.note(q.call, q.ret, q.cost, q.cost-w.frame.limit)
		w.excess += max(0, q.cost-w.frame.limit)
		return // in no window surely
	}
	w.insert(logged{q.call, q.cost, q.cost})
	w.full.note(w.entries[w.head].call, q.ret, w.sum, w.sum-w.frame.limit)
	w.strike()
}

func (w *windowLog) insert(e logged) {
	if w.head > len(w.entries)/2 && w.head > 64 {
		w.entries, w.head = append(w.entries[:0], w.entries[w.head:]...), 0
	}
	w.entries = append(w.entries, e)
	i := len(w.entries) - 1
	for ; i > w.head && w.entries[i-1].call > e.call; i-- {
		w.entries[i] = w.entries[i-1]
	}
	w.entries[i] = e
	w.sum += e.cost
	w.left += e.left
}

// strike takes from the record what a window that ends now is over. It takes
// from the grants called last: all of the window have returned, and of those
// the one called last lies in every later window that any of them lies in. So
// no other choice strikes fewer tokens.
func (w *windowLog) strike() {
	over := w.left - w.frame.limit
	if over <= tolerance {
		return
	}
	if w.whole {
		over = math.Ceil(over - tolerance)
	}
	w.excess += over
	w.left -= over
	for i := len(w.entries) - 1; i >= w.head && over > 0; i-- {
		take := min(over, w.entries[i].left)
		w.entries[i].left -= take
		over -= take
	}
}

func (w *windowLog) fullest() (fullest, float64) { return w.full, w.excess }
