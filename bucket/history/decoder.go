package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Decoder reads the operations of a history in the order of its lines: JSON
// lines or CSV, plain or packed with gzip or Zstandard, told apart by their
// content. It is not for concurrent use.
type Decoder struct {
	lines   *lines
	close   func()
	header  Header
	draft   draft
	scanner scanner
	table   *table // of CSV; nil: JSON lines
	first   []byte // the first line when it is an operation, until it was decoded
}

// byteOrderMark may stand before a text that went through other programs.
var byteOrderMark = []byte("\ufeff")

// NewDecoder returns a Decoder of r; name is what errors call it. It reads the
// first line, and its errors are those of [Decoder.Decode]. A history without
// a line has no operations. Close the Decoder when it is no longer used.
func NewDecoder(r io.Reader, name string) (*Decoder, error) {
	text, done, err := unpack(r)
	var damaged *packError
	switch {
	case errors.As(err, &damaged):
		return nil, &LineError{Name: name, Line: 1, Err: damaged}
	case err != nil:
		return nil, fmt.Errorf("read history %s: %w", name, err)
	}
	d := &Decoder{lines: newLines(text, name), close: done, draft: draft{names: newNames()}}
	if err := d.begin(); err != nil && err != io.EOF {
		done()
		return nil, err
	}
	return d, nil
}

// begin reads the first line.
func (d *Decoder) begin() error {
	if mark, _ := d.lines.r.Peek(len(byteOrderMark)); bytes.Equal(mark, byteOrderMark) {
		d.lines.r.Discard(len(byteOrderMark))
	}
	line, err := d.lines.text()
	if err != nil {
		return err
	}
	switch bytes.TrimSpace(line)[0] {
	case '[':
		return d.lines.wrong(errNoObject)
	case '{':
		return d.beginJSON(line)
	}
	d.table = &table{}
	if err := d.table.take(d.lines, line); err != nil {
		return err
	}
	if err := d.table.header(); err != nil {
		return d.lines.wrong(err)
	}
	return nil
}

func (d *Decoder) beginJSON(line []byte) error {
	if !isHeader(line) {
		d.first = bytes.Clone(line)
		return nil
	}
	header, err := parseHeader(line)
	if err != nil {
		return d.lines.wrong(err)
	}
	d.header = header
	return nil
}

// Header returns what the first line said; the zero Header when it was none.
func (d *Decoder) Header() Header { return d.header }

// Close ends the reading. It does not close the reader that the text came from.
func (d *Decoder) Close() { d.close() }

// Decode sets op to the next operation, valid in the sense of
// [Operation.Validate]. It returns io.EOF when there is none left, a
// [*LineError] for a line that is wrong, and the reader's error otherwise.
// After an error other than io.EOF nothing more should be read.
func (d *Decoder) Decode(op *Operation) error {
	line, err := d.next()
	if err != nil {
		return err
	}
	number := d.lines.number
	d.draft.start(op)
	if d.table != nil {
		if err := d.table.take(d.lines, line); err != nil {
			return err
		}
		err = d.table.fill(&d.draft)
	} else {
		err = d.object(line)
	}
	if err == nil {
		err = d.draft.finish()
	}
	if err != nil {
		return d.lines.wrongAt(number, err)
	}
	return nil
}

// next returns the next line that is not blank.
func (d *Decoder) next() ([]byte, error) {
	if d.first != nil {
		line := d.first
		d.first = nil
		return line, nil
	}
	return d.lines.text()
}

// object reads a line of JSON into the draft.
func (d *Decoder) object(line []byte) error {
	s := &d.scanner
	s.line, s.at = line, 0
	if s.next() != '{' || len(bytes.TrimSpace(line)) == 1 {
		return errNoObject
	}
	if err := d.draft.object(s); err != nil {
		return err
	}
	if err := s.end(); err != nil {
		return err
	}
	if d.draft.present&required != required && isHeader(line) {
		return errLateHeader
	}
	return nil
}
