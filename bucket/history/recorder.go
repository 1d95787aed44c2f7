package history

import (
	"cmp"
	"iter"
	"slices"
	"sync"
)

// Recorder collects the operations of a run: one append-only log a worker, so
// that recording takes no lock, merged when the load has ended.
type Recorder struct {
	mu     sync.Mutex
	logs   []*Worker
	merged []Operation // what Operations returned last
}

// NewRecorder returns an empty Recorder.
func NewRecorder() *Recorder { return &Recorder{} }

// Worker is one append-only log of a [Recorder]. It is used by one goroutine
// at a time.
type Worker struct {
	chunks [][]Operation // full ones first; only the last one grows
}

// Chunks grow fourfold from the first to the last size, so that thousands of
// workers with a request each stay small and one worker with millions of
// requests allocates once in 4096 of them. Records are never copied to grow.
const (
	firstChunk = 4
	lastChunk  = 4096
)

// Worker returns a new, empty log. It is safe for concurrent use.
func (r *Recorder) Worker() *Worker {
	w := &Worker{}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logs = append(r.logs, w)
	return w
}

// Append records op.
func (w *Worker) Append(op Operation) {
	last := len(w.chunks) - 1
	if last < 0 || len(w.chunks[last]) == cap(w.chunks[last]) {
		w.grow()
		last++
	}
	w.chunks[last] = append(w.chunks[last], op)
}

func (w *Worker) grow() {
	size := firstChunk
	if n := len(w.chunks); n > 0 {
		size = min(4*cap(w.chunks[n-1]), lastChunk)
	}
	w.chunks = append(w.chunks, make([]Operation, 0, size))
}

// Operations returns everything recorded so far in the order of Call; ties
// come in the order of Due, then in that of the workers' creation and of their
// records. No worker may append during the call. The slice is the Recorder's
// own: it is to be read only, and it is the same one until more is recorded.
func (r *Recorder) Operations() []Operation {
	r.mu.Lock()
	defer r.mu.Unlock()
	chunks := [][]Operation{r.merged}
	for _, w := range r.logs {
		chunks = append(chunks, w.chunks...)
		w.chunks = nil
	}
	if len(chunks) > 1 {
		r.merged = mergeChunks(chunks)
	}
	return r.merged
}

// mergeChunks returns the operations of all chunks in the order of Call, Due
// and place. It sorts small references, as an Operation is 14 words long.
func mergeChunks(chunks [][]Operation) []Operation {
	n := 0
	for _, c := range chunks {
		n += len(c)
	}
	type place struct {
		call, due int64
		order     int
		op        *Operation
	}
	places := make([]place, 0, n)
	for _, c := range chunks {
		for i := range c {
			places = append(places, place{c[i].Call, c[i].Due, len(places), &c[i]})
		}
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.call, b.call), cmp.Compare(a.due, b.due), cmp.Compare(a.order, b.order))
	})
	merged := make([]Operation, n)
	for i, p := range places {
		merged[i] = *p.op
	}
	return merged
}

// All yields a pointer to each of ops, in their order, and never an error: the
// form in which a [File] yields its operations, so that a check reads both.
// The pointers point into ops.
func All(ops []Operation) iter.Seq2[*Operation, error] {
	return func(yield func(*Operation, error) bool) {
		for i := range ops {
			if !yield(&ops[i], nil) {
				return
			}
		}
	}
}
