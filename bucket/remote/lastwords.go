package remote

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"sync"
)

// lastWords is the last line that a program has written on its standard error. It
// reads all the time, so that a program that writes much is never held up.
type lastWords struct {
	mu   sync.Mutex
	last string
	done chan struct{} // closed when there is no more to come
}

// lastWordsMost is the most that is kept of a line, in bytes.
const lastWordsMost = 300

// listen reads r until it ends.
func listen(r io.Reader) *lastWords {
	w := &lastWords{done: make(chan struct{})}
	go func() {
		defer close(w.done)
		lines := bufio.NewReader(r)
		for {
			start, err := lines.ReadSlice('\n')
			w.hear(start)
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = lines.ReadSlice('\n') // the rest of a very long line
			}
			if err != nil {
				return
			}
		}
	}()
	return w
}

// aside matches lines that only say where an error came from, or that the
// program's language ends with: a stack's places as JavaScript and Java write them,
// and Node's version.
var aside = regexp.MustCompile(`^(\s+at |Node\.js v\d)`)

func (w *lastWords) hear(line []byte) {
	text := bytes.TrimSpace(line)
	if len(text) == 0 || aside.Match(line) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = string(text[:min(len(text), lastWordsMost)])
}

// String is the last line, behind words that introduce it; "" when there is none.
func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == "" {
		return ""
	}
	return "; last on its standard error: " + w.last
}
