package remote

import (
	"errors"
	"net"
	"sync"
)

// errSealed is what a write fails with on a connection that was given up.
var errSealed = errors.New("the request was given up")

// conn is a connection that knows whether something of the request it carries may
// have been written. net/http writes from a goroutine of its own, which may come
// to it after the request has failed: so a conn can be sealed, and from then on
// what was not written never is.
type conn struct {
	net.Conn

	mu      sync.Mutex
	touched bool // a write was begun since begin, and did not fail before its first byte
	sealed  bool
}

// begin is called when a request is given the connection.
func (c *conn) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.touched = false
}

// Write writes unless the connection is sealed.
func (c *conn) Write(b []byte) (int, error) {
	c.mu.Lock()
	sealed, before := c.sealed, c.touched
	c.touched = c.touched || !sealed
	c.mu.Unlock()
	if sealed {
		return 0, errSealed
	}
	n, err := c.Conn.Write(b)
	if n == 0 && err != nil && !before {
		c.mu.Lock()
		c.touched = false
		c.mu.Unlock()
	}
	return n, err
}

// seal ends the connection, and reports whether something may have been written.
func (c *conn) seal() bool {
	c.mu.Lock()
	c.sealed = true
	touched := c.touched
	c.mu.Unlock()
	_ = c.Conn.Close()
	return touched
}
