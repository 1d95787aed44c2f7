package remote

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// conversation is a program's questions and answers, many at once over one pipe
// each way. Once something has gone wrong that leaves in doubt what an answer
// belongs to, it is over: the program is ended, every question on its way has an
// unknown outcome, and none is sent any more.
type conversation struct {
	file    *limiterfile.File
	process *process
	hide    *strings.Replacer
	queue   chan *call
	threads sync.WaitGroup

	mu    sync.Mutex
	asked uint64           // the last question's number
	open  map[uint64]*call // not answered, given up or not
	ended chan struct{}
	why   error // valid after ended
}

// queueLength is how many questions wait for a program that does not read; more
// wait with their callers.
const queueLength = 1024

// answerMost is the longest line that a program may answer with, in bytes.
const answerMost = 1 << 20

func converse(f *limiterfile.File, p *process, hide *strings.Replacer) *conversation {
	c := &conversation{
		file: f, process: p, hide: hide, queue: make(chan *call, queueLength), open: map[uint64]*call{}, ended: make(chan struct{}),
	}
	c.threads.Go(c.write)
	c.threads.Go(c.read)
	return c
}

// ask asks for r's tokens.
func (c *conversation) ask(ctx context.Context, r bucket.Request) (limiterfile.Answer, error) {
	var none limiterfile.Answer
	if err := ctx.Err(); err != nil {
		return none, fmt.Errorf("%w: %w", bucket.ErrUnsent, err)
	}
	q, err := c.newCall(r)
	if err != nil {
		return none, fmt.Errorf("%w: %w", bucket.ErrUnsent, err)
	}
	select {
	case c.queue <- q:
	case <-ctx.Done():
	case <-c.ended:
	}
	select {
	case o := <-q.done:
		return o.answer, o.err
	case <-ctx.Done():
		return none, c.givenUp(q, fmt.Errorf("the program did not answer in time%s: %w", c.hide.Replace(c.process.said.String()), ctx.Err()))
	case <-c.ended:
	}
	select {
	case o := <-q.done: // it came before the end
		return o.answer, o.err
	default:
		return none, c.givenUp(q, c.why)
	}
}

// newCall numbers a question.
func (c *conversation) newCall(r bucket.Request) (*call, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	text, err := line(c.asked, r)
	q := &call{number: c.asked, line: text, done: make(chan outcome, 1)}
	c.open[q.number] = q
	return q, err
}

// givenUp is the error for a question that nobody waits for any more: unsent if it
// can be taken back. One that cannot may be answered yet.
func (c *conversation) givenUp(q *call, why error) error {
	if !q.withdraw() {
		return why
	}
	c.mu.Lock()
	delete(c.open, q.number)
	c.mu.Unlock()
	return fmt.Errorf("%w: %w", bucket.ErrUnsent, why)
}

// mistake is what the program did wrong, told at its place in the limiter file.
func (c *conversation) mistake(what string) error {
	return c.file.Mistake(string(limiterfile.Exec), c.hide.Replace(what))
}

// end ends the conversation for a reason, which is a mistake of the program's.
func (c *conversation) end(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.ended:
	default:
		c.why = c.mistake(why)
		close(c.ended)
	}
}

// write writes what is queued.
func (c *conversation) write() {
	for {
		select {
		case <-c.ended:
			return
		case q := <-c.queue:
			if !q.begin() {
				continue
			}
			n, err := c.process.in.Write(q.line)
			if err == nil {
				continue
			}
			why := c.process.parting("does not read its standard input any more")
			if n == 0 {
				q.done <- outcome{err: fmt.Errorf("%w: %w", bucket.ErrUnsent, c.mistake(why))}
			}
			c.end(why)
			return
		}
	}
}

// read hands out answers until there are no more.
func (c *conversation) read() {
	lines := bufio.NewScanner(c.process.out)
	lines.Buffer(nil, answerMost)
	for lines.Scan() {
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		if err := c.answered(text); err != nil {
			c.end(err.Error())
			c.process.child.Kill()
			return
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		c.end(fmt.Sprintf("the program printed a line of more than %d bytes; its standard output is for answers alone", answerMost))
		c.process.child.Kill()
		return
	}
	c.end(c.process.parting("closed its standard output"))
}

// answered hands one answer to whoever waits for it.
func (c *conversation) answered(text []byte) error {
	n, a, err := parseAnswer(text)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.open[n]
	switch {
	case n == 0 || n > c.asked || q != nil && q.state.Load() != sending:
		return fmt.Errorf("the program answered question %d, which was not asked: %s", n, excerpt(text))
	case q == nil:
		return fmt.Errorf("the program answered question %d a second time: %s", n, excerpt(text))
	}
	delete(c.open, n)
	if a.Error != nil {
		*a.Error = c.hide.Replace(*a.Error)
	}
	q.done <- outcome{answer: a}
	return nil
}

// close ends the program and waits for everything that was started with it.
func (c *conversation) close() error {
	c.end("the limiter was closed")
	err := c.process.close()
	c.threads.Wait()
	<-c.process.said.done
	return err
}
