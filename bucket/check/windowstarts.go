package check

import (
	"math"

	"bucketproof/bucket/history"
)

// windowStarts follows fixed windows of which each begins with the first
// request after the one before has ended, as those do that are a key with an
// expiry.
//
// What is known of the start s of the window under way is that it lies in
// [least, most]. It ends W later. The next one begins
//
//   - at the earliest at least + W, and not before the first call of a request
//     that may have been decided then;
//   - at the latest at the return of the first grant that was called after most
//
// + W: by then a window was under way that is not this one.
//
// A grant surely lies in the window when it was called after the one before had
// surely ended, and returned before this one may have. Doubt does not add up:
// a silence of a window's length ends it.
type windowStarts struct {
	frame       *frame
	least, most float64 // of the start
	ended       float64 // when the window before has surely ended
	begun       bool    // a window is under way
	next        float64 // the least of the next start; +∞: nothing was called that may begin it
	first       int64   // the earliest call of the grants counted
	count       float64 // tokens surely granted in the window
	struck      float64 // of those, what is over
	whole       bool
	full        fullest
	excess      float64
}

func newWindowStarts(f *frame, empty bool) *windowStarts {
	w := &windowStarts{frame: f, whole: true, full: fullest{peak: math.Inf(-1)}, next: math.Inf(1), ended: math.Inf(-1)}
	if empty { // a window may be under way at the history's beginning
		w.begun, w.least, w.most = true, -f.long(), 0
		w.next = w.least + f.short()
	}
	return w
}

// begins says that a request may begin a window: a denial would have had to be
// granted in it, if it could be granted at all.
func (w *windowStarts) begins(q *request) bool {
	return q.outcome != history.Denied || q.cost > w.frame.limit
}

// call takes the next request in order of call.
func (w *windowStarts) call(q *request) {
	if !math.IsInf(w.next, 1) || !w.begins(q) {
		return
	}
	switch {
	case !w.begun:
		w.next = float64(q.call)
	case q.outcome == history.Unknown || float64(q.ret) >= w.least+w.frame.short():
		w.next = max(float64(q.call), w.least+w.frame.short())
	}
}

// land counts a grant that has returned; grants come in order of return.
// unknown requests so far may begin a window at any time.
func (w *windowStarts) land(q *request, l *line, unknown bool) {
	if q.cost != math.Trunc(q.cost) {
		w.whole = false
	}
	call, ret := float64(q.call), float64(q.ret)
	switch {
	case !w.begun:
		w.begin(q, l, unknown)
	case call >= w.most+w.frame.long():
		w.ended = w.most + w.frame.long()
		w.begin(q, l, unknown)
	}
	if call < w.ended || ret >= w.least+w.frame.short() {
		w.full.note(q.call, q.ret, q.cost, q.cost-w.frame.limit)
		w.excess += max(0, q.cost-w.frame.limit)
		return
	}
	if w.count == 0 {
		w.first = q.call
	}
	w.first = min(w.first, q.call)
	w.count += q.cost
	w.full.note(w.first, q.ret, w.count, w.count-w.frame.limit)
	if over := w.count - w.struck - w.frame.limit; over > tolerance {
		if w.whole {
			over = math.Ceil(over - tolerance)
		}
		w.struck += over
		w.excess += over
	}
}

// begin opens the next window, which began by the return of q at the latest.
func (w *windowStarts) begin(q *request, l *line, unknown bool) {
	w.begun = true
	w.least, w.most = min(w.next, float64(q.ret)), float64(q.ret)
	w.count, w.struck, w.next = 0, 0, math.Inf(1)
	after := w.least + w.frame.short()
	if unknown || after <= float64(q.ret) {
		w.next = after // something called before may begin it
		return
	}
	for p := range l.places {
		if r := &l.places[p]; r.open && w.begins(r) && float64(r.ret) >= after {
			w.next = after
			return
		}
	}
}

func (w *windowStarts) fullest() (fullest, float64) { return w.full, w.excess }
