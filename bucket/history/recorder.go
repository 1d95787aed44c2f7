package history

import (
	"iter"
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
		ordered := inOrder(chunks)
		r.merged = make([]Operation, len(ordered))
		for i, op := range ordered {
			r.merged[i] = *op
		}
	}
	return r.merged
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
