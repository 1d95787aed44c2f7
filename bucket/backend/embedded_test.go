package backend_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
)

func TestEmbeddedVersionIsTheModules(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if want := "github.com/alicebob/miniredis/v2 v" + backendtest.Embedded(t).Info().Version; !strings.Contains(string(mod), want) {
		t.Errorf("go.mod does not require %q", want)
	}
}

// span is what is known about when something happened: between two readings.
type span struct{ from, to time.Time }

func timed(f func()) span {
	from := time.Now()
	f()
	return span{from, time.Now()}
}

// TestKeysAge compares every answer with what two spans leave possible: a key
// written in w with life d, read in r, has lived at least r.from − w.to and at
// most r.to − w.from. Redis counts whole milliseconds at both ends.
func TestKeysAge(t *testing.T) {
	scripts := map[string]*redis.Script{
		"PEXPIRE in a script": redis.NewScript(`redis.call('SET', KEYS[1], '1'); return redis.call('PEXPIRE', KEYS[1], ARGV[1])`),
		"SET PX in a script":  redis.NewScript(`return redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])`),
	}
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		slack := 2 * time.Millisecond // of clocks that count milliseconds
		for name, script := range scripts {
			for _, d := range []time.Duration{1, 2, 5, 20, 60} {
				life := d * time.Millisecond
				key := fmt.Sprintf("%s %v", name, life)
				w := timed(func() {
					if err := script.Run(t.Context(), r.Client(), []string{key}, int64(d)).Err(); err != nil {
						t.Fatal(err)
					}
				})
				for range 40 {
					var ttl []time.Duration
					var err error
					read := timed(func() { ttl, err = r.TTL(t.Context(), []string{key}) })
					if err != nil {
						t.Fatal(err)
					}
					least, most := life-read.to.Sub(w.from)-slack, life-read.from.Sub(w.to)+slack
					if ttl[0] == backend.NoKey && least > 0 || ttl[0] != backend.NoKey && (ttl[0] < least || ttl[0] > most) {
						t.Errorf("%s: life left is %v, want between %v and %v", key, ttl[0], least, most)
					}
					if ttl[0] == backend.NoKey {
						break
					}
					time.Sleep(life / 20)
				}
			}
		}
	})
}

// TestFractionsOfMillisecondsAge reads a key far more often than once a
// millisecond: what is taken off must add up.
func TestFractionsOfMillisecondsAge(t *testing.T) {
	r := backendtest.Embedded(t)
	const life = 200 * time.Millisecond
	w := timed(func() { r.Client().Set(t.Context(), "k", "1", life) })
	reads := 0
	for alive := true; alive; reads++ {
		read := timed(func() { alive = r.Client().Exists(t.Context(), "k").Val() == 1 })
		if !alive && read.to.Sub(w.from) < life {
			t.Fatalf("the key is gone after at most %v, want %v", read.to.Sub(w.from), life)
		}
		if alive && read.from.Sub(w.to) > life+time.Second {
			t.Fatalf("the key lives after %v, want %v", read.from.Sub(w.to), life)
		}
	}
	t.Logf("%d reads", reads)
}

// TestNoLifeIsCutShort: with thousands of keys ageing rests between its passes, and
// what a script, a command or a transaction gives in between lives no less.
func TestNoLifeIsCutShort(t *testing.T) {
	r := backendtest.Embedded(t)
	ctx, c := t.Context(), r.Client()
	pipe := c.Pipeline()
	for i := range 5000 {
		pipe.Set(ctx, fmt.Sprint("other-", i), "1", 0)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		t.Fatal(err)
	}
	script := redis.NewScript(`redis.call('SET', KEYS[1], '1'); return redis.call('PEXPIRE', KEYS[1], ARGV[1])`)
	const life = 12 * time.Millisecond
	for i := range 60 {
		w := timed(func() {
			var err error
			switch i % 3 {
			case 0:
				err = script.Run(ctx, c, []string{"k"}, life.Milliseconds()).Err()
			case 1:
				err = c.Set(ctx, "k", "1", life).Err()
			default:
				_, err = c.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Set(ctx, "k", "1", life).Err() })
			}
			if err != nil {
				t.Fatal(err)
			}
		})
		for alive := true; alive; {
			read := timed(func() { alive = c.Exists(ctx, "k").Val() == 1 })
			if !alive && read.to.Sub(w.from) < life {
				t.Fatalf("round %d: gone after at most %v, want %v", i, read.to.Sub(w.from), life)
			}
		}
	}
}

// TestEmbeddedUnderConcurrency mixes everything that passes the queue: scripts,
// transactions, pipelines, blocking commands, new connections.
func TestEmbeddedUnderConcurrency(t *testing.T) {
	r := backendtest.Embedded(t)
	ctx := t.Context()
	script := redis.NewScript(`local n = redis.call('INCR', KEYS[1]); redis.call('PEXPIRE', KEYS[1], 60000); return n`)
	const workers, calls = 8, 50
	var wg sync.WaitGroup
	for w := range workers {
		c := r.NewClient(fmt.Sprint("worker ", w))
		wg.Go(func() {
			defer c.Close()
			for range calls {
				if err := script.Run(ctx, c, []string{"n"}).Err(); err != nil {
					t.Error(err)
				}
				if _, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error {
					p.Incr(ctx, "n")
					p.Incr(ctx, "n")
					return nil
				}); err != nil {
					t.Error(err)
				}
			}
			c.BLPop(ctx, 10*time.Second, "done")
		})
	}
	wg.Go(func() {
		for range workers {
			r.Client().LPush(ctx, "done", "1")
		}
	})
	wg.Wait()
	if n, err := r.Client().Get(ctx, "n").Int(); n != 3*workers*calls || err != nil {
		t.Errorf("n = %d, %v, want %d", n, err, 3*workers*calls)
	}
}

func TestEmbeddedStopsDuringAPause(t *testing.T) {
	r := backendtest.Embedded(t)
	if err := r.Pause(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	c := r.NewClient("waiting")
	defer c.Close()
	answered := make(chan error, 1)
	go func() { answered <- c.Ping(t.Context()).Err() }()
	if err := r.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-answered // an error or not, but it does not hang
}

// TestDifferences holds what doc.go says about the embedded server, and about
// Redis 7.0, to what they answer.
func TestDifferences(t *testing.T) {
	cases := []struct{ name, script, redis, mini string }{
		{"fractions are cut", `return {0.9, -0.5, 1.99}`, "[0 0 1]", "[0 0 1]"},
		{"tostring of a microsecond epoch", `return tostring(1764576000123456)`, "1.7645760001235e+15", "1764576000123456"},
		{"tostring of a third", `return tostring(1/3)`, "0.33333333333333", "0.3333333333333333"},
		{"a number stored", `redis.call('SET', 'x', 1/3) return redis.call('GET', 'x')`, "0.33333333333333331", "0.3333333333333333"},
		{"a microsecond epoch stored", `redis.call('SET', 'x', 1764576000123456) return redis.call('GET', 'x')`, "1764576000123456", "1764576000123456"},
		{"a quarter stored", `redis.call('HSET', 'h', 'f', 10.25) return redis.call('HGET', 'h', 'f')`, "10.25", "10.25"},
		{"a large number stored", `redis.call('SET', 'x', 2^70) return redis.call('GET', 'x')`, "1.1805916207174113e+21", "1.1805916207174113e+21"},
		{"infinity stored", `redis.call('SET', 'x', 1/0) return redis.call('GET', 'x')`, "inf", "+Inf"},
		{"0/0 stored", `redis.call('SET', 'x', 0/0) return redis.call('GET', 'x')`, "-nan", "NaN"},
		{"a missing key is false", `return tostring(redis.call('GET', 'none'))`, "false", "false"},
		{"fractional PEXPIRE", `redis.call('SET', 'x', 1) return tostring(redis.pcall('PEXPIRE', 'x', 1500.5).err ~= nil)`, "true", "true"},
		{"PEXPIRE 0 deletes", `redis.call('SET', 'x', 1) redis.call('PEXPIRE', 'x', 0) return redis.call('EXISTS', 'x')`, "0", "0"},
		{"struct, bit and cmsgpack", `return {struct and 1 or 0, bit and 1 or 0, cmsgpack and 1 or 0}`, "[1 1 1]", "error"},
		{"cjson", `return cjson.encode({1, 2})`, "[1,2]", "[1,2]"},
		{"TIME advances in a script", `local function us() local t = redis.call('TIME') return t[1] * 1000000 + t[2] end
			local a = us() for i = 1, 10000 do if us() > a then return 'yes' end end return 'no'`, "yes", "yes"},
	}
	answer := func(c redis.UniversalClient, script string) string {
		v, err := c.Eval(context.Background(), script, nil).Result()
		if err != nil {
			return "error"
		}
		return fmt.Sprint(v)
	}
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		for _, c := range cases {
			want := c.redis
			if r.Info().Kind == backend.Embedded {
				want = c.mini
			}
			got := answer(r.Client(), c.script)
			if c.name == "TIME advances in a script" && got == "no" && r.Info().Engine != "miniredis" && !strings.HasPrefix(r.Info().Version, "7.0") {
				continue // frozen since 7.2
			}
			if c.name == "0/0 stored" {
				got, want = strings.TrimPrefix(got, "-"), strings.TrimPrefix(want, "-") // the sign is the platform's
			}
			if got != want {
				t.Errorf("%s: %s, want %s", c.name, got, want)
			}
		}
	})
}

// BenchmarkEmbedded measures what ageing costs a script with so many keys there.
func BenchmarkEmbedded(b *testing.B) {
	for _, keys := range []int{1, 100, 1000, 10000} {
		b.Run(fmt.Sprint(keys), func(b *testing.B) {
			r := backendtest.Embedded(b)
			ctx := b.Context()
			pipe := r.Client().Pipeline()
			for i := range keys {
				pipe.Set(ctx, fmt.Sprint("rl:0123456789abcdef:", i), "1", time.Hour)
			}
			if _, err := pipe.Exec(ctx); err != nil {
				b.Fatal(err)
			}
			script := redis.NewScript(`redis.call('HMGET', KEYS[1], 'tokens', 'ts') redis.call('HSET', KEYS[1], 'tokens', ARGV[1], 'ts', ARGV[2]) return redis.call('PEXPIRE', KEYS[1], 60000)`)
			for b.Loop() {
				if err := script.Run(ctx, r.Client(), []string{"k"}, "1.5", "1764576000123").Err(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestEmbeddedWithAScriptThatNeverEnds: closing it does not take for ever either.
func TestEmbeddedWithAScriptThatNeverEnds(t *testing.T) {
	r, err := backend.Open(t.Context(), string(backend.Embedded), backend.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	// It does end, some time after the test: it must not keep a core busy.
	err = r.Client().Eval(ctx, "local t = redis.call('TIME')[1] while redis.call('TIME')[1] - t < 8 do end", nil).Err()
	var slow net.Error
	if !errors.As(err, &slow) || !slow.Timeout() {
		t.Fatalf("the script answered: %v", err)
	}
	if err := r.Close(); err == nil || !strings.Contains(err.Error(), "still executes a script") {
		t.Errorf("close: %v, want that a script is still executed", err)
	}
}
