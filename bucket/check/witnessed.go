package check

import "bucketproof/bucket"

// witnessed is a request as the server saw it. Its call and ret are the
// instants of the two readings of the server's clock around the decision, on
// that clock: TIME cuts off to whole microseconds, so the decision lies in
// [began, ended + 1 µs].
type witnessed struct {
	request
	sequence int64 // 0: not numbered
	ended    int64 // the server's clock just after the decision, µs since the Unix epoch
	clock    int64 // the caller's clock, ns since the Unix epoch; history.NoClock: not known
	before   bucket.State
	after    bucket.State
}

// track is what the server saw of one key. Requests come in order of their
// calls, and leave in the order in which the server decided them.
type track struct {
	sweep *sweep // checks 1 and 2 at the server's instants; nil before the first has left
	last  int64  // the call of the last that left, ns

	slots []witnessed // waiting for those decided before them, and free ones
	free  []int32
	order ranks // of the waiting, by began and sequence

	// Unknown requests that nobody witnessed: how many, and the costs of those
	// that came before the first that left.
	unknown int64
	early   float64

	chain   chain
	charges charges
}

// hold takes a request in until those that were decided before it are known.
func (t *track) hold(w *witnessed) {
	slot := int32(len(t.slots))
	if n := len(t.free); n > 0 {
		slot, t.free = t.free[n-1], t.free[:n-1]
		t.slots[slot] = *w
	} else {
		t.slots = append(t.slots, *w)
	}
	t.order.push(rank{by: w.began, then: w.sequence, slot: slot})
}

// release lets go, in the server's order, of those that began by bound.
//
// Whatever the server decided before a request w was called before w returned.
// So once calls are read that are later than w's return, nothing is missing
// before w, and bound is the largest began of all such w. This needs no
// knowledge of how far apart the clocks are, and holds for unknown requests too:
// one that is called after w returned was decided after it.
func (v *server) release(t *track, bound int64) {
	for len(t.order) > 0 && t.order[0].by <= bound {
		slot := t.order.pop().slot
		v.leave(t, &t.slots[slot])
		t.free = append(t.free, slot)
	}
}
