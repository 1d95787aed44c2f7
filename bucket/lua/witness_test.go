package lua_test

import (
	"cmp"
	"slices"
	"sync"
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
	const clients, each = 64, 40
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		for _, f := range builtins(t) {
			l := openWitnessed(t, r, f)
			slow := bucket.Limit{Rate: 20, Capacity: 1000}
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
			if granted < 1000 || granted == clients*each {
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
