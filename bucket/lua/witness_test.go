package lua_test

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
	"bucketproof/bucket/limiterfile"
	"bucketproof/bucket/lua"
)

// openWitnessed makes a witnessed limiter with a client of its own.
func openWitnessed(t *testing.T, r *backend.Redis, f *limiterfile.File) *lua.Limiter {
	t.Helper()
	c := r.NewClient("test")
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	l, err := lua.NewWitnessed(f, c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestWitnessesFormAChain: whatever happens at the same time, the decisions on
// a key are numbered 1 to n without a gap, each state is what the one before it
// left, and the server's time does not go back.
func TestWitnessesFormAChain(t *testing.T) {
	const clients, each = 64, 15
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		for _, f := range family(t) {
			l := openWitnessed(t, r, f)
			slow := bucket.Limit{Rate: 1, Capacity: 400}
			var mu sync.Mutex
			var seen []bucket.Witness
			granted := 0
			var wg sync.WaitGroup
			for i := range clients {
				wg.Go(func() {
					for range each {
						d, err := l.Take(t.Context(), slow, request("k", 1_700_000_000_000+int64(i)))
						if err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						seen = append(seen, d.Witness)
						if d.Allowed {
							granted++
						}
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			slices.SortFunc(seen, func(a, b bucket.Witness) int { return cmp.Compare(a.Sequence, b.Sequence) })
			checkChain(t, f.Name, seen, clients*each)
			if granted < 399 || granted == clients*each { // a clock that is behind finds a little less
				t.Errorf("%s: granted %d", f.Name, granted)
			}
		}
	})
}

// checkChain holds n witnesses of one key, in order, against each other.
func checkChain(t *testing.T, name string, seen []bucket.Witness, n int) {
	t.Helper()
	if len(seen) != n {
		t.Fatalf("%s: %d witnesses, want %d", name, len(seen), n)
	}
	last := bucket.Witness{}
	for i, w := range seen {
		switch {
		case w.Sequence != int64(i+1):
			t.Fatalf("%s: number %d at place %d", name, w.Sequence, i+1)
		case w.Before != last.After:
			t.Fatalf("%s: number %d found %+v, its predecessor left %+v", name, w.Sequence, w.Before, last.After)
		case w.BeforeMicros < last.AfterMicros || w.AfterMicros < w.BeforeMicros:
			t.Fatalf("%s: number %d from %d to %d, its predecessor until %d", name, w.Sequence, w.BeforeMicros, w.AfterMicros, last.AfterMicros)
		case !w.After.Exists:
			t.Fatalf("%s: number %d left nothing", name, w.Sequence)
		}
		last = w
	}
}

// TestStatesAreReadAsTold: what stands in Before and After, for each way of
// telling where the state is and for what may be found there.
func TestStatesAreReadAsTold(t *testing.T) {
	nan := math.NaN()
	at := func(tokens, time float64) bucket.State { return bucket.State{Tokens: tokens, Time: time, Exists: true} }
	both := &limiterfile.StateFields{Tokens: limiterfile.StateField{Hash: "tokens"}, Time: limiterfile.StateField{Hash: "ts"}}
	text := &limiterfile.StateFields{Tokens: limiterfile.StateField{String: true}}
	for _, tt := range []struct {
		name  string
		told  *limiterfile.StateFields
		write string
		want  bucket.State
	}{
		{"a bucket", both, `redis.call("HSET", KEYS[1], "tokens", "49.300000000000004", "ts", "1700000000123456")`, at(49.300000000000004, 1700000000123456)},
		{"infinite", both, `redis.call("HSET", KEYS[1], "tokens", "inf", "ts", "-inf")`, at(math.Inf(1), math.Inf(-1))},
		{"too large", both, `redis.call("HSET", KEYS[1], "tokens", "1e999", "ts", "-0")`, at(math.Inf(1), math.Copysign(0, -1))},
		{"no number", both, `redis.call("HSET", KEYS[1], "tokens", "-nan", "ts", "soon")`, at(nan, nan)},
		{"one field only", both, `redis.call("HSET", KEYS[1], "tokens", " 5 ")`, at(5, nan)},
		{"other fields", both, `redis.call("HSET", KEYS[1], "level", "5")`, bucket.State{}},
		{"another type", both, `redis.call("SET", KEYS[1], "5")`, bucket.Unseen()},
		{"no key", both, ``, bucket.State{}},
		{"only the time", &limiterfile.StateFields{Time: limiterfile.StateField{Hash: "tat"}}, `redis.call("HSET", KEYS[1], "tokens", 1, "tat", 7.5)`, at(nan, 7.5)},
		{"a text", text, `redis.call("SET", KEYS[1], "4.5")`, at(4.5, nan)},
		{"a text that is no number", text, `redis.call("SET", KEYS[1], "x")`, at(nan, nan)},
		{"a hash for a text", text, `redis.call("HSET", KEYS[1], "tokens", 1)`, bucket.Unseen()},
		{"no text", text, ``, bucket.State{}},
		{"a time as text", &limiterfile.StateFields{Time: limiterfile.StateField{String: true}}, `redis.call("SET", KEYS[1], "1.7e12")`, at(nan, 1.7e12)},
		{"not told", nil, `redis.call("ZADD", KEYS[1], 1, "a")`, bucket.Unseen()},
		{"not told, and no key", nil, ``, bucket.State{}},
		{"deleted", both, `redis.call("HSET", KEYS[1], "tokens", 1, "ts", 1) redis.call("DEL", KEYS[1])`, bucket.State{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eachServer(t, func(t *testing.T, r *backend.Redis, protocol int) {
				p := newPair(t, r, protocol, oddFile(t, tt.write+" return 1", nil, tt.told), witnessed)
				for i, before := range []bucket.State{{}, tt.want} {
					_, seen, err := p.other.Ask(t.Context(), []string{"k"}, nil)
					if err != nil || !sameState(seen.Before, before) || !sameState(seen.After, tt.want) || seen.Sequence != int64(i+1) {
						t.Errorf("got %+v, %v, want %+v, then %+v", seen, err, before, tt.want)
					}
				}
			})
		})
	}
}

func sameState(a, b bucket.State) bool {
	return a.Exists == b.Exists && sameBits(a.Tokens, b.Tokens) && sameBits(a.Time, b.Time)
}

// TestAnErrorIsWitnessed: a script that fails after it wrote is an error, and
// the block tells what it did.
func TestAnErrorIsWitnessed(t *testing.T) {
	f, err := limiterfile.Parse("f.yaml", []byte(`
name: f
keys: ["${key}"]
reply: {allowed: reply == 1}
state: {tokens: "string"}
source: |
  redis.call("INCR", KEYS[1])
  error("boom")
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		l := openWitnessed(t, r, f)
		for i := range 3 {
			d, err := l.Take(t.Context(), limit, request("k", 0))
			w := d.Witness
			if err == nil || !strings.Contains(err.Error(), "f.yaml:8: Redis refuses the script: boom") || errors.Is(err, bucket.ErrUnsent) || d.Allowed {
				t.Errorf("got %+v, %v", d, err)
			}
			if w.Sequence != int64(i+1) || w.Before.Exists != (i > 0) || w.After.Tokens != float64(i+1) || w.BeforeMicros == 0 || w.AfterMicros < w.BeforeMicros {
				t.Errorf("seen %+v", w)
			}
		}
	})
}

// TestNumbersAreCharges: while another client makes the server forget its
// scripts, every number stands for a charge and every charge has one.
func TestNumbersAreCharges(t *testing.T) {
	const clients, each = 16, 60
	f, err := limiterfile.Parse("f.yaml", []byte(`
name: f
keys: ["${key}"]
reply: {allowed: reply > 0, remaining: reply}
state: {tokens: "string"}
source: return redis.call("INCR", KEYS[1])
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		l := openWitnessed(t, r, f)
		var wg sync.WaitGroup
		var left atomic.Int32
		left.Store(clients)
		for range clients {
			wg.Go(func() {
				defer left.Add(-1)
				for range each {
					d, err := l.Take(t.Context(), limit, request("k", 0))
					if w := d.Witness; err != nil || w.Sequence != int64(d.Remaining) || w.After.Tokens != d.Remaining {
						t.Errorf("got %+v, %v, want the number that was charged", d, err)
						return
					}
				}
			})
		}
		flushes := 0
		for ; left.Load() > 0; flushes++ {
			if err := r.Client().ScriptFlush(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
		}
		wg.Wait()
		if n, err := r.Client().Get(t.Context(), "k").Int(); err != nil || n != clients*each || flushes == 0 {
			t.Errorf("%d charges, %v, want %d; %d flushes", n, err, clients*each, flushes)
		}
	})
}

// TestNumbersStartAgain: what ends the sequence key is an event, no error.
func TestNumbersStartAgain(t *testing.T) {
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		l := openWitnessed(t, r, builtins(t)[0])
		for _, want := range []int64{1, 2, 1, 2} {
			if d, err := l.Take(t.Context(), limit, request("k", 1_000)); err != nil || d.Witness.Sequence != want || d.Witness.Before.Exists != (want == 2) {
				t.Errorf("got %+v, %v, want number %d", d, err, want)
			}
			if want == 2 {
				flush(t, r)
			}
		}
	})
}
