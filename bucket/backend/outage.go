package backend

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// errStopped is how a server is that was stopped on purpose.
var errStopped = errors.New("it was stopped")

// Pause makes the server hold back every command of every client for d (whole
// milliseconds, rounded up), from now on; it returns at once.
func (r *Redis) Pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	ms := (d + time.Millisecond - 1) / time.Millisecond
	if err := r.admin.Do(ctx, "CLIENT", "PAUSE", int64(ms)).Err(); err != nil {
		return fmt.Errorf("pause redis at %s for %v: %w", r.info.Address, d, err)
	}
	return nil
}

// Suspend stops the server's process in its tracks for d, or until ctx ends, as
// a machine that stands still does, and returns when it goes on. Only a process
// that was started here can be suspended, and only on systems that know how.
func (r *Redis) Suspend(ctx context.Context, d time.Duration) error {
	p, ok := r.server.(*process)
	if !ok {
		return fmt.Errorf("suspend redis at %s: it is no process that was started here", r.info.Address)
	}
	if err := p.suspend(ctx, d); err != nil {
		return fmt.Errorf("suspend redis at %s for %v: %w", r.info.Address, d, err)
	}
	return nil
}

// Stop ends the server as a crash would: connections break and every key is
// lost. Only a server that was started here can be stopped.
func (r *Redis) Stop(ctx context.Context) error {
	if r.server == nil {
		return r.notOurs("stop")
	}
	if err := r.server.stop(ctx); err != nil {
		return fmt.Errorf("stop redis at %s: %w", r.info.Address, err)
	}
	return nil
}

// Restart stops the server if it runs and starts it again, empty, at the same
// address; it returns when the server answers.
func (r *Redis) Restart(ctx context.Context) error {
	if r.server == nil {
		return r.notOurs("restart")
	}
	if err := r.server.stop(ctx); err != nil {
		return fmt.Errorf("restart redis at %s: %w", r.info.Address, err)
	}
	if err := r.server.start(ctx); err != nil {
		return fmt.Errorf("restart redis at %s: %w", r.info.Address, err)
	}
	return r.awaitAnswer(ctx)
}

// awaitAnswer waits until the shared client is through to the new server: the
// first commands may meet connections to the old one.
func (r *Redis) awaitAnswer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		err := r.admin.Ping(ctx).Err()
		if err == nil {
			return nil
		}
		if pause(ctx, startPoll) != nil {
			return r.unreachable(err)
		}
	}
}

func (r *Redis) notOurs(what string) error {
	return fmt.Errorf("%s redis at %s: it was not started here", what, r.info.Address)
}

// Alive reports whether the server answers, and if not, what became of it as
// far as that can be seen. It tells a server that died in the middle of a run
// from an error of a limiter.
func (r *Redis) Alive(ctx context.Context) error {
	if s, ok := r.server.(interface{ alive() error }); ok {
		if err := s.alive(); err != nil {
			return fmt.Errorf("redis at %s is gone: %w", r.info.Address, err)
		}
	}
	if err := r.admin.Ping(ctx).Err(); err != nil {
		return r.unreachable(err)
	}
	return nil
}
