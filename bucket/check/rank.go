package check

// rank is a number to sort by, another where it ties, and what the two stand
// for.
type rank struct {
	by, then int64
	slot     int32
}

func (a rank) before(b rank) bool { return a.by < b.by || a.by == b.by && a.then < b.then }

// ranks is a heap of them with four children to a node, as in pending: the
// first in order at the top. (One heap with a type parameter for both made the
// judge an eighth slower: a method of a parameter is not inlined.)
type ranks []rank

func (h *ranks) push(r rank) {
	q := append(*h, r)
	i := len(q) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !r.before(q[parent]) {
			break
		}
		q[i] = q[parent]
		i = parent
	}
	q[i] = r
	*h = q
}

// pop removes the first; the heap must not be empty.
func (h *ranks) pop() rank {
	q := *h
	first, last := q[0], q[len(q)-1]
	q = q[:len(q)-1]
	*h = q
	if len(q) == 0 {
		return first
	}
	i := 0
	for {
		child := 4*i + 1
		if child >= len(q) {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, len(q)); c++ {
			if q[c].before(q[least]) {
				least = c
			}
		}
		if !q[least].before(last) {
			break
		}
		q[i] = q[least]
		i = least
	}
	q[i] = last
	return first
}
