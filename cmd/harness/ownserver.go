package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/scenarios"
)

// ownServer is a Redis that one run has to itself, or two: a primary and the
// replica that is to take over. It is safe for concurrent use.
type ownServer struct {
	limiters *limiters
	replica  *backend.Redis // nil: there is none, or it has taken over

	mu      sync.Mutex
	current *backend.Redis
	former  *backend.Redis // that failed; nil: none did
	opened  []*guarded
}

// openOwn starts a server for one run.
func (t *limiters) openOwn(ctx context.Context, kind scenarios.ServerKind) (scenarios.OwnServer, error) {
	o := &ownServer{limiters: t}
	var err error
	if o.current, err = backend.Open(ctx, string(backend.Process), backend.Options{OwnClock: true}); err != nil {
		return nil, err
	}
	if kind != scenarios.ServerFailover {
		return o, nil
	}
	if o.replica, err = backend.Open(ctx, string(backend.Process), backend.Options{OwnClock: true}); err == nil {
		err = o.replica.Follow(ctx, o.current)
	}
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// Offset is how far its clock is ahead of a local one.
func (o *ownServer) Offset(ctx context.Context, local func() time.Time) (offset, uncertainty time.Duration, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.current.Offset(ctx, local)
}

// OpenLimiter opens a limiter that follows the server when a replica takes over.
func (o *ownServer) OpenLimiter(_ context.Context, sub *scenarios.Subject, instance string) (bucket.Limiter, error) {
	l, err := o.limiters.bySubject(sub)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	g := &guarded{open: func(r *backend.Redis) (bucket.Limiter, error) { return l.openOn(r, instance, false) }}
	if g.limiter, err = g.open(o.current); err != nil {
		return nil, err
	}
	o.opened = append(o.opened, g)
	return g, nil
}

// Step sets the server's clock; where there is a replica, it gets a clock so far
// off and takes over. Calls that are under way end before and what comes waits: a
// script in the middle of which the clock goes forward gives its key a new life by
// the new time, and the key never expires.
func (o *ownServer) Step(ctx context.Context, by time.Duration) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.replica != nil {
		if err := o.replica.ShiftClock(by); err != nil {
			return err
		}
	}
	for _, g := range o.opened {
		g.mu.Lock()
		defer g.mu.Unlock()
	}
	if o.replica == nil {
		return o.current.ShiftClock(by)
	}
	if err := o.replica.Promote(ctx, o.current); err != nil {
		return err
	}
	o.current, o.former, o.replica = o.replica, o.current, nil
	for _, g := range o.opened {
		if err := g.move(o.current); err != nil {
			return err
		}
	}
	return nil
}

// Close ends all servers.
func (o *ownServer) Close() error {
	var all error
	for _, r := range []*backend.Redis{o.current, o.former, o.replica} {
		if r != nil {
			all = errors.Join(all, r.Close())
		}
	}
	return all
}

// guarded is a limiter whose calls wait while it moves to another server.
type guarded struct {
	open func(*backend.Redis) (bucket.Limiter, error)

	mu      sync.RWMutex
	limiter bucket.Limiter
}

// Take asks the limiter where it is now.
func (g *guarded) Take(ctx context.Context, limit bucket.Limit, r bucket.Request) (bucket.Decision, error) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.limiter.Take(ctx, limit, r)
}

// move opens the limiter anew on r; mu must be held.
func (g *guarded) move(r *backend.Redis) error {
	l, err := g.open(r)
	if err != nil {
		return fmt.Errorf("open the limiter on the replica: %w", err)
	}
	_ = closeLimiter(g.limiter) // nothing was written that could be lost
	g.limiter = l
	return nil
}

// Close closes the limiter.
func (g *guarded) Close() error { return closeLimiter(g.limiter) }

func closeLimiter(l bucket.Limiter) error {
	if c, ok := l.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
