package backend_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
	"bucketproof/bucket/lua"
)

// shift moves the server's clock and checks that TIME moved by as much, against
// a local clock that stays as it is.
func shift(t *testing.T, r *backend.Redis, d time.Duration) {
	t.Helper()
	before, unsure, err := r.Offset(t.Context(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.ShiftClock(d); err != nil {
		t.Fatal(err)
	}
	after, more, err := r.Offset(t.Context(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if off := (after - before - d).Abs(); off > unsure+more {
		t.Errorf("TIME moved by %v, ± %v, want %v", after-before, unsure+more, d)
	}
}

func TestShiftClockMovesTime(t *testing.T) {
	r := backendtest.OwnClock(t)
	offset, unsure, err := r.Offset(t.Context(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if offset.Abs() > unsure {
		t.Errorf("the clock begins %v ± %v ahead of the machine's", offset, unsure)
	}
	for _, d := range []time.Duration{10 * time.Second, -10 * time.Second, 999999999, -1999999999, -time.Hour, 1500 * time.Millisecond, 1000} {
		shift(t, r, d)
	}
	sum := -time.Hour + 1500*time.Millisecond - time.Second + 1000
	if err := r.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	offset, unsure, err = r.Offset(t.Context(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if (offset - sum).Abs() > unsure {
		t.Errorf("after a restart the clock is %v ± %v ahead, want %v", offset, unsure, sum)
	}
}

// TestShiftClockMovesExpiries: a key with a minute of life is gone after a step
// of a minute, and one that is not due yet lives as much longer after a step back.
func TestShiftClockMovesExpiries(t *testing.T) {
	r := backendtest.OwnClock(t)
	ctx, c := t.Context(), r.Client()
	life := func(key string) time.Duration {
		t.Helper()
		ttl, err := r.TTL(ctx, []string{key})
		if err != nil {
			t.Fatal(err)
		}
		return ttl[0]
	}
	for _, key := range []string{"short", "long"} {
		if err := c.Set(ctx, key, "1", map[string]time.Duration{"short": time.Minute, "long": time.Hour}[key]).Err(); err != nil {
			t.Fatal(err)
		}
	}
	shift(t, r, -30*time.Minute)
	if ttl := life("long"); ttl <= time.Hour || ttl > 90*time.Minute {
		t.Errorf("after a step back by half an hour a key of an hour lives %v", ttl)
	}
	shift(t, r, 30*time.Minute)
	if ttl := life("short"); ttl <= 0 || ttl > time.Minute {
		t.Errorf("to and fro, a key of a minute lives %v", ttl)
	}
	shift(t, r, time.Minute)
	if ttl := life("short"); ttl != backend.NoKey {
		t.Errorf("after a step by a minute a key of a minute lives %v, want it gone", ttl)
	}
	if ttl := life("long"); ttl <= 0 || ttl > 59*time.Minute {
		t.Errorf("after a step by a minute a key of an hour lives %v", ttl)
	}
}

// TestServerStepsForReal is what the callers' clocks have to do with the server's:
// a key that expires early forgets what was spent.
func TestServerStepsForReal(t *testing.T) {
	r := backendtest.OwnClock(t)
	limit := bucket.Limit{Rate: 1, Capacity: 50} // a fill time of 50 s, so that nothing is earned meanwhile
	for _, tt := range []struct {
		limiter string
		step    time.Duration
		again   int // granted at once after the step, of a bucket that was empty
	}{
		{"app-clock", 51 * time.Second, 50},
		{"app-clock", 20 * time.Second, 0},
		{"app-clock", -20 * time.Second, 0},
		{"app-clock-monotonic", 51 * time.Second, 50},
		{"app-clock-monotonic", 20 * time.Second, 0},
		{"redis-time", 51 * time.Second, 50},
		{"redis-time", 20 * time.Second, 20},
		{"redis-time", -20 * time.Second, 0},
	} {
		f, err := lua.Builtin(tt.limiter)
		if err != nil {
			t.Fatal(err)
		}
		l, err := lua.New(f, r.Client())
		if err != nil {
			t.Fatal(err)
		}
		key, now := tt.limiter+tt.step.String(), time.Now()
		burst := func() (granted int) {
			for range 70 {
				d, err := l.Take(t.Context(), limit, bucket.Request{ID: "r", Key: key, Instance: "i", Cost: 1, Now: now})
				if err != nil {
					t.Fatal(err)
				}
				if d.Allowed {
					granted++
				}
			}
			return granted
		}
		start := time.Now()
		first := burst()
		if err := r.ShiftClock(tt.step); err != nil {
			t.Fatal(err)
		}
		again := burst()
		slack := 0 // who goes by Redis TIME earns while this takes its time
		if tt.limiter == "redis-time" {
			slack = int(time.Since(start).Seconds()*limit.Rate) + 1
		}
		if first < 50 || first > 50+slack || again < tt.again || again > tt.again+slack {
			t.Errorf("%s granted %d, and %d after a step by %v, want 50 and %d, and %d more at most", tt.limiter, first, again, tt.step, tt.again, slack)
		}
	}
}

func TestOwnClockErrors(t *testing.T) {
	for _, spec := range []string{"embedded", "container", "redis://127.0.0.1:1"} {
		if _, err := backend.Open(t.Context(), spec, backend.Options{OwnClock: true}); !errors.Is(err, backend.ErrOwnClock) {
			t.Errorf("%q: %v, want ErrOwnClock", spec, err)
		}
	}
	if err := backendtest.Any(t).ShiftClock(time.Second); !errors.Is(err, backend.ErrOwnClock) {
		t.Errorf("a server on the machine's clock: %v, want ErrOwnClock", err)
	}
	t.Run("no compiler", func(t *testing.T) {
		fake(t, "redis-server", "exit 0")
		dir := t.TempDir()
		_, err := backend.Open(t.Context(), "process", backend.Options{OwnClock: true, Dir: dir})
		checkError(t, err, false, "no wall clock of its own: ")
		if left, _ := os.ReadDir(dir); len(left) > 0 || !errors.Is(err, backend.ErrOwnClock) {
			t.Errorf("%v; the folder holds %v", err, left)
		}
	})
	t.Run("a compiler that fails", func(t *testing.T) {
		fake(t, "redis-server", "exit 0")
		if err := os.WriteFile(filepath.Join(os.Getenv("PATH"), "cc"), []byte("#!/bin/sh\necho no stdint.h; exit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		_, err := backend.Open(t.Context(), "process", backend.Options{OwnClock: true})
		checkError(t, err, false, "no stdint.h")
	})
}
