package check

import (
	"fmt"
	"iter"

	"bucketproof/bucket/history"
)

// recall is the second pass over a history, for what could not be known in the
// first.
type recall struct {
	*reading
	outlooks map[*sweep]*outlook // of the worst windows
	wanted   map[int64]bool      // operations to show
	shown    []history.Operation
	read2    int64 // operations read
	rates    bool  // whether the accept rate is judged

	album album   // operations that other checks show
	exact *recall // of the history as the server saw it; nil: it saw nothing
}

func newRecall(r *reading) *recall {
	a := &recall{reading: r, outlooks: make(map[*sweep]*outlook), wanted: make(map[int64]bool)}
	a.rates = r.counts.Answered() > 0
	leaps := r.leaps(0, never)
	for _, s := range r.order {
		if s.rate.odd > 0 {
			a.rates = false
		}
		s.brackets(leaps)
		if s.over.broken(r.rules.slack) {
			a.outlooks[s] = r.newOutlook(&s.over)
		}
	}
	if worst := r.worst(); worst != nil && a.outlooks[worst] == nil {
		a.outlooks[worst] = r.newOutlook(&worst.over)
	}
	if most := r.mostDenied(); most != nil {
		for _, index := range most.denials.first {
			a.wanted[index] = true
		}
	}
	return a
}

// read takes the history in again.
func (a *recall) read(ops iter.Seq2[*history.Operation, error]) error {
	if a.idle() && a.album.wanted == nil && (a.exact == nil || a.exact.idle()) {
		a.read2 = a.counts.Offered
		return nil
	}
	for op, err := range ops {
		if err != nil {
			return fmt.Errorf("read operation %d again: %w", a.read2+1, err)
		}
		a.operation(op)
		a.elsewhere(op)
		a.read2++
	}
	for _, l := range a.outlooks {
		l.expiries.done(l.end)
	}
	return nil
}

func (a *recall) operation(op *history.Operation) {
	s := a.known(op.Key)
	if s == nil {
		return // not the history that was read first; the number will tell
	}
	q := a.inWords(op)
	if a.rates {
		s.again(&q)
	}
	if len(a.outlooks) > 0 {
		if l := a.outlooks[s]; l != nil {
			l.see(&q, op)
		}
	}
	if len(a.wanted) > 0 && a.wanted[a.read2] {
		a.shown = append(a.shown, *op)
	}
}

// idle says that there is nothing to look for.
func (a *recall) idle() bool { return !a.rates && len(a.outlooks) == 0 && len(a.wanted) == 0 }

// whole says that the second reading gave what the first did.
func (a *recall) whole() bool { return a.read2 == a.counts.Offered }

// worst is the key with the worst window; nil before any grant.
func (r *reading) worst() *sweep {
	var worst *sweep
	for _, s := range r.order {
		if s.over.grants > 0 && (worst == nil || s.over.peak > worst.over.peak) {
			worst = s
		}
	}
	return worst
}

// mostDenied is the key with the most spurious denials; nil when there is none.
func (r *reading) mostDenied() *sweep {
	var most *sweep
	for _, s := range r.order {
		if s.denials.spurious > 0 && (most == nil || s.denials.spurious > most.denials.spurious) {
			most = s
		}
	}
	return most
}
