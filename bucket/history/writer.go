package history

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Writer writes a history to a file. What was written before the last
// [Writer.Flush] can be read even when the program is killed after it. A
// Writer is not for concurrent use.
type Writer struct {
	path   string
	file   *os.File
	packer packer // nil: plain
	out    *bufio.Writer
	csv    bool
	line   []byte
	n      int   // operations written
	dirty  bool  // something was written since the last flush
	err    error // the first one; nothing is written after it
}

// packer compresses. Ended and begun anew, it makes packed files that follow
// each other in one file, which unpack to one text.
type packer interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// Create creates or truncates the file at path. Its name decides the format:
// CSV for .csv, else JSON lines, packed for a further .zst or .gz. h is the
// first line of JSON lines; CSV has no place for it.
func Create(path string, h Header) (*Writer, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("create history: %w", err)
	}
	c := compressionOf(path)
	w := &Writer{
		path: path, file: file,
		csv: filepath.Ext(strings.TrimSuffix(path, string(c))) == ".csv",
	}
	if w.packer, err = newPacker(c, file); err != nil {
		file.Close()
		return nil, w.wrap(err)
	}
	if w.packer != nil {
		w.out = bufio.NewWriterSize(w.packer, readBuffer)
	} else {
		w.out = bufio.NewWriterSize(file, readBuffer)
	}
	if err := w.begin(h); err != nil {
		file.Close()
		return nil, w.wrap(err)
	}
	return w, nil
}

func newPacker(c compression, w io.Writer) (packer, error) {
	switch c {
	case gzipped:
		return gzip.NewWriter(w), nil
	case zstandard:
		return zstd.NewWriter(w)
	}
	return nil, nil
}

func (w *Writer) begin(h Header) (err error) {
	if w.csv {
		w.line = AppendCSVHeader(w.line[:0])
	} else if w.line, err = AppendHeader(w.line[:0], h); err != nil {
		return err
	}
	w.dirty = true
	_, err = w.out.Write(append(w.line, '\n'))
	return err
}

// Write appends ops, in their order, and flushes them. An operation that is
// not valid is an error, and so is a full disk; both name the file, and the
// Writer then writes nothing more.
func (w *Writer) Write(ops []Operation) error {
	for i := range ops {
		if err := w.append(&ops[i]); err != nil {
			return err
		}
	}
	return w.Flush()
}

func (w *Writer) append(op *Operation) error {
	if w.err != nil {
		return w.err
	}
	if err := op.Validate(); err != nil {
		w.err = w.wrap(fmt.Errorf("operation %d: %w", w.n+1, err))
		return w.err
	}
	if w.csv {
		w.line = AppendCSV(w.line[:0], op)
	} else {
		w.line = AppendJSON(w.line[:0], op)
	}
	w.line = append(w.line, '\n')
	if _, err := w.out.Write(w.line); err != nil {
		w.err = w.wrap(err)
		return w.err
	}
	w.n++
	w.dirty = true
	return nil
}

// Flush hands everything to the operating system and ends the packed part.
func (w *Writer) Flush() error {
	if w.err != nil || !w.dirty {
		return w.err
	}
	w.dirty = false
	err := w.out.Flush()
	if err == nil && w.packer != nil {
		err = w.packer.Close()
		w.packer.Reset(w.file)
	}
	w.err = w.wrap(err)
	return w.err
}

// Close flushes and closes the file. It returns the Writer's first error.
func (w *Writer) Close() error {
	err := w.Flush()
	if closed := w.file.Close(); err == nil {
		err = w.wrap(closed)
	}
	return err
}

func (w *Writer) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("write history %s: %w", w.path, err)
}

// Save writes a whole history to path, as [Create] does.
func Save(path string, h Header, ops []Operation) error {
	w, err := Create(path, h)
	if err != nil {
		return err
	}
	if err := w.Write(ops); err != nil {
		w.file.Close()
		return err
	}
	return w.Close()
}
