package lua_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/backend/backendtest"
	"bucketproof/bucket/limiterfile"
	"bucketproof/bucket/lua"

	"github.com/redis/go-redis/v9"
)

// network dials a server and can drop the reply to a script.
type network struct {
	addr  string
	drop  atomic.Bool
	calls atomic.Int32 // EVALSHA and EVAL that were written
}

func (n *network) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", n.addr)
	if err != nil {
		return nil, err
	}
	return &droppingConn{Conn: c, network: n}, nil
}

// droppingConn closes itself when a reply to a script is read.
type droppingConn struct {
	net.Conn
	network *network
	asked   atomic.Bool
}

func (c *droppingConn) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("\r\neval")) {
		c.network.calls.Add(1)
		c.asked.Store(c.network.drop.Load())
	}
	return c.Conn.Write(p)
}

// quiet is how long a server that has begun to answer may take to go on.
const quiet = 100 * time.Millisecond

func (c *droppingConn) Read(p []byte) (int, error) {
	if !c.asked.Load() {
		return c.Conn.Read(p)
	}
	if _, err := c.Conn.Read(p); err != nil { // the server has answered
		return 0, err
	}
	// Of a block that may be its first command only, and what a server has not read
	// when the connection is closed it never reads.
	_ = c.SetReadDeadline(time.Now().Add(quiet))
	for {
		if _, err := c.Conn.Read(p); err != nil {
			return 0, errors.Join(io.EOF, c.Close())
		}
		_ = c.SetReadDeadline(time.Now().Add(quiet))
	}
}

// TestALostReplyIsUnknownAndChargedOnce uses a client with go-redis' three
// retries, and shows first that they do charge more than once.
func TestALostReplyIsUnknownAndChargedOnce(t *testing.T) {
	r := backendtest.Any(t)
	n := &network{addr: r.Info().Address}
	c := redis.NewClient(&redis.Options{Addr: n.addr, Dialer: n.dial, MinRetryBackoff: time.Millisecond, MaxRetryBackoff: time.Millisecond})
	defer c.Close()
	f := builtins(t)[0]
	l, err := lua.New(f, c)
	if err != nil {
		t.Fatal(err)
	}
	level := func(key string) float64 {
		word, err := r.Client().HGet(t.Context(), "rl:app-clock:"+key, "tokens").Result()
		if err != nil {
			t.Fatal(err)
		}
		v, err := strconv.ParseFloat(word, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if _, err := l.Take(t.Context(), limit, request("load", 0)); err != nil { // the script is known from here on
		t.Fatal(err)
	}
	n.drop.Store(true)

	keys, args, err := f.Words(limit, request("retried", 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := redis.NewScript(f.Script).EvalSha(t.Context(), c, keys, toAny(args)...).Err(); err == nil {
		t.Error("no error although every reply is lost")
	}
	if got := level("retried"); got != 1 {
		t.Errorf("with retries %v tokens are left of 5, want 1: the test shows nothing", got)
	}

	for kind, open := range kinds {
		l, err := open(f, c)
		if err != nil {
			t.Fatal(err)
		}
		n.calls.Store(0)
		d, err := l.Take(t.Context(), limit, request(kind, 0))
		if err == nil || errors.Is(err, bucket.ErrUnsent) || d.Witness != (bucket.Witness{}) {
			t.Errorf("%s: a lost reply gives %+v, %v, want an error that is not unsent", kind, d, err)
		}
		if got := n.calls.Load(); got != 1 {
			t.Errorf("%s: the script was sent %d times", kind, got)
		}
		if got := level(kind); got != 4 {
			t.Errorf("%s: %v tokens are left of 5, want 4", kind, got)
		}
	}
}

// kinds are the two ways of asking, which must fail in the same way.
var kinds = map[string]func(*limiterfile.File, *redis.Client) (*lua.Limiter, error){
	"plain":     func(f *limiterfile.File, c *redis.Client) (*lua.Limiter, error) { return lua.New(f, c) },
	"witnessed": witnessed,
}

// TestUnsent: each way of failing before a byte is written says so.
func TestUnsent(t *testing.T) {
	r := backendtest.Embedded(t)
	nobody := func() string { // an address where nobody listens
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return l.Addr().String()
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	soon, cancelSoon := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancelSoon()
	tests := []struct {
		name    string
		ctx     context.Context
		options redis.Options
		prepare func(t *testing.T, c *redis.Client)
		want    error // beside ErrUnsent; nil: any
	}{
		{"nobody listens", t.Context(), redis.Options{Addr: nobody(), DialerRetries: 1}, nil, nil},
		{"no such host", t.Context(), redis.Options{Addr: "nowhere.invalid:6379", DialerRetries: 1}, nil, nil},
		{"cancelled before", cancelled, redis.Options{Addr: r.Info().Address}, nil, context.Canceled},
		{"no connection in time", t.Context(), redis.Options{Addr: r.Info().Address, PoolSize: 1, PoolTimeout: time.Millisecond}, occupy, redis.ErrPoolTimeout},
		{"given up while waiting", soon, redis.Options{Addr: r.Info().Address, PoolSize: 1, PoolTimeout: time.Hour}, occupy, context.DeadlineExceeded},
		{"closed client", t.Context(), redis.Options{Addr: r.Info().Address}, func(_ *testing.T, c *redis.Client) { _ = c.Close() }, redis.ErrClosed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.options.PipelinePoolSize = -1 // one pool, as the backend has it
			c := redis.NewClient(&tt.options)
			defer c.Close()
			if tt.prepare != nil {
				tt.prepare(t, c)
			}
			for kind, open := range kinds {
				l, err := open(builtins(t)[0], c)
				if err != nil {
					t.Fatal(err)
				}
				d, err := l.Take(tt.ctx, limit, request("k", 0))
				if d.Allowed || d.Witness != (bucket.Witness{}) || !errors.Is(err, bucket.ErrUnsent) || tt.want != nil && !errors.Is(err, tt.want) {
					t.Errorf("%s: got %+v, %v, want unsent", kind, d, err)
				}
			}
		})
	}
}

// occupy takes the only connection of a pool.
func occupy(t *testing.T, c *redis.Client) {
	conn := c.Conn()
	if err := conn.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
}

func TestADeadlineWhileTheServerIsSilentIsUnknown(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	c := redis.NewClient(&redis.Options{Addr: silent.Addr().String(), Protocol: 2, DisableIdentity: true, ContextTimeoutEnabled: true})
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = lua.Send(ctx, c, 1, "get", "k")
	if err == nil || errors.Is(err, bucket.ErrUnsent) != !wasWritten(t, silent) {
		t.Errorf("got %v, which does not say what was written", err)
	}
}

// wasWritten reports whether the client's first connection carried a GET.
func wasWritten(t *testing.T, l net.Listener) bool {
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	data, _ := io.ReadAll(c)
	return bytes.Contains(data, []byte("get"))
}

func TestACostThatTheFileDoesNotUseIsUnsent(t *testing.T) {
	f, err := limiterfile.Load("testdata/cases/gcra.yaml")
	if err != nil {
		t.Fatal(err)
	}
	l, err := lua.New(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := request("k", 0)
	r.Cost = 2
	if _, err := l.Take(t.Context(), limit, r); !errors.Is(err, bucket.ErrUnsent) {
		t.Errorf("got %v", err)
	}
}

// TestMistakesInWordsAreUnsent: an expression that fails has sent nothing.
func TestMistakesInWordsAreUnsent(t *testing.T) {
	f, err := limiterfile.Parse("f.yaml", []byte("name: f\nsource: return 1\nkeys: [\"${key}\"]\nargs: [1 / (cost - 1)]\nreply: {allowed: reply == 1}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := lua.New(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	var mistake *limiterfile.Error
	if _, err := l.Take(t.Context(), limit, request("k", 0)); !errors.Is(err, bucket.ErrUnsent) || !errors.As(err, &mistake) {
		t.Errorf("got %v", err)
	}
}
