package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// Program asks a limiter that is a process of its own, which is started with the
// first request and its limit, and once only: a limiter that ended has lost what
// it knew. It is safe for concurrent use.
type Program struct {
	file *limiterfile.File
	env  Environment

	mu     sync.Mutex
	limit  bucket.Limit
	talk   *conversation // nil: not started
	failed error         // why it could not be
	closed bool
}

var _ bucket.Limiter = (*Program)(nil)

// NewProgram returns the limiter that f describes, as one instance holds it. A
// file of another kind than exec is refused with an [limiterfile.Error].
func NewProgram(f *limiterfile.File, e Environment) (*Program, error) {
	if f.Kind != limiterfile.Exec {
		return nil, f.Mistake(string(f.Kind), fmt.Sprintf("a limiter of kind `%s` is no program", f.Kind))
	}
	return &Program{file: f, env: e}, nil
}

// File returns the limiter file.
func (p *Program) File() *limiterfile.File { return p.file }

// Take asks for r's tokens with one line. The limit is that of the first call: the
// program was told no other, and another is [bucket.ErrLimit].
func (p *Program) Take(ctx context.Context, limit bucket.Limit, r bucket.Request) (bucket.Decision, error) {
	d, err := p.take(ctx, limit, r)
	if err != nil {
		return bucket.Untold(false), fmt.Errorf("limiter %s: %w", p.file.Name, err)
	}
	return d, nil
}

func (p *Program) take(ctx context.Context, limit bucket.Limit, r bucket.Request) (bucket.Decision, error) {
	talk, err := p.started(limit)
	if err != nil {
		return bucket.Untold(false), err
	}
	a, err := talk.ask(ctx, r)
	if err != nil {
		return bucket.Untold(false), err
	}
	return p.file.DecideExec(a)
}

// started is the conversation with the program, which is started if need be.
func (p *Program) started(limit bucket.Limit) (*conversation, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return nil, fmt.Errorf("%w: %w", bucket.ErrUnsent, errors.New("the limiter was closed"))
	case p.failed != nil:
		return nil, p.failed
	case p.talk != nil && limit != p.limit:
		return nil, fmt.Errorf("%w: the program was started for %v and cannot be told %v", bucket.ErrLimit, p.limit, limit)
	case p.talk != nil:
		return p.talk, nil
	}
	process, err := start(p.file, p.env.variables(limit))
	if err != nil {
		p.failed = fmt.Errorf("%w: %w", bucket.ErrUnsent, err)
		return nil, p.failed
	}
	p.limit, p.talk = limit, converse(p.file, process, p.env.hider())
	return p.talk, nil
}

// Close ends the program by the end of its input, and by force where that does not
// help within some seconds, which is an error.
func (p *Program) Close() error {
	p.mu.Lock()
	talk := p.talk
	p.closed, p.talk = true, nil
	p.mu.Unlock()
	if talk == nil {
		return nil
	}
	if err := talk.close(); err != nil {
		return fmt.Errorf("limiter %s: %w", p.file.Name, err)
	}
	return nil
}
