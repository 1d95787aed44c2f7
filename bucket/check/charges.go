package check

import (
	"fmt"
	"slices"

	"bucketproof/bucket/history"
)

// charges counts the decisions of one key by their numbers, in the server's
// order. Every run of the limiter's command takes the next number, so numbers
// that belong to no request are charges that no request asked for, unless an
// unknown one did.
type charges struct {
	numbered int64 // requests with a number
	last     int64 // the largest number; 0: none yet
	missing  int64 // numbers below it that no request has
	restarts int64 // times that the numbers fell back or repeated: FLUSH, eviction, failover
	hole     int64 // the latest missing numbers begin here
	disorder int64 // times that a number came behind a larger one that had left it out

	// Around the first missing number: which operations, and the number.
	odd    int64
	around []int64
	recent int64 // the operation with the number before
}

// chargesShown is how many operations stand around a missing number.
const chargesShown = 8

// next takes the next request in. fresh: the key's numbers began at 1.
func (c *charges) next(w *witnessed, fresh bool) {
	if w.sequence == 0 {
		return
	}
	if c.numbered == 0 && !fresh {
		c.last = w.sequence - 1
	}
	c.numbered++
	switch gap := w.sequence - c.last - 1; {
	case gap < 0:
		c.restarts++
		if c.hole > 0 && w.sequence >= c.hole {
			c.disorder++ // by the server's clock it came later
		}
	case gap > 0:
		c.missing += gap
		c.hole = c.last + 1
		if c.odd == 0 {
			c.odd = c.last + 1
			if c.numbered > 1 {
				c.around = append(c.around, c.recent)
			}
		}
	}
	if c.odd > 0 && len(c.around) < chargesShown {
		c.around = append(c.around, w.index)
	}
	c.last, c.recent = w.sequence, w.index
}

// charged holds the charges against the requests, where the server numbered the
// decisions: on each key every number up to the largest is a request's, but for
// the unknown ones. A key whose numbers fell back or repeated is passed over: its
// store was lost or replaced, and what was charged there is not known.
func (r *reading) charged(res *Result, again *recall) {
	if r.server == nil {
		return
	}
	var numbered, missing, restarts, over int64
	for _, s := range r.order {
		if s.track == nil {
			continue
		}
		c := &s.track.charges
		numbered, missing, restarts = numbered+c.numbered, missing+c.missing, restarts+c.restarts
		over += s.track.extra()
	}
	if numbered == 0 {
		return
	}
	res.Value["numbered"], res.Value["unclaimed"], res.Value["restarts"] = float64(numbered), float64(missing), float64(restarts)
	res.Value["overcharged"] = float64(over)
	if restarts > 0 {
		res.Detail += fmt.Sprintf("; the server's numbers fell back or repeated %d times", restarts)
	}
	if over > 0 {
		res.Verdict, res.WithinPrediction = Fail, false
		r.showCharges(res, over, again)
	}
}

// extra is how many charges on the key no request can have asked for.
func (t *track) extra() int64 {
	if t == nil || t.charges.restarts > 0 {
		return 0
	}
	return max(0, t.charges.missing-t.unknown)
}

// overcharged is the key with the most charges too many; nil when there is none.
func (r *reading) overcharged() *sweep {
	var most *sweep
	for _, s := range r.order {
		if n := s.track.extra(); n > 0 && (most == nil || n > most.track.extra()) {
			most = s
		}
	}
	return most
}

// showCharges names the request that was charged twice, most likely: of those
// around the first number that is nobody's the one that took longest.
func (r *reading) showCharges(res *Result, over int64, again *recall) {
	s := r.overcharged()
	ops := again.album.shown[ofCharges]
	slices.SortStableFunc(ops, inServersOrder)
	res.Evidence = &Evidence{Key: s.key, Operations: ops}
	for i := range ops {
		res.Evidence.Notes = append(res.Evidence.Notes, noted(&ops[i]))
	}
	sum := fmt.Sprintf("%s more than requests%s: number %d is nobody's", many(over, "charge"), onKey(s.key), s.track.charges.odd)
	var longest *history.Operation
	for i := range ops {
		if op := &ops[i]; longest == nil || op.Return-op.Call > longest.Return-longest.Call {
			longest = op
		}
	}
	if longest != nil {
		sum += fmt.Sprintf(", so a request was charged twice, likely number %d of %s, which took %s",
			longest.Witness.Sequence, called(longest.Instance), length(longest.Return-longest.Call))
	}
	res.Detail = sum + "; " + res.Detail
}
