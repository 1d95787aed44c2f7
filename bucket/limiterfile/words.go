package limiterfile

import (
	"sync"

	"bucketproof/bucket"
)

// scratch is the memory that one call's words are built in.
type scratch struct {
	scope scope
	bytes []byte
	ends  []int // where each word ends in bytes
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func newScratch(l bucket.Limit, r bucket.Request) *scratch {
	w := scratches.Get().(*scratch)
	w.scope = scope{limit: l, req: r}
	w.bytes, w.ends = w.bytes[:0], w.ends[:0]
	return w
}

func (w *scratch) free() {
	w.scope = scope{}
	scratches.Put(w)
}

// templates appends a word for each template.
func (w *scratch) templates(ts []Template) (err error) {
	for _, t := range ts {
		if w.bytes, err = t.append(w.bytes, &w.scope); err != nil {
			return err
		}
		w.ends = append(w.ends, len(w.bytes))
	}
	return nil
}

// exprs appends a word for each expression.
func (w *scratch) exprs(es []Expr) (err error) {
	for i := range es {
		if w.bytes, err = es[i].append(w.bytes, &w.scope); err != nil {
			return err
		}
		w.ends = append(w.ends, len(w.bytes))
	}
	return nil
}

// words returns what was appended. The words share one allocation.
func (w *scratch) words() []string {
	all, out, from := string(w.bytes), make([]string, len(w.ends)), 0
	for i, end := range w.ends {
		out[i] = all[from:end]
		from = end
	}
	return out
}

// Words evaluates what is sent for r: of a script its KEYS and ARGV, of a
// command its keys and all of its words. The keys come first in either case;
// they are the ones of [File.KeysOf]. An error is an [Error] with its place. It
// is safe for concurrent use, and the slices are the caller's.
func (f *File) Words(l bucket.Limit, r bucket.Request) (keys, words []string, err error) {
	w := newScratch(l, r)
	defer w.free()
	if err := w.templates(f.Keys); err != nil {
		return nil, nil, err
	}
	if f.Kind == Command {
		err = w.templates(f.Command)
	} else {
		err = w.exprs(f.Args)
	}
	if err != nil {
		return nil, nil, err
	}
	all := w.words()
	n := len(f.Keys)
	return all[:n:n], all[n:], nil
}

// KeysOf evaluates the keys that the limiter uses for r, the routing key first.
func (f *File) KeysOf(l bucket.Limit, r bucket.Request) ([]string, error) {
	w := newScratch(l, r)
	defer w.free()
	if err := w.templates(f.Keys); err != nil {
		return nil, err
	}
	return w.words(), nil
}
