package history

import (
	"cmp"
	"slices"
)

// precedes orders operations as every reader sees them: by Call, then by Due.
// What is equal in both stays in the order in which it was recorded.
func (op *Operation) precedes(other *Operation) bool {
	return op.Call < other.Call || op.Call == other.Call && op.Due < other.Due
}

// inOrder returns pointers to the operations of all chunks in order. It sorts
// places of four words, as an Operation is 21 words long.
func inOrder(chunks [][]Operation) []*Operation {
	type place struct {
		call, due int64
		recorded  int
		op        *Operation
	}
	n := 0
	for _, c := range chunks {
		n += len(c)
	}
	places := make([]place, 0, n)
	sorted := true
	for _, c := range chunks {
		for i := range c {
			op := &c[i]
			if k := len(places); k > 0 && op.precedes(places[k-1].op) {
				sorted = false
			}
			places = append(places, place{op.Call, op.Due, len(places), op})
		}
	}
	if !sorted {
		slices.SortFunc(places, func(a, b place) int {
			return cmp.Or(cmp.Compare(a.call, b.call), cmp.Compare(a.due, b.due), cmp.Compare(a.recorded, b.recorded))
		})
	}
	ops := make([]*Operation, n)
	for i, p := range places {
		ops[i] = p.op
	}
	return ops
}
