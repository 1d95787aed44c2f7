package backend

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Pipelined is a client that sends what is asked at the same time in one
// pipeline. Three pipelines are under way at most, each on a connection of its
// own, so that the server has work while answers are read; what is asked
// meanwhile is the next one. With n callers a pipeline carries a third of n
// commands, up to [MaxDepth]. It is safe for concurrent use.
//
// The library has an auto-pipeliner that does the same. It asks every command
// for its arguments before it is queued, and sends a command whose caller has
// given up: nobody could tell then what was surely not sent.
type Pipelined struct {
	client *redis.Client

	mu      sync.Mutex
	asked   sync.Cond // what is waiting, or closed
	waiting []*call
	flying  int // taken and not answered
	idle    int // senders that have nothing to do
	closed  bool

	senders sync.WaitGroup
}

// call is a command and the caller that waits for it.
type call struct {
	cmd   redis.Cmder
	err   error
	taken bool          // by a sender; guarded by the client's mu
	done  chan struct{} // holds one when err is set
}

// MaxDepth is how many commands a pipeline carries at most.
const MaxDepth = 1024

// pipelines is how many are under way at once: one that the server works on, one
// that waits for it, and one whose answers are read. More would only take commands
// from these.
const pipelines = 3

// NewPipelinedClient is [Redis.NewClient] for commands in pipelines. The caller
// closes it.
func (r *Redis) NewPipelinedClient(instance string) *Pipelined {
	return r.NewPipelinedClientVia(instance, nil)
}

// NewPipelinedClientVia is [Redis.NewPipelinedClient] over connections that
// dial makes; nil: those of [Redis.Dialer].
func (r *Redis) NewPipelinedClientVia(instance string, dial DialFunc) *Pipelined {
	p := &Pipelined{client: r.newClient(instance, dial)}
	p.asked.L = &p.mu
	for range pipelines {
		p.senders.Go(p.send)
	}
	return p
}

var calls = sync.Pool{New: func() any { return &call{done: make(chan struct{}, 1)} }}

// Process sends cmd in the next pipeline and waits for its answer, or until ctx
// ends. A command that no pipeline has taken until then is never sent. One that
// was taken may be written at any time and must not be read; that it is under way
// it learns by being asked for its arguments.
func (p *Pipelined) Process(ctx context.Context, cmd redis.Cmder) error {
	c := calls.Get().(*call)
	c.cmd, c.err, c.taken = cmd, nil, false
	if !p.ask(c) {
		calls.Put(c)
		return redis.ErrClosed
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		if !p.withdraw(c) {
			_ = cmd.Args()
			return ctx.Err() // and leave c to its sender
		}
		c.err = ctx.Err()
	}
	err := c.err
	c.cmd = nil
	calls.Put(c)
	return err
}

// ask queues c; false when the client is closed.
func (p *Pipelined) ask(c *call) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.waiting = append(p.waiting, c)
	if p.idle > 0 {
		p.asked.Signal()
	}
	return true
}

// withdraw takes c out of the queue; false when a sender has it.
func (p *Pipelined) withdraw(c *call) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.taken {
		return false
	}
	i := slices.Index(p.waiting, c)
	p.waiting = slices.Delete(p.waiting, i, i+1)
	return true
}

// send sends pipelines until the client is closed and nothing is left.
func (p *Pipelined) send() {
	pipe := p.client.Pipeline()
	var batch []*call
	var cmds []redis.Cmder
	for p.wait() {
		runtime.Gosched() // whoever has just got an answer asks again
		batch = p.take(batch[:0])
		if len(batch) == 0 {
			continue
		}
		cmds = cmds[:0]
		for _, c := range batch {
			cmds = append(cmds, c.cmd)
		}
		// An error is every command's own.
		_ = pipe.BatchProcess(context.Background(), cmds...)
		_, _ = pipe.Exec(context.Background())
		p.landed(len(batch))
		for i, c := range batch {
			c.err = c.cmd.Err()
			batch[i], cmds[i] = nil, nil
			c.done <- struct{}{}
		}
	}
}

// wait waits until something is asked; false when nothing ever will be.
func (p *Pipelined) wait() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.waiting) == 0 && !p.closed {
		p.idle++
		p.asked.Wait()
		p.idle--
	}
	return len(p.waiting) > 0
}

// take moves into batch what is waiting, but no more than an even part of all
// that is asked: one pipeline with everything in it would leave the server idle
// while its answers are read.
func (p *Pipelined) take(batch []*call) []*call {
	p.mu.Lock()
	defer p.mu.Unlock()
	even := (len(p.waiting) + p.flying + pipelines - 1) / pipelines
	n := min(len(p.waiting), even, MaxDepth)
	p.flying += n
	batch = append(batch, p.waiting[:n]...)
	for _, c := range batch {
		c.taken = true
	}
	p.waiting = slices.Delete(p.waiting, 0, n)
	return batch
}

// landed notes that n commands have their answers.
func (p *Pipelined) landed(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flying -= n
}

// Close sends what is queued, waits for the answers and closes the connections.
func (p *Pipelined) Close() error {
	p.mu.Lock()
	p.closed = true
	p.asked.Broadcast()
	p.mu.Unlock()
	p.senders.Wait()
	return p.client.Close()
}
