package load

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Hold is a wait between reading the clock and sending: what a garbage
// collection, a queue or a slow network does to a request. The zero Hold holds
// nothing.
type Hold struct {
	Share    float64       // part of the calls that is held, 0 to 1
	From, To time.Duration // how long, uniformly between these, 0 ≤ From ≤ To
}

// HoldAll is a Hold of every call for the same t.
func HoldAll(t time.Duration) Hold { return Hold{Share: 1, From: t, To: t} }

// Validate reports the first thing that makes h no hold.
func (h Hold) Validate() error {
	switch {
	case math.IsNaN(h.Share) || h.Share < 0 || h.Share > 1:
		return fmt.Errorf("hold share is %v, want 0 to 1", h.Share)
	case h.From < 0:
		return fmt.Errorf("hold from is %v, want 0 or more", h.From)
	case h.To < h.From:
		return fmt.Errorf("hold to is %v, want at least from, %v", h.To, h.From)
	}
	return nil
}

// Of is how long request n of a phase is held: a pure function of the phase's
// seed and stream, so that which requests are held does not depend on who
// sends them.
func (h Hold) Of(seed, stream, n uint64) time.Duration {
	if h.Share <= 0 || h.To <= 0 {
		return 0
	}
	var source rand.PCG
	seedRequest(&source, seed, stream, n)
	if h.Share < 1 && unit(source.Uint64()) >= h.Share {
		return 0
	}
	return h.From + time.Duration(scale(source.Uint64(), uint64(h.To-h.From)+1))
}
