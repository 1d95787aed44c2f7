package check

import (
	"math"
	"sort"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// windowed is what one pass keeps of one key whose contract counts in windows.
//
// Nobody told where the windows lie, so there are several accounts of it: the
// plain one, an exact log or windows that begin with a request, and one for each
// phase that windows in step with a clock may have. What a grant or a denial
// shows to be impossible by one account may be right by another. The limiter
// has the benefit of the account that accuses it least: a limiter that keeps the
// contract is accused by none of its own.
//
// The phases are not looked at before the plain account fails; they then begin
// with what is known of the last three windows. So a limiter of the plain kind
// costs O(1) a record, and the others 64 times as much.
type windowed struct {
	frame *frame

	asked  float64   // tokens of the grants called so far
	flying float64   // tokens of those under way
	landed []landing // grants that have returned within the frame's memory, from head on
	head   int
	gone   float64 // tokens of those forgotten
	whole  bool    // all costs of what was granted, or may be, so far are whole numbers

	log    *windowLog    // of a sliding window; else nil
	starts *windowStarts // of fixed windows; else nil
	plain  bool          // the plain account explains all denials so far
	phases *phases       // nil: the plain account has not failed yet

	ideal exactWindow // what the accept rate is told against
}

// landing is a grant that has returned, in order of return.
type landing struct {
	call, ret int64
	cost      float64
	sum       float64 // tokens of all that returned until it
}

func newWindowed(r *rules) *windowed {
	w := &windowed{frame: r.frame, whole: true, plain: true}
	if r.frame.contract == bucket.FixedWindow {
		w.starts = newWindowStarts(r.frame, r.empty)
	} else {
		w.log = newWindowLog(r.frame)
	}
	w.ideal = newExactWindow(r.frame, r.frame.window)
	return w
}

// call takes the next request in order of call.
func (w *windowed) call(q *request) {
	if w.phases != nil {
		w.phases.advance(q.call, w.flying)
	}
	if w.starts != nil {
		w.starts.call(q)
	}
	if q.outcome != history.Unknown {
		w.ideal.take(q.call, q.cost)
	}
	if q.outcome == history.Denied {
		return
	}
	w.whole = w.whole && q.cost == math.Trunc(q.cost)
	if q.outcome == history.Unknown {
		return
	}
	w.asked += q.cost
	w.flying += q.cost
	if w.phases != nil {
		w.phases.call(q.call, q.ret, q.call, q.cost)
	}
}

// land takes the next grant in order of return.
func (w *windowed) land(q *request, l *line, unknown bool) {
	if w.phases != nil {
		w.phases.advance(q.ret, w.flying)
		w.phases.land(q, w.whole)
	}
	if w.flying -= q.cost; l.open == 0 {
		w.flying = 0 // forgets what rounding left
	}
	w.remember(q)
	if w.starts != nil {
		w.starts.land(q, l, unknown)
	} else {
		w.log.land(q)
	}
	if full, _ := w.account(); w.phases == nil && full.peak > tolerance {
		w.look(q.ret, l)
	}
}

// account is the plain one's fullest window, and what is struck by it.
func (w *windowed) account() (fullest, float64) {
	if w.starts != nil {
		return w.starts.fullest()
	}
	return w.log.fullest()
}

// remember keeps a grant for as long as it matters.
func (w *windowed) remember(q *request) {
	for w.head < len(w.landed) && float64(q.ret-w.landed[w.head].ret) > w.frame.memory() {
		w.gone = w.landed[w.head].sum
		w.head++
	}
	if w.head > len(w.landed)/2 {
		w.landed, w.head = append(w.landed[:0], w.landed[w.head:]...), 0
	}
	w.landed = append(w.landed, landing{q.call, q.ret, q.cost, w.sum() + q.cost})
}

// sum is the tokens of all grants that have returned.
func (w *windowed) sum() float64 {
	if len(w.landed) == 0 {
		return w.gone
	}
	return w.landed[len(w.landed)-1].sum
}

// look begins the accounts by phase.
func (w *windowed) look(now int64, l *line) {
	p := newPhases(w.frame, w.log != nil, now)
	for i := range w.landed[w.head:] {
		e := &w.landed[w.head+i]
		if float64(now-e.ret) > w.frame.memory() {
			continue
		}
		p.call(e.call, e.ret, now, e.cost)
		p.land(&request{call: e.call, ret: e.ret, cost: e.cost}, w.whole)
	}
	for i := range l.places {
		if q := &l.places[i]; q.open && q.outcome == history.Allowed {
			p.call(q.call, now, now, q.cost)
		}
	}
	w.phases = p
}

// recent is the tokens that may have been granted in the last W before an
// instant of a denial that has returned: of grants called by its return that had
// not returned W before its call. (The reading by which it was decided may be as
// old as its call, and what it met as young as its return.)
func (w *windowed) recent(q *request) float64 {
	since := float64(q.call) - w.frame.long()
	kept := w.landed[w.head:]
	n := sort.Search(len(kept), func(i int) bool { return float64(kept[i].ret) >= since })
	if n == 0 {
		return w.asked - w.gone
	}
	return w.asked - kept[n-1].sum
}

// spurious says that no account explains a denial that may find up to room
// tokens granted and must still grant. Accounts that do not explain one that
// another explains are refuted for good.
func (w *windowed) spurious(q *request, room float64, empty bool, l *line) bool {
	if w.phases != nil {
		w.phases.advance(q.ret, w.flying)
	}
	if float64(q.ret-q.call) > w.frame.window || empty && float64(q.call) < 2*w.frame.long()+w.frame.window/phaseCount {
		return false
	}
	plain := w.recent(q) > room+tolerance
	switch {
	case !plain && w.log == nil:
		return true // a fixed window lies in the last W, wherever it begins
	case w.phases == nil && plain:
		return false
	case w.phases == nil:
		w.look(q.ret, l)
	}
	return !w.explain(plain, q, room)
}

// explain asks the accounts that nothing has refuted yet, or if grants have
// refuted them all, those that no denial has.
func (w *windowed) explain(plain bool, q *request, room float64) bool {
	var by [phaseCount]bool
	for j := range by {
		by[j] = !w.phases.parts[j].refuted && w.phases.justifies(j, q, room, w.whole)
	}
	full, _ := w.account()
	explained, any := w.plain && full.peak <= tolerance && plain, w.plain && full.peak <= tolerance
	for j := range by {
		if c := &w.phases.parts[j]; !c.refuted && c.full.peak <= tolerance {
			any = true
			explained = explained || by[j]
		}
	}
	if !any {
		explained = w.plain && plain
		for j := range by {
			explained = explained || by[j]
		}
	}
	if explained {
		w.plain = w.plain && plain
		for j := range by {
			w.phases.parts[j].refuted = !by[j]
		}
	}
	return explained
}

// least is the fullest window by the account that accuses the limiter least,
// and what must be struck by it.
func (w *windowed) least() (full fullest, excess float64) {
	full, excess = w.account()
	found := w.plain
	if w.phases == nil {
		return full, excess
	}
	for j := range w.phases.parts {
		c := &w.phases.parts[j]
		if c.refuted {
			continue
		}
		if !found || c.full.peak < full.peak || c.full.peak == full.peak && c.excess < excess {
			full, excess, found = c.full, c.excess, true
		}
	}
	return full, excess
}
