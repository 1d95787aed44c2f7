package remote

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// broken is a connection on which the second write and all after it fail once so
// many bytes are written.
type broken struct {
	net.Conn
	writes atomic.Int64
	bytes  int
}

func (b *broken) Write(p []byte) (int, error) {
	if b.writes.Add(1) == 1 {
		return b.Conn.Write(p)
	}
	n, _ := b.Conn.Write(p[:b.bytes])
	return n, syscall.EPIPE
}

// TestOnlyWhatWasSurelyNotWrittenGoesOutAgain: the first connection breaks with
// its second request, before the request's first byte or after it.
func TestOnlyWhatWasSurelyNotWrittenGoesOutAgain(t *testing.T) {
	for _, written := range []int{0, 1} {
		var served, dialled atomic.Int64
		f, err := limiterfile.Parse("f.yaml", []byte("name: g\nhttp: {url: \"http://gate/${key}\"}\nreply: {allowed: status == 200}\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		g, err := NewGateway(f)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		g.transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go answer(theirs, &served)
			if dialled.Add(1) > 1 {
				return &conn{Conn: ours}, nil
			}
			return &conn{Conn: &broken{Conn: ours, bytes: written}}, nil
		}
		var last error
		for range 2 {
			_, last = g.Take(t.Context(), bucket.Limit{Rate: 1, Capacity: 1}, bucket.Request{Key: "k", Cost: 1})
		}
		switch {
		case written == 0 && (last != nil || served.Load() != 2 || dialled.Load() != 2):
			t.Errorf("nothing written: %v, %d requests served over %d connections, want 2 over 2", last, served.Load(), dialled.Load())
		case written > 0 && (last == nil || errors.Is(last, bucket.ErrUnsent) || served.Load() != 1 || dialled.Load() != 1):
			t.Errorf("%d bytes written: %v, %d requests served over %d connections, want unknown and 1 over 1", written, last, served.Load(), dialled.Load())
		}
	}
}

// answer serves whole requests on c.
func answer(c net.Conn, served *atomic.Int64) {
	in := bufio.NewReader(c)
	for {
		if _, err := http.ReadRequest(in); err != nil {
			return
		}
		served.Add(1)
		if _, err := c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")); err != nil {
			return
		}
	}
}

// TestSealedConnectionWritesNothing: what comes to it late is not sent.
func TestSealedConnectionWritesNothing(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	c := &conn{Conn: ours}
	c.begin()
	if c.seal() {
		t.Error("it was touched before anything was written")
	}
	if n, err := c.Write([]byte("x")); n != 0 || !errors.Is(err, errSealed) {
		t.Errorf("wrote %d, %v", n, err)
	}
	if c.seal() {
		t.Error("it was touched by a write that it refused")
	}
	if _, err := c.Conn.Write(nil); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("the connection is open: %v", err)
	}
}
