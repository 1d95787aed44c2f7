package backend_test

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
)

func TestInfo(t *testing.T) {
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		info := r.Info()
		host, _, err := net.SplitHostPort(info.Address)
		if err != nil || host != "127.0.0.1" {
			t.Errorf("address %q, want a port on 127.0.0.1", info.Address)
		}
		if info.Engine == "" || info.Version == "" || info.Version == "unknown" {
			t.Errorf("info %+v, want an engine and its version", info)
		}
		if !r.Owned() {
			t.Error("a server started here is not ours")
		}
		if err := r.Alive(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestInspect(t *testing.T) {
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		ctx, c := t.Context(), r.Client()
		c.HSet(ctx, "h", "tokens", "1.5", "ts", "7")
		c.PExpire(ctx, "h", time.Minute)
		c.Set(ctx, "s", "text", 0)
		c.LPush(ctx, "l", "x")
		seen, err := r.Inspect(ctx, []backend.Probe{
			{Key: "h", Fields: []string{"ts", "none", "tokens", ""}},
			{Key: "s", Fields: []string{"", "field"}},
			{Key: "l", Fields: []string{"", "field"}},
			{Key: "absent", Fields: []string{"", "field"}},
			{Key: "h"},
		})
		if err != nil {
			t.Fatal(err)
		}
		if ttl := seen[0].TTL; ttl <= 0 || ttl > time.Minute {
			t.Errorf("TTL of h is %v, want up to a minute", ttl)
		}
		no, some := backend.Value{}, func(s string) backend.Value { return backend.Value{Text: s, OK: true} }
		want := []struct {
			exists bool
			values []backend.Value
		}{
			{true, []backend.Value{some("7"), no, some("1.5"), no}},
			{true, []backend.Value{some("text"), no}},
			{true, []backend.Value{no, no}},
			{false, []backend.Value{no, no}},
			{true, nil},
		}
		for i, w := range want {
			if seen[i].Exists != w.exists || len(seen[i].Values) != len(w.values) {
				t.Errorf("probe %d: %+v, want %+v", i, seen[i], w)
				continue
			}
			for j, v := range w.values {
				if seen[i].Values[j] != v {
					t.Errorf("probe %d value %d: %+v, want %+v", i, j, seen[i].Values[j], v)
				}
			}
		}
		ttls, err := r.TTL(ctx, []string{"s", "absent", "h"})
		if err != nil || ttls[0] != backend.NoExpiry || ttls[1] != backend.NoKey || ttls[2] <= 0 {
			t.Errorf("TTL = %v, %v", ttls, err)
		}
		if text, ok, err := r.Read(ctx, "h", "tokens"); text != "1.5" || !ok || err != nil {
			t.Errorf("Read(h, tokens) = %q, %v, %v", text, ok, err)
		}
		if text, ok, err := r.Read(ctx, "absent", ""); text != "" || ok || err != nil {
			t.Errorf("Read(absent) = %q, %v, %v", text, ok, err)
		}
	})
}

func TestInspectManyKeys(t *testing.T) {
	r := backendtest.Any(t)
	probes := make([]backend.Probe, 1203) // three batches
	for i := range probes {
		probes[i] = backend.Probe{Key: strings.Repeat("k", i%7+1)}
	}
	r.Client().Set(t.Context(), "kkk", "1", 0)
	seen, err := r.Inspect(t.Context(), probes)
	if err != nil || len(seen) != len(probes) {
		t.Fatalf("%d seen, %v", len(seen), err)
	}
	for i, s := range seen {
		if want := i%7 == 2; s.Exists != want {
			t.Fatalf("probe %d exists: %v, want %v", i, s.Exists, want)
		}
	}
}

// A key that expires while it is read is there with its fields or not at all.
func TestInspectAtOneInstant(t *testing.T) {
	r := backendtest.Any(t)
	ctx, c := t.Context(), r.Client()
	probes := make([]backend.Probe, 500)
	for i := range probes {
		probes[i] = backend.Probe{Key: strconv.Itoa(i), Fields: []string{"tokens", "tokens", "tokens", "tokens"}}
	}
	for range 20 {
		pipe := c.Pipeline()
		for i, p := range probes {
			pipe.HSet(ctx, p.Key, "tokens", "1")
			pipe.PExpire(ctx, p.Key, time.Duration(10+i%20)*time.Millisecond)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			t.Fatal(err)
		}
		for alive := true; alive; {
			seen, err := r.Inspect(ctx, probes)
			if err != nil {
				t.Fatal(err)
			}
			alive = false
			for i, s := range seen {
				alive = alive || s.Exists
				for _, v := range s.Values {
					if v.OK != s.Exists {
						t.Fatalf("key %d: %+v is half there", i, s)
					}
				}
			}
		}
	}
}

func TestRemoveTakesOnlyWhatMatches(t *testing.T) {
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		ctx, c := t.Context(), r.Client()
		odd := `a*b?c[d]e\f`
		for _, key := range []string{"x:" + odd + ":1", odd, odd + ":2", "aXXbXc d e f", `a*b?cde\f`} {
			c.Set(ctx, key, "1", 0)
		}
		keys, err := r.Scan(ctx, backend.Contains(odd))
		if err != nil || len(keys) != 3 {
			t.Fatalf("Scan = %q, %v, want 3 keys", keys, err)
		}
		n, err := r.Remove(ctx, backend.Contains(odd))
		if n != 3 || err != nil {
			t.Fatalf("Remove = %d, %v, want 3", n, err)
		}
		if left := c.DBSize(ctx).Val(); left != 2 {
			t.Errorf("%d keys left, want the 2 that do not match", left)
		}
	})
}

func TestScanManyKeys(t *testing.T) {
	r := backendtest.Any(t)
	pipe := r.Client().Pipeline()
	for i := range 5000 {
		pipe.Set(t.Context(), "run-7:"+time.Duration(i).String(), "1", 0)
	}
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	keys, err := r.Scan(t.Context(), "run-7:*")
	if err != nil || len(keys) != 5000 {
		t.Fatalf("Scan found %d keys, %v, want 5000", len(keys), err)
	}
	n, err := r.Remove(t.Context(), "run-7:*")
	if err != nil || n != 5000 {
		t.Fatalf("Remove = %d, %v, want 5000", n, err)
	}
}

func TestMemoryUsage(t *testing.T) {
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		r.Client().HSet(t.Context(), "h", "tokens", "1")
		if n, err := r.MemoryUsage(t.Context(), "h"); n <= 0 || err != nil {
			t.Errorf("MemoryUsage(h) = %d, %v", n, err)
		}
		if n, err := r.MemoryUsage(t.Context(), "absent"); n != 0 || err != nil {
			t.Errorf("MemoryUsage(absent) = %d, %v", n, err)
		}
	})
}

func TestOffset(t *testing.T) {
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		for _, ahead := range []time.Duration{0, -3 * time.Hour, 250 * time.Millisecond} {
			local := func() time.Time { return time.Now().Add(-ahead) }
			offset, uncertainty, err := r.Offset(t.Context(), local)
			if err != nil {
				t.Fatal(err)
			}
			if wrong := (offset - ahead).Abs(); wrong > uncertainty {
				t.Errorf("offset %v ± %v, want %v", offset, uncertainty, ahead)
			}
		}
	})
}

func TestPauseHoldsCommandsBack(t *testing.T) {
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		c := r.NewClient("paused")
		defer c.Close()
		if err := backend.Warm(t.Context(), c, 1); err != nil {
			t.Fatal(err)
		}
		const d = 300 * time.Millisecond
		start := time.Now()
		if err := r.Pause(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		if err := c.Set(t.Context(), "k", "1", 0).Err(); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(start); waited < d-time.Millisecond {
			t.Errorf("a command during a pause of %v returned after %v", d, waited)
		}
	})
}

func TestRestartIsEmptyAtTheSameAddress(t *testing.T) {
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		ctx := t.Context()
		c := r.NewClient("survivor")
		defer c.Close()
		c.Set(ctx, "k", "1", 0)
		sha := c.ScriptLoad(ctx, "return 1").Val()
		if err := r.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		if err := r.Alive(ctx); err == nil {
			t.Error("a stopped server is alive")
		}
		if err := r.Stop(ctx); err != nil {
			t.Errorf("stop a second time: %v", err)
		}
		if err := r.Restart(ctx); err != nil {
			t.Fatal(err)
		}
		if err := r.Alive(ctx); err != nil {
			t.Error(err)
		}
		c.Ping(ctx) // may meet the old connection
		if n, err := c.Exists(ctx, "k").Result(); n != 0 || err != nil {
			t.Errorf("Exists(k) = %d, %v after a restart, want 0", n, err)
		}
		if known, err := c.ScriptExists(ctx, sha).Result(); err != nil || known[0] {
			t.Errorf("ScriptExists = %v, %v after a restart, want false", known, err)
		}
		if err := r.Restart(ctx); err != nil { // without a stop before
			t.Fatal(err)
		}
	})
}

func TestCloseLeavesNothing(t *testing.T) {
	for _, kind := range []string{"process", "embedded"} {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			r, err := backend.Open(t.Context(), kind, backend.Options{Dir: dir})
			if err != nil {
				backendtest.Require(t, "redis", err)
			}
			address := r.Info().Address
			if err := errors.Join(r.Close(), r.Close()); err != nil {
				t.Fatal(err)
			}
			if conn, err := net.Dial("tcp", address); err == nil {
				conn.Close()
				t.Errorf("%s still listens", address)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("folder holds %v, %v", left, err)
			}
		})
	}
}

func TestClientNeverRetriesAndKeepsDeadlines(t *testing.T) {
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		ctx := t.Context()
		cut := errors.New("cut")
		dials := 0
		c := r.NewClientVia("cut", func(context.Context, string, string) (net.Conn, error) {
			dials++
			return nil, cut
		})
		defer c.Close()
		if err := c.Incr(ctx, "n").Err(); !errors.Is(err, cut) || dials != 1 {
			t.Errorf("error %v after %d dials, want one dial", err, dials)
		}
		slow := r.NewClient("slow name")
		defer slow.Close()
		if err := backend.Warm(ctx, slow, 2); err != nil {
			t.Fatal(err)
		}
		if err := r.Pause(ctx, 2*time.Second); err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		// A client that ignores deadlines would wait for the answer, and get it.
		if err := slow.Ping(short).Err(); err == nil {
			t.Error("PING with a deadline of 20 ms outlasted a pause of 2 s")
		}
	})
}

func TestWarmOpensConnectionsAhead(t *testing.T) {
	r := backendtest.Any(t)
	c := r.NewClient("warm")
	defer c.Close()
	if err := backend.Warm(t.Context(), c, 20); err != nil {
		t.Fatal(err)
	}
	if s := c.PoolStats(); s.IdleConns != 20 || s.TotalConns != 20 {
		t.Errorf("pool %+v, want 20 idle connections", s)
	}
}
