package history

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// LineError is a line of a history that cannot be read: for what it says, or for
// packed data that are damaged there or end in it.
type LineError struct {
	Name string // of the file
	Line int    // from 1
	Err  error  // what is wrong, in one sentence
}

// Error is "history.jsonl:17: return_ns 5 is before call_ns 9".
func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.Name, e.Line, e.Err) }

// Unwrap returns Err.
func (e *LineError) Unwrap() error { return e.Err }

// MaxLine is how long a line of a history may be, in bytes.
const MaxLine = 1 << 20

var errLongLine = fmt.Errorf("the line is longer than %d bytes", MaxLine)

// lines reads a text line by line and counts them.
type lines struct {
	r      *bufio.Reader
	name   string
	number int    // of the last line
	long   []byte // a line that did not fit into r's buffer
}

func newLines(r *bufio.Reader, name string) *lines { return &lines{r: r, name: name} }

// next returns the next line without its line feed, valid until the next call,
// or io.EOF. A line is whatever is left when the text ends without a line feed.
func (l *lines) next() ([]byte, error) {
	l.number++
	line, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = l.rest(line)
	}
	var damaged *packError // which may wrap io.EOF
	switch {
	case errors.As(err, &damaged):
		return nil, l.wrong(damaged)
	case err == nil:
		return line[:len(line)-1], nil
	case errors.Is(err, io.EOF) && len(line) > 0:
		return line, nil
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case errors.Is(err, errLongLine):
		return nil, l.wrong(err)
	}
	return nil, fmt.Errorf("read history %s: line %d: %w", l.name, l.number, err)
}

// rest reads on after the part of a line that filled r's buffer.
func (l *lines) rest(part []byte) ([]byte, error) {
	l.long = l.long[:0]
	for {
		if len(l.long)+len(part) > MaxLine {
			return nil, errLongLine
		}
		l.long = append(l.long, part...)
		var err error
		part, err = l.r.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			if len(l.long)+len(part) > MaxLine {
				return nil, errLongLine
			}
			l.long = append(l.long, part...)
			return l.long, err
		}
	}
}

// wrong is err at the last line.
func (l *lines) wrong(err error) error { return l.wrongAt(l.number, err) }

func (l *lines) wrongAt(line int, err error) error {
	return &LineError{Name: l.name, Line: line, Err: err}
}

// text returns the next line that is not blank.
func (l *lines) text() ([]byte, error) {
	for {
		line, err := l.next()
		if err != nil || !isBlank(line) {
			return line, err
		}
	}
}

// isBlank reports whether a line has nothing but white space.
func isBlank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }
