package backend

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// miniredisVersion is that of the module; a test holds it to go.mod.
const miniredisVersion = "2.40.0"

// embedded is a miniredis whose keys age with real time.
//
// Miniredis ages keys only when told to, or by the clock at every access to its
// data, also four times in one script, which costs a visit to every key. Here
// a queue in front of it tells it, once before each command.
type embedded struct {
	addr string // fixed by the first start

	mu   sync.Mutex // start, stop, close
	mini *miniredis.Miniredis
	line *queue
}

// openEmbedded starts a server inside this process.
func openEmbedded(ctx context.Context, o Options) (*Redis, error) {
	e := &embedded{addr: "127.0.0.1:0"}
	if err := e.start(ctx); err != nil {
		return nil, err
	}
	info := Info{Kind: Embedded, Engine: "miniredis", Version: miniredisVersion, Address: e.addr}
	r, err := attach(ctx, info, redis.Options{Addr: e.addr}, e)
	if err != nil {
		return nil, cleanedUp(err, e.close())
	}
	o.logf("redis: started an embedded one, which only resembles Redis: %s", r.info)
	return r, nil
}

// start begins empty: at any free port at first, later at the same one again.
func (e *embedded) start(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.mini != nil {
		return nil
	}
	m := miniredis.NewMiniRedis()
	err := m.StartAddr(e.addr)
	for attempt := 1; err != nil && attempt < portAttempts && pause(ctx, startPoll) == nil; attempt++ {
		err = m.StartAddr(e.addr)
	}
	if err != nil {
		return fmt.Errorf("start an embedded redis: %w", err)
	}
	e.addr, e.mini, e.line = m.Addr(), m, newQueue(m)
	return nil
}

// stopTimeout is how long a command that is being executed may take to end.
const stopTimeout = 3 * time.Second

// stop breaks every connection and forgets every key. A script that never ends
// cannot be ended either: it is left behind with its server, and told.
func (e *embedded) stop(context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.mini == nil {
		return nil
	}
	mini, line := e.mini, e.line
	e.mini, e.line = nil, nil
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		line.close()
		mini.Close()
	}()
	select {
	case <-closed:
		return nil
	case <-time.After(stopTimeout):
		return errors.New("the embedded server still executes a script, which does not end")
	}
}

func (e *embedded) alive() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.mini == nil {
		return errStopped
	}
	return nil
}

func (e *embedded) close() error { return e.stop(context.Background()) }
