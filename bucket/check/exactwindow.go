package check

import "bucketproof/bucket"

// exactWindow is a perfect limiter that counts in windows and decides requests
// at their calls: an exact log, or fixed windows that begin with a grant.
type exactWindow struct {
	fixed   bool
	limit   float64 // tokens
	window  float64 // ns
	kept    []landing
	head    int
	sum     float64 // tokens in the window
	start   int64   // of a fixed one
	begun   bool
	granted float64 // tokens
	grants  int64
}

func newExactWindow(f *frame, window float64) exactWindow {
	return exactWindow{fixed: f.contract == bucket.FixedWindow, limit: f.limit, window: window}
}

// take decides one request.
func (x *exactWindow) take(t int64, cost float64) {
	if x.fixed {
		if !x.begun || float64(t-x.start) >= x.window {
			x.begun, x.start, x.sum = true, t, 0
		}
	} else {
		x.forget(t)
	}
	if x.sum+cost > x.limit+tolerance {
		return
	}
	x.sum += cost
	x.granted += cost
	x.grants++
	if !x.fixed {
		x.kept = append(x.kept, landing{ret: t, cost: cost})
	}
}

// forget drops what is a window old.
func (x *exactWindow) forget(t int64) {
	for x.head < len(x.kept) && float64(t-x.kept[x.head].ret) >= x.window {
		x.sum -= x.kept[x.head].cost
		x.head++
	}
	if x.head > len(x.kept)/2 {
		x.kept, x.head = append(x.kept[:0], x.kept[x.head:]...), 0
	}
}
