package history

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// File is a recorded history, read and found to be in order from its first
// line to its last. Its operations may be passed over any number of times.
type File struct {
	name   string
	header Header
	n      int

	// Where the operations are: one of the three.
	memory []*Operation // all of them, in order
	path   string       // in the file itself, which is in order
	spill  *spill       // on disk, in sorted runs
}

// Options say how much a [File] takes. The zero Options are good.
type Options struct {
	// MaxInMemory is how many operations are held in memory, at some 150 bytes
	// each; 0: two million. A longer history that is in order is read from its
	// file again in every pass; any other is sorted on disk.
	MaxInMemory int

	// TempDir is where it is sorted; "": the system's folder for such files.
	TempDir string
}

const defaultInMemory = 2_000_000

// ErrFolder is what an error of [Open] wraps when the path is that of a folder.
var ErrFolder = errors.New("it is a folder, name a history in it, such as history.jsonl.zst")

// Open reads the history at path, "-" being stdin, to its end: an error is
// that of its first bad line, a [*LineError], or wraps that of the file. Close
// the File when it is no longer used.
func Open(path string, stdin io.Reader, o Options) (*File, error) {
	if o.MaxInMemory <= 0 {
		o.MaxInMemory = defaultInMemory
	}
	if path == "-" {
		return load(&File{name: "standard input"}, stdin, o, false)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("read history %s: %w", path, ErrFolder)
	}
	f := &File{name: path}
	if !info.Mode().IsRegular() {
		return load(f, file, o, false)
	}
	f.path = path
	f, err = load(f, file, o, true)
	if !errors.Is(err, errNotInOrder) {
		return f, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	return load(&File{name: path}, file, o, false)
}

// errNotInOrder says that the file cannot serve as its own sorted copy.
var errNotInOrder = errors.New("lines are not in the order of their calls")

// load reads f from r. again says that f.path can be read again, so that a
// long history in order need not be kept; errNotInOrder then says that this one
// is not in order after all.
func load(f *File, r io.Reader, o Options, again bool) (*File, error) {
	d, err := NewDecoder(r, f.name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	f.header = d.Header()
	l := loader{File: f, decoder: d, most: o.MaxInMemory, folder: o.TempDir, again: again, inOrder: true}
	if err := l.read(); err != nil {
		if closing := f.Close(); closing != nil {
			return nil, errors.Join(err, closing)
		}
		return nil, err
	}
	return f, nil
}

// loader fills a File.
type loader struct {
	*File
	decoder *Decoder
	most    int
	folder  string
	again   bool

	held    Worker       // operations in memory
	count   int          // of them
	inOrder bool         // so far
	op      [2]Operation // the last one and the one before, by turns
}

func (l *loader) read() error {
	for {
		op, before := &l.op[l.n&1], &l.op[1-l.n&1]
		switch err := l.decoder.Decode(op); {
		case err == io.EOF:
			return l.finish()
		case err != nil:
			return err
		}
		if l.n > 0 && op.precedes(before) {
			l.inOrder = false
		}
		l.n++
		if err := l.take(op); err != nil {
			return err
		}
	}
}

// take holds op in memory, where there is place and need.
func (l *loader) take(op *Operation) error {
	if l.again && l.n > l.most {
		if !l.inOrder {
			return errNotInOrder
		}
		l.held = Worker{}
		return nil
	}
	if l.count == l.most {
		if err := l.flush(); err != nil {
			return err
		}
	}
	l.held.Append(*op)
	l.count++
	return nil
}

func (l *loader) finish() error {
	switch {
	case l.again && l.n > l.most:
		return nil
	case l.spill == nil:
		l.path = ""
		l.memory = inOrder(l.held.chunks)
		return nil
	case l.count > 0:
		return l.flush()
	}
	return nil
}

// flush sorts what is in memory and writes it to disk as one run.
func (l *loader) flush() error {
	if l.spill == nil {
		var err error
		if l.spill, err = newSpill(l.folder); err != nil {
			return err
		}
	}
	err := l.spill.write(inOrder(l.held.chunks))
	l.held, l.count = Worker{}, 0
	return err
}

// Name returns what errors call the history: its path, or "standard input".
func (f *File) Name() string { return f.name }

// Header returns what the first line said; the zero Header when it was none.
func (f *File) Header() Header { return f.header }

// Len returns the number of operations.
func (f *File) Len() int { return f.n }

// Operations yields the operations in the order of Call; ties come in the
// order of Due, then in that of their lines. Every pass yields the same ones;
// several may run at once. An error, from a file that has changed or a disk
// that fails, ends a pass. What a pointer points to stays as it is.
func (f *File) Operations() iter.Seq2[*Operation, error] {
	switch {
	case f.spill != nil:
		return f.spill.merged()
	case f.path != "":
		return f.reread
	}
	return func(yield func(*Operation, error) bool) {
		for _, op := range f.memory {
			if !yield(op, nil) {
				return
			}
		}
	}
}

// reread yields the operations of a file that is in order.
func (f *File) reread(yield func(*Operation, error) bool) {
	if err := f.decode(yield); err != nil {
		yield(nil, err)
	}
}

// decode ends without an error when yield wants no more.
func (f *File) decode(yield func(*Operation, error) bool) error {
	file, err := os.Open(f.path)
	if err != nil {
		return fmt.Errorf("read history again: %w", err)
	}
	defer file.Close()
	d, err := NewDecoder(file, f.name)
	if err != nil {
		return fmt.Errorf("read history again: %w", err)
	}
	defer d.Close()
	var block []Operation
	for n := 0; ; n++ {
		op := fresh(&block)
		switch err := d.Decode(op); {
		case err == io.EOF && n != f.n:
			return fmt.Errorf("read history %s again: it has %d operations now and had %d", f.name, n, f.n)
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("read history again: %w", err)
		}
		if !yield(op, nil) {
			return nil
		}
	}
}

// fresh returns an operation that nobody else has, cut from a block, so that a
// reader may keep it.
func fresh(block *[]Operation) *Operation {
	if len(*block) == 0 {
		*block = make([]Operation, 256)
	}
	op := &(*block)[0]
	*block = (*block)[1:]
	return op
}

// Close removes what was sorted on disk. The File must not be used after it.
func (f *File) Close() error {
	if f.spill == nil {
		return nil
	}
	return f.spill.close()
}
