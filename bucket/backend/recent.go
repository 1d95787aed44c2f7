package backend

import (
	"context"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// recently is how long an answer proves that a connection is alive.
const recently = 10 * time.Millisecond

// recent is a connection that is taken for alive when it has answered recently.
// The client asks the kernel before every command whether the other side has
// hung up, and gets a connection that has out of the way; under load that is one
// of three system calls, for an answer that is a moment old.
type recent struct {
	net.Conn
	kernel   syscall.RawConn
	answered atomic.Int64 // when, since began, in ns
}

var began = time.Now()

// watched makes dial's connections recent ones, where they are the kernel's own.
func watched(dial DialFunc) DialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		plain, ok := c.(syscall.Conn)
		if !ok {
			return c, nil
		}
		kernel, err := plain.SyscallConn()
		if err != nil {
			return c, nil
		}
		return &recent{Conn: c, kernel: kernel}, nil
	}
}

// Read notes when there was an answer.
func (c *recent) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.answered.Store(int64(time.Since(began)))
	}
	return n, err
}

// SyscallConn is what the client asks the kernel through.
func (c *recent) SyscallConn() (syscall.RawConn, error) { return (*recentRaw)(c), nil }

// recentRaw asks the kernel unless there was an answer recently.
type recentRaw recent

func (c *recentRaw) Control(f func(fd uintptr)) error    { return c.kernel.Control(f) }
func (c *recentRaw) Write(f func(fd uintptr) bool) error { return c.kernel.Write(f) }

func (c *recentRaw) Read(f func(fd uintptr) bool) error {
	if time.Since(began)-time.Duration(c.answered.Load()) < recently {
		return nil
	}
	return c.kernel.Read(f)
}
