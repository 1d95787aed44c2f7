package scenarios

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/check"
	"bucketproof/scenarios/clock"
)

// ServerKind says how a scenario's server comes to the clock that it has.
type ServerKind string

// The three ways. A server of the run's own takes steps of its clock and nothing
// else; a failover is one step.
const (
	// ServerShown leaves the server alone: a limiter on its clock, if it is one
	// script, is shown another TIME. Keys expire by the server's own, and limiters
	// on other clocks see nothing of it.
	ServerShown ServerKind = "shown" // also ""

	// ServerOwn is a server that the run has to itself, whose wall clock is set: TIME
	// and the expiry of keys go by it.
	ServerOwn ServerKind = "own"

	// ServerFailover is such a server and its replica, whose clock is off by the
	// step: at the instant of the step it takes over, with all that was written.
	ServerFailover ServerKind = "failover"
)

// OwnServer is a server that one run has to itself.
type OwnServer interface {
	ServerClock

	// OpenLimiter opens a limiter on the server for an instance.
	OpenLimiter(ctx context.Context, sub *Subject, instance string) (bucket.Limiter, error)

	// Step makes the server's clock go by so much, at one instant while it runs: it
	// is set, or a replica whose clock is so far off takes over. Calls wait while
	// that happens. It is called while limiters are in use.
	Step(ctx context.Context, by time.Duration) error

	// Close ends the server. The limiters have been closed.
	Close() error
}

// own reports whether runs of the scenario have a server to themselves.
func (s *Scenario) own() bool { return s.Server == ServerOwn || s.Server == ServerFailover }

// validateServer reports a clock that the server cannot have.
func (s *Scenario) validateServer() error {
	c := s.ServerClock
	if c.Jitter < 0 {
		return wrong("$.server_clock.jitter", "jitter is %v, want 0 or more", c.Jitter)
	}
	if err := c.model(0).Validate(); err != nil {
		return wrong("$.server_clock", "%v", err)
	}
	stepped := Clock{Steps: c.Steps}
	switch {
	case s.Server != "" && s.Server != ServerShown && !s.own():
		return wrong("$.server", "%q is unknown, want shown, own or failover", s.Server)
	case s.own() && (len(c.Steps) == 0 || fmt.Sprint(c) != fmt.Sprint(stepped)):
		return wrong("$.server", "a server of the run's own takes steps of its clock and nothing else, write server_clock: {steps: [{at: 1s, by: -500ms}]}")
	case s.Server == ServerFailover && len(c.Steps) != 1:
		return wrong("$.server_clock.steps", "a failover is one step, here are %d", len(c.Steps))
	}
	return nil
}

// ownServer is a run's own server and what was done to its clock.
type ownServer struct {
	OwnServer
	steps []clock.Step // those planned, in order of time

	taken []clock.Step // those taken: when each began
	leaps []check.Leap // those forward, ns
	slow  time.Duration
}

// openOwn starts the run's own server.
func (r *Runner) openOwn(ctx context.Context, s *Scenario) (*ownServer, error) {
	if r.OpenOwn == nil {
		return nil, errors.New("no server whose clock can be set is to be had")
	}
	server, err := r.OpenOwn(ctx, s.Server)
	if err != nil {
		return nil, fmt.Errorf("start a server of its own: %w", err)
	}
	return &ownServer{OwnServer: server, steps: s.ServerClock.model(0).Steps}, nil
}

// drive takes the steps when they are due, until ctx ends.
func (o *ownServer) drive(ctx context.Context, elapsed func() time.Duration) error {
	for _, step := range o.steps {
		if idle(ctx, step.At-elapsed()) != nil {
			return nil
		}
		from := elapsed()
		if err := o.Step(ctx, step.By); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("step the server's clock by %v: %w", step.By, err)
		}
		to := elapsed()
		o.taken = append(o.taken, clock.Step{At: from, By: step.By})
		o.slow = max(o.slow, to-from)
		if step.By > 0 {
			o.leaps = append(o.leaps, check.Leap{From: int64(from), To: int64(to)})
		}
	}
	return nil
}

// moved is how far the steps taken have moved the clock.
func (o *ownServer) moved() (by time.Duration) {
	for _, step := range o.taken {
		by += step.By
	}
	return by
}
