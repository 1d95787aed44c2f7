package lua_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
	"bucketproof/bucket/lua"

	"github.com/redis/go-redis/v9"
)

// as returns a client of a user who has all rights but those taken away.
func as(t *testing.T, r *backend.Redis, rights ...string) *redis.Client {
	t.Helper()
	args := []any{"ACL", "SETUSER", "somebody", "reset", "on", "nopass", "~*", "+@all"}
	for _, right := range rights {
		args = append(args, right)
	}
	if err := r.Client().Do(t.Context(), args...).Err(); err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(&redis.Options{
		Addr: r.Info().Address, Username: "somebody", Password: "x", Protocol: 2, DisableIdentity: true, MaxRetries: -1, PipelinePoolSize: -1,
	})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestARefusedBlockAsksAlone: where the server refuses the block as a whole,
// the limiter is asked as if there were none, once.
func TestARefusedBlockAsksAlone(t *testing.T) {
	r := backendtest.Real(t)
	for i, right := range []string{"-incr", "-time", "-hmget", "-pexpire", "-eval"} {
		script := "return redis.call('RPUSH', KEYS[1], 1)"
		l, err := lua.NewWitnessed(oddFile(t, script, nil, levels[1]), as(t, r, right))
		if err != nil {
			t.Fatal(err)
		}
		key := fmt.Sprint("k", i)
		if right == "-eval" { // the script must be known
			if err := r.Client().ScriptLoad(t.Context(), script).Err(); err != nil {
				t.Fatal(err)
			}
		}
		for want := range int64(3) {
			got, seen, err := l.Ask(t.Context(), []string{key}, nil)
			if err != nil || got != want+1 || seen != (bucket.Witness{}) {
				t.Errorf("%s: got %v, %+v, %v, want %d without a witness", right, got, seen, err, want+1)
			}
		}
		if n, err := r.Client().Exists(t.Context(), lua.SequenceKey(key)).Result(); err != nil || n != 0 {
			t.Errorf("%s: %d sequence keys, %v", right, n, err)
		}
	}
}

// TestAServerWithoutMemory: the limiter's own error is the same, whether the
// server refuses the block or the script's writes.
func TestAServerWithoutMemory(t *testing.T) {
	r := backendtest.Real(t)
	for _, setting := range []string{"maxmemory-policy noeviction", "maxmemory 1"} {
		var name, value string
		if _, err := fmt.Sscan(setting, &name, &value); err != nil {
			t.Fatal(err)
		}
		if err := r.Client().ConfigSet(t.Context(), name, value).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for _, script := range []string{
		"redis.call('SET', KEYS[1], 1)\nreturn 1", "if redis.pcall('SET', KEYS[1], 1).err then return 'open' end", "return 1",
	} {
		p := newPair(t, r, 2, oddFile(t, script, nil, nil), witnessed)
		if seen, err := p.ask(t, []string{"k"}, nil); err != nil || seen != (bucket.Witness{}) {
			t.Errorf("%s: %v, seen %+v", script, err, seen)
		}
	}
}

// TestAnUnknownCommandOnTheEmbeddedServer, which runs the rest of the block all
// the same: the results are then those of other commands.
func TestAnUnknownCommandOnTheEmbeddedServer(t *testing.T) {
	r := backendtest.Embedded(t)
	c := redis.NewClient(&redis.Options{Addr: r.Info().Address, MaxRetries: -1, ReadTimeout: 200 * time.Millisecond})
	defer c.Close()
	words := []string{"CL.THROTTLE", "k", "15", "30", "60"}
	l, err := lua.NewWitnessed(oddFile(t, "", words, nil), c)
	if err != nil {
		t.Fatal(err)
	}
	got, seen, err := l.Ask(t.Context(), []string{"k"}, words)
	if err == nil || !strings.Contains(err.Error(), "unknown command") || errors.Is(err, bucket.ErrUnsent) || got != nil || seen != (bucket.Witness{}) {
		t.Errorf("got %v, %+v, %v", got, seen, err)
	}
}

func TestCanWitness(t *testing.T) {
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		if err := lua.CanWitness(t.Context(), r.Client()); err != nil {
			t.Error(err)
		}
		if n, err := r.Client().DBSize(t.Context()).Result(); err != nil || n != 0 {
			t.Errorf("%d keys are left, %v", n, err)
		}
	})
	r := backendtest.Real(t)
	for _, right := range []string{"-multi", "-time", "-eval", "-exec"} {
		c := as(t, r, right)
		if err := lua.CanWitness(t.Context(), c); err == nil {
			t.Errorf("%s: no error", right)
		} else {
			t.Log(err)
		}
		if err := c.Ping(t.Context()).Err(); err != nil {
			t.Errorf("%s: the client is of no use any more: %v", right, err)
		}
	}
}

// TestWithoutMULTI: where the server refuses MULTI itself, what follows it is
// not in a block, and the outcome is unknown.
func TestWithoutMULTI(t *testing.T) {
	r := backendtest.Real(t)
	l, err := lua.NewWitnessed(oddFile(t, "return redis.call('RPUSH', KEYS[1], 1)", nil, nil), as(t, r, "-multi"))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		got, seen, err := l.Ask(t.Context(), []string{"k"}, nil)
		if err == nil || errors.Is(err, bucket.ErrUnsent) || seen != (bucket.Witness{}) {
			t.Errorf("got %v, %+v, %v, want an error that is not unsent", got, seen, err)
		}
	}
}

// TestACutReplyIsUnknown: a block whose results end early is an unknown outcome
// without a witness, even if the limiter's answer is among those that came: an
// answer without its number would make the number look like nobody's charge.
func TestACutReplyIsUnknown(t *testing.T) {
	whole := "+OK\r\n" + strings.Repeat("+QUEUED\r\n", 7) + "*7\r\n" +
		":1\r\n" + "*2\r\n$1\r\n5\r\n$1\r\n6\r\n" + ":1\r\n" + "*2\r\n$1\r\n5\r\n$1\r\n7\r\n" + ":1\r\n" + ":1\r\n" + ":1\r\n"
	f := oddFile(t, "return 1", nil, nil)
	for n := 0; n <= len(whole); n++ {
		c := redis.NewClient(&redis.Options{Addr: canned(t, whole[:n]), Protocol: 2, DisableIdentity: true, MaxRetries: -1, PipelinePoolSize: -1})
		l, err := lua.NewWitnessed(f, c)
		if err != nil {
			t.Fatal(err)
		}
		got, seen, err := l.Ask(t.Context(), []string{"k"}, nil)
		if n == len(whole) {
			want := bucket.Witness{Sequence: 1, BeforeMicros: 5_000_006, AfterMicros: 5_000_007, Before: bucket.Unseen(), After: bucket.Unseen()}
			if err != nil || got != int64(1) || !sameState(seen.Before, want.Before) || seen.Sequence != 1 || seen.AfterMicros != want.AfterMicros {
				t.Errorf("whole: got %v, %+v, %v, want %+v", got, seen, err, want)
			}
		} else if err == nil || errors.Is(err, bucket.ErrUnsent) || got != nil || seen != (bucket.Witness{}) {
			t.Errorf("after %q: got %v, %+v, %v", whole[:n], got, seen, err)
		}
		_ = c.Close()
	}
}

// canned listens for one connection, waits for EXEC, answers, and hangs up.
func canned(t *testing.T, answer string) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		c, err := listener.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		var asked []byte
		for part := make([]byte, 4096); !bytes.Contains(asked, []byte("exec")); {
			n, err := c.Read(part)
			if err != nil {
				return
			}
			if asked = append(asked, part[:n]...); bytes.Contains(part[:n], []byte("hello")) {
				_, _ = c.Write([]byte("-ERR unknown command 'hello'\r\n"))
			}
		}
		_, _ = c.Write([]byte(answer))
	}()
	return listener.Addr().String()
}
