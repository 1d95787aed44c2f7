package backend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// Kind says who runs the server.
type Kind string

// The kinds, as results.json spells them.
const (
	Process   Kind = "process"   // started here, as a child process
	Container Kind = "container" // started here, in a container
	Embedded  Kind = "embedded"  // inside this process
	External  Kind = "external"  // somebody else's
)

// Info describes a server. It never holds a password.
type Info struct {
	Kind    Kind
	Engine  string // "redis", "valkey" or "miniredis"
	Version string // "7.0.15"; "unknown" where the server does not tell
	Address string // host:port, or the path of a socket
}

// String renders i as "redis 7.0.15 (process) at 127.0.0.1:6379".
func (i Info) String() string {
	return fmt.Sprintf("%s %s (%s) at %s", i.Engine, i.Version, i.Kind, i.Address)
}

// Options adjusts [Open]. The zero Options is ready to use.
type Options struct {
	Log   func(line string) // called for every choice and every thing passed over; nil: nobody listens
	Dir   string            // where a process gets its temporary folder; "": the system's place
	Image string            // what a container runs; "": HARNESS_REDIS_IMAGE, else DefaultImage

	// OwnClock starts a process with a wall clock of its own, for
	// [Redis.ShiftClock]. It needs Linux and a C compiler; without them, and of
	// any other kind, Open fails with [ErrOwnClock].
	OwnClock bool

	cluster bool // a process is a node of a cluster, without slots yet
}

func (o Options) logf(format string, args ...any) {
	if o.Log != nil {
		o.Log(fmt.Sprintf(format, args...))
	}
}

// owned is a server started here that can be stopped as by a crash, started
// again empty at the same address, and ended for good.
type owned interface {
	stop(ctx context.Context) error
	start(ctx context.Context) error
	close() error
}

// Redis is one server and the means to reach it. It is safe for concurrent
// use, except that nothing may be called after Close.
type Redis struct {
	info     Info
	settings redis.Options // what every client starts from
	nameless bool          // connections get no name, which the server refuses
	admin    *redis.Client
	server   owned // nil: external

	noBlocks atomic.Bool // the server refuses MULTI

	closing sync.Once
	closed  error
}

// Open starts or finds the server that spec names: "auto" (also ""),
// "process", "container", "embedded", or a URL (redis://, rediss://, unix://).
// An error is one line without a password; it is [ErrUsage] when spec is wrong
// and an environment error otherwise, which wraps context.Canceled when ctx was
// cancelled meanwhile.
func Open(ctx context.Context, spec string, o Options) (*Redis, error) {
	r, err := open(ctx, spec, o)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return nil, fmt.Errorf("open redis: %w", ctx.Err())
	}
	return r, err
}

func open(ctx context.Context, spec string, o Options) (*Redis, error) {
	if o.OwnClock {
		if err := CanOwnClock(spec); err != nil {
			return nil, fmt.Errorf("open redis: %w", err)
		}
		return openProcess(ctx, o)
	}
	switch {
	case spec == "" || spec == "auto":
		return openAuto(ctx, o)
	case spec == string(Process):
		return openProcess(ctx, o)
	case spec == string(Container):
		return openContainer(ctx, o)
	case spec == string(Embedded):
		return openEmbedded(ctx, o)
	case strings.Contains(spec, "://"):
		return openExternal(ctx, spec, o)
	}
	return nil, usagef("redis %q is not auto, process, container, embedded or a URL (redis://host:6379)", spec)
}

// attach connects to a server that is expected to answer.
func attach(ctx context.Context, info Info, base redis.Options, s owned) (*Redis, error) {
	r := &Redis{info: info, settings: clientSettings(base), server: s}
	r.admin = r.newClient("admin", nil)
	err := r.identify(ctx)
	if namesRefused(err) {
		r.nameless = true
		err = cleanedUp(nil, r.admin.Close())
		if r.admin = r.newClient("admin", nil); err == nil {
			err = r.identify(ctx)
		}
	}
	if err != nil {
		return nil, cleanedUp(err, r.admin.Close())
	}
	return r, nil
}

// namesRefused reports whether a first command failed because a connection may
// have no name: CLIENT was renamed, or an access rule forbids it.
func namesRefused(err error) bool {
	var refused redis.Error
	if !errors.As(err, &refused) {
		return false
	}
	text := strings.ToLower(refused.Error())
	return strings.HasPrefix(text, "err unknown command") && strings.Contains(text, "client") ||
		strings.HasPrefix(text, "noperm") && strings.Contains(text, "'client")
}

// Info describes the server as it was when it was opened.
func (r *Redis) Info() Info { return r.info }

// Owned reports whether the server was started here, so that faults that hurt
// everybody on it (pause, restart) hurt nobody else.
func (r *Redis) Owned() bool { return r.server != nil }

// Close closes the shared client and ends what [Open] started: it waits for the
// process, removes its folder, and removes the container. The second call
// does nothing and returns the first one's error.
func (r *Redis) Close() error {
	r.closing.Do(func() {
		err := r.admin.Close()
		if r.server != nil {
			err = cleanedUp(err, r.server.close())
		}
		r.closed = err
	})
	return r.closed
}
