package lua_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
	"bucketproof/bucket/lua"

	"github.com/redis/go-redis/v9"
)

// pipelined is the reference over pipelines whose connections dial makes.
func pipelined(t *testing.T, r *backend.Redis, dial backend.DialFunc) (*lua.Limiter, *backend.Pipelined) {
	t.Helper()
	c := r.NewPipelinedClientVia("pipelined", dial)
	t.Cleanup(func() { _ = c.Close() })
	l, err := lua.New(builtins(t)[0], c)
	if err != nil {
		t.Fatal(err)
	}
	return l, c
}

// wide is a limit that many callers at once do not exhaust.
var wide = bucket.Limit{Rate: 1, Capacity: 1000}

// ending is how one call ended.
type ending struct {
	decision bucket.Decision
	err      error
}

// together makes n calls at once, all at the same instant of the callers' clock.
func together(ctx context.Context, l *lua.Limiter, key string, n int) []ending {
	out := make([]ending, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { out[i].decision, out[i].err = l.Take(ctx, wide, request(key, 0)) })
	}
	wg.Wait()
	return out
}

// charged is how many tokens of wide the bucket has lost.
func charged(t *testing.T, r *backend.Redis, key string) float64 {
	t.Helper()
	word, err := r.Client().HGet(t.Context(), "rl:app-clock:"+key, "tokens").Result()
	if errors.Is(err, redis.Nil) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	left, err := strconv.ParseFloat(word, 64)
	if err != nil {
		t.Fatal(err)
	}
	return wide.Capacity - left
}

// TestPipelinesChargeEveryCallerOnce: many callers at once, on a server that
// does not know the script yet, share pipelines and are each charged once.
func TestPipelinesChargeEveryCallerOnce(t *testing.T) {
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		const callers = 200
		w := &wires{open: r.Dialer()}
		l, _ := pipelined(t, r, w.dial)
		for round, key := range []string{"first", "known"} {
			for _, e := range together(t.Context(), l, key, callers) {
				if e.err != nil || !e.decision.Allowed {
					t.Fatalf("round %d: got %+v, %v", round, e.decision, e.err)
				}
			}
			if got := charged(t, r, key); got != callers {
				t.Errorf("round %d: %v tokens are charged, want %d", round, got, callers)
			}
		}
		if got := w.scripts.Load(); got < 2*callers || got > 3*callers {
			t.Errorf("%d scripts were sent for %d calls, each of which the server may have not known once", got, 2*callers)
		}
		if w.deepest.Load() < 2 {
			t.Error("no two calls shared a write: the test shows nothing about pipelines")
		}
	})
}

// TestAConnectionLostInAPipeline: the callers whose answers came before the
// connection broke have them, all others do not know, and nobody is charged
// again.
func TestAConnectionLostInAPipeline(t *testing.T) {
	r := backendtest.Any(t)
	w := &wires{open: r.Dialer()}
	l, _ := pipelined(t, r, w.dial)
	together(t.Context(), l, "load", 1) // the script is known from here on
	const callers, answers = 100, 10
	w.scripts.Store(0)
	w.cutAfter.Store(answers * int64(len(":1\r\n")))
	var told, unknown int
	for _, e := range together(t.Context(), l, "cut", callers) {
		switch {
		case e.err == nil && e.decision.Allowed:
			told++
		case e.err == nil:
			t.Errorf("a broken connection gives the denial %+v", e.decision)
		case errors.Is(e.err, bucket.ErrUnsent):
			t.Errorf("what was written is said to be unsent: %v", e.err)
		default:
			unknown++
		}
	}
	if unknown == 0 {
		t.Fatal("no caller is left without an answer: the test shows nothing")
	}
	if got := w.scripts.Load(); got != callers {
		t.Errorf("%d scripts were sent for %d callers", got, callers)
	}
	if got := charged(t, r, "cut"); got < float64(told) || got > callers {
		t.Errorf("%v tokens are charged for %d answers and %d unknown", got, told, unknown)
	}
}

// TestUnsentInPipelines: what surely never left is unsent, what may yet leave
// is not.
func TestUnsentInPipelines(t *testing.T) {
	r := backendtest.Embedded(t)
	for name, refusal := range map[string]error{
		"nobody listens": &net.OpError{Op: "dial", Err: errors.New("refused")}, "no way in": errors.New("a proxy said no"),
	} {
		l, _ := pipelined(t, r, func(context.Context, string, string) (net.Conn, error) { return nil, refusal })
		for _, e := range together(t.Context(), l, "refused", 20) {
			if !errors.Is(e.err, bucket.ErrUnsent) {
				t.Errorf("%s: got %v, want unsent", name, e.err)
			}
		}
	}
	l, c := pipelined(t, r, nil)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for _, e := range together(t.Context(), l, "closed", 20) {
		if !errors.Is(e.err, bucket.ErrUnsent) {
			t.Errorf("closed client: got %v, want unsent", e.err)
		}
	}
}

// TestGivenUpInAPipeline: a caller that gives up while its command is on its way
// does not know, and the command still runs, once; one whose command is queued
// knows that it never will.
func TestGivenUpInAPipeline(t *testing.T) {
	r := backendtest.Embedded(t)
	if err := r.Client().ScriptLoad(t.Context(), builtins(t)[0].Script).Err(); err != nil {
		t.Fatal(err)
	}
	held := make(chan struct{})
	open := r.Dialer()
	l, c := pipelined(t, r, func(ctx context.Context, network, addr string) (net.Conn, error) {
		<-held
		return open(ctx, network, addr)
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	const callers = 20
	unknown := 0
	for _, e := range together(ctx, l, "late", callers) {
		if !errors.Is(e.err, context.DeadlineExceeded) {
			t.Errorf("got %+v, %v, want an end by the deadline", e.decision, e.err)
		}
		if !errors.Is(e.err, bucket.ErrUnsent) {
			unknown++
		}
	}
	if unknown == 0 {
		t.Error("no command was under way: the test shows nothing about those")
	}
	// Both pipelines are held up, so what is asked from here on is queued.
	soon, cancelSoon := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancelSoon()
	for _, e := range append(together(soon, l, "late", callers), together(soon, l, "late", callers)...) {
		if !errors.Is(e.err, context.DeadlineExceeded) {
			t.Errorf("got %+v, %v, want an end by the deadline", e.decision, e.err)
		}
		if !errors.Is(e.err, bucket.ErrUnsent) {
			unknown++
		}
	}
	close(held)
	if err := c.Close(); err != nil { // waits for what was under way
		t.Fatal(err)
	}
	if got := charged(t, r, "late"); got != float64(unknown) {
		t.Errorf("%v tokens are charged, and %d callers do not know", got, unknown)
	}
	if unknown == 3*callers {
		t.Error("no command was left in the queue: the test shows nothing about those")
	}
}

// wires dials and counts the scripts that are written; it can cut connections.
type wires struct {
	open     backend.DialFunc
	scripts  atomic.Int64 // EVALSHA and EVAL that were written
	deepest  atomic.Int64 // in one write
	cutAfter atomic.Int64 // bytes of answers that the next connection to write a script still gets; 0: all
}

func (w *wires) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := w.open(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &wire{Conn: c, wires: w}, nil
}

type wire struct {
	net.Conn
	wires *wires
	left  atomic.Int64 // bytes before the cut; 0: none is due
}

func (c *wire) Write(p []byte) (int, error) {
	if n := int64(bytes.Count(p, []byte("\r\neval"))); n > 0 {
		c.wires.scripts.Add(n)
		for deepest := c.wires.deepest.Load(); n > deepest && !c.wires.deepest.CompareAndSwap(deepest, n); {
			deepest = c.wires.deepest.Load()
		}
		if after := c.wires.cutAfter.Load(); after > 0 && c.left.Load() == 0 {
			c.left.Store(after)
		}
	}
	return c.Conn.Write(p)
}

func (c *wire) Read(p []byte) (int, error) {
	left := c.left.Load()
	switch {
	case left == 0:
		return c.Conn.Read(p)
	case left < 0:
		return 0, errors.Join(io.EOF, c.Close())
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), left)])
	if c.left.Add(-int64(n)) == 0 {
		c.left.Store(-1)
	}
	return n, err
}
