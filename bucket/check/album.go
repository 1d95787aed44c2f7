package check

import (
	"cmp"

	"bucketproof/bucket/history"
)

// album is the operations that checks show as evidence, picked by number in the
// first reading and copied in the second.
type album struct {
	wanted map[int64]uint8 // operation → a bit a page
	shown  [pages][]history.Operation
}

// page is a check that shows operations of its own choice.
type page int

const (
	ofReplay page = iota
	ofCharges
	ofReplies
	ofLinear
	pages int = iota
)

func (a *album) want(p page, indices []int64) {
	if a.wanted == nil && len(indices) > 0 {
		a.wanted = make(map[int64]uint8)
	}
	for _, i := range indices {
		a.wanted[i] |= 1 << p
	}
}

// see takes an operation of the second reading.
func (a *album) see(index int64, op *history.Operation) {
	bits := a.wanted[index]
	for p := range pages {
		if bits>>p&1 != 0 {
			a.shown[p] = append(a.shown[p], *op)
		}
	}
}

// inServersOrder compares operations as the server decided them.
func inServersOrder(a, b history.Operation) int {
	return cmp.Or(cmp.Compare(a.Witness.BeforeMicros, b.Witness.BeforeMicros), cmp.Compare(a.Witness.Sequence, b.Witness.Sequence))
}

// compose prepares the second reading for what is read beside the sweeps.
func (a *recall) compose() {
	r := a.reading
	if s := r.diverged(); s != nil {
		a.album.want(ofReplay, s.track.chain.first.around)
	}
	if s := r.overcharged(); s != nil {
		a.album.want(ofCharges, s.track.charges.around)
	}
	if l := r.linear; l != nil && l.failed != nil {
		a.album.want(ofLinear, l.last())
	}
	if s := r.liar(); s != nil {
		a.album.want(ofReplies, s.replies.broken.around)
	}
	if v := r.server; v != nil {
		v.counts = r.counts
		a.exact = newRecall(&v.reading)
		a.exact.rates = false
	}
}

// elsewhere takes an operation in beside the sweeps.
func (a *recall) elsewhere(op *history.Operation) {
	if a.album.wanted != nil {
		a.album.see(a.read2, op)
	}
	b := a.exact
	if b == nil {
		return
	}
	b.read2++
	if len(b.wanted) > 0 && b.wanted[a.read2] {
		b.shown = append(b.shown, *op)
	}
	if len(b.outlooks) == 0 {
		return
	}
	s := a.known(op.Key)
	if s == nil || s.track == nil || s.track.sweep == nil {
		return
	}
	if l := b.outlooks[s.track.sweep]; l != nil {
		q := a.inWords(op)
		if a.server.at(&q, op.Witness.AfterMicros) {
			l.see(&q, op)
		}
	}
}
