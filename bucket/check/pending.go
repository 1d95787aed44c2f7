package check

// due is a request that has yet to return.
type due struct {
	ret   int64 // when it returns
	place int32 // where it stands in the line
}

func (d due) before(e due) bool {
	return d.ret < e.ret || d.ret == e.ret && d.place < e.place
}

// pending is the set of requests yet to return, as a heap with four children
// to a node: the earliest return first, at one instant in order of call. Four
// children halve the depth of a heap of two and stand in one cache line.
type pending []due

func (h *pending) push(d due) {
	q := append(*h, d)
	i := len(q) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !d.before(q[parent]) {
			break
		}
		q[i] = q[parent]
		i = parent
	}
	q[i] = d
	*h = q
}

// pop removes the earliest; the heap must not be empty.
func (h *pending) pop() due {
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
