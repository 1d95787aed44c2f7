package lua_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
	"bucketproof/bucket/limiterfile"
	"bucketproof/bucket/lua"
)

// ask opens a script with a clock and asks it once.
func askClock(t *testing.T, r *backend.Redis, script string, clock lua.ServerClock, words ...string) (any, bucket.Witness, error) {
	t.Helper()
	l := openWitnessed(t, r, oddFile(t, script, nil, nil))
	l, err := l.WithClock(func() lua.ServerClock { return clock })
	if err != nil {
		t.Fatal(err)
	}
	return l.Ask(t.Context(), []string{"k"}, words)
}

// micros reads the reply of TIME.
func replyMicros(t *testing.T, reply any) int64 {
	t.Helper()
	parts, ok := reply.([]any)
	if !ok || len(parts) != 2 {
		t.Fatalf("TIME answers %#v", reply)
	}
	var n [2]int64
	for i, part := range parts {
		var err error
		if n[i], err = strconv.ParseInt(part.(string), 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	if n[1] < 0 || n[1] >= 1e6 {
		t.Errorf("TIME answers %v", parts)
	}
	return n[0]*1e6 + n[1]
}

// TestScriptsAreShownTheClock: however a script asks for TIME, and wherever the
// clock stands, it sees the server's time moved as told; ARGV is as it was.
func TestScriptsAreShownTheClock(t *testing.T) {
	past, future := time.UnixMicro(1), time.Now().Add(time.Hour)
	clocks := []struct {
		clock lua.ServerClock
		ahead time.Duration
	}{
		{lua.ServerClock{}, 0},
		{lua.ServerClock{Offset: 1500*time.Millisecond + 7*time.Microsecond}, 1500*time.Millisecond + 7*time.Microsecond},
		{lua.ServerClock{Offset: -250 * time.Millisecond}, -250 * time.Millisecond},
		{lua.ServerClock{Offset: 24 * 3650 * time.Hour}, 24 * 3650 * time.Hour},
		{lua.ServerClock{Steps: []lua.ClockStep{{At: past, By: time.Second}, {At: future, By: time.Hour}}}, time.Second},
		{lua.ServerClock{Offset: time.Second, Steps: []lua.ClockStep{{At: past, By: -3 * time.Second}, {At: past, By: time.Minute}}}, 58 * time.Second},
	}
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		for _, script := range []string{
			`return redis.call("TIME")`,
			`return redis.pcall('time')`,
			`local call, word = redis.call, "Ti" .. "mE" return call(word)`,
			"local function now(...)\n  return redis.call(...)\nend\nreturn now('TIME')",
			`if #ARGV ~= 2 or ARGV[2] ~= "b" or ARGV[3] then return "ARGV" end return redis.call(unpack({"TIME"}))`,
		} {
			for _, c := range clocks {
				reply, seen, err := askClock(t, r, script, c.clock, "a", "b")
				if err != nil {
					t.Fatal(err)
				}
				got := replyMicros(t, reply) - c.ahead.Microseconds()
				if got < seen.BeforeMicros || got > seen.AfterMicros {
					t.Errorf("%s with %+v shows %d, want %d to %d", script, c.clock, got, seen.BeforeMicros, seen.AfterMicros)
				}
			}
		}
	})
}

// TestTheServersTableEscapes: what the documentation says of _G.
func TestTheServersTableEscapes(t *testing.T) {
	r := backendtest.Any(t)
	reply, seen, err := askClock(t, r, `return _G.redis.call("TIME")`, lua.ServerClock{Offset: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if got := replyMicros(t, reply); got < seen.BeforeMicros || got > seen.AfterMicros {
		t.Errorf("_G.redis shows %d, want the server's own time", got)
	}
}

// TestLinesUnderAClock: an error stands in the line where it would stand
// without one, also below a shebang; and it has none where Lua has lost it.
func TestLinesUnderAClock(t *testing.T) {
	tests := []struct {
		script string
		line   string // of the script; "": none
		real   bool   // only where there is a real server
	}{
		{"local a = 1\n\nlocal b = redis.call('HGET', KEYS[1])\n", "3", false},
		{"local a = 1\nlocal function f()\n  local b = redis.call('HGET', KEYS[1])\n  return b\nend\nreturn f()\n", "3", false},
		{"local a\n\n\nreturn a + 1\n", "4", false},
		{"local a\n\n\nerror('x')\n", "4", false},
		{"local a = 1\nlocal = 2\n", "2", false},
		{"local a\nreturn nosuch\n", "2", true},
		{"#!lua\nlocal a\nlocal b = redis.call('HGET', KEYS[1])\n", "3", true},
		{"#!lua flags=no-writes\nlocal a\nlocal b = redis.call('SET', KEYS[1], 1)\n", "3", true},
		{"local b = redis.call('HGET', KEYS[1])\n", "1", true},
		{"local a\nreturn redis.call('HGET', KEYS[1])\n", "", false},
	}
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		for _, tt := range tests {
			if tt.real && r.Info().Kind != backend.Process || strings.HasPrefix(tt.script, "#!") && strings.HasPrefix(r.Info().Version, "6.") {
				continue
			}
			text := "name: f\nkeys: [\"${key}\"]\nreply: {allowed: reply == 1}\nscript: s.lua\n"
			f, err := limiterfile.Parse("f.yaml", []byte(text), func(string) ([]byte, error) { return []byte(tt.script), nil })
			if err != nil {
				t.Fatal(err)
			}
			l, err := openWitnessed(t, r, f).WithClock(func() lua.ServerClock { return lua.ServerClock{Offset: time.Second} })
			if err != nil {
				t.Fatal(err)
			}
			want := "f.yaml:4:1: Redis refuses the script: "
			if tt.line != "" {
				want = "s.lua:" + tt.line + ": Redis refuses the script: "
			}
			err = l.Probe(t.Context(), limit, request("k", 0))
			if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "=?") {
				t.Errorf("%q: got %v, want %s…", tt.script, err, want)
			}
		}
	})
}

// TestAStepIsOneForAll: the step counts from an instant of the server's clock,
// so the scripts' times are those of one clock in the order in which they ran.
func TestAStepIsOneForAll(t *testing.T) {
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		at := time.Now().Add(30 * time.Millisecond)
		clock := lua.ServerClock{Steps: []lua.ClockStep{{At: at, By: -10 * time.Second}}}
		stepped := 0
		for start := time.Now(); time.Since(start) < 60*time.Millisecond; {
			reply, seen, err := askClock(t, r, `return redis.call("TIME")`, clock)
			if err != nil {
				t.Fatal(err)
			}
			got := replyMicros(t, reply)
			if got < seen.BeforeMicros {
				got += 10_000_000
				stepped++
				if got < at.UnixMicro() {
					t.Errorf("stepped at %d, before %d", got, at.UnixMicro())
				}
			} else if got >= at.UnixMicro() {
				t.Errorf("not stepped at %d, after %d", got, at.UnixMicro())
			}
			if got < seen.BeforeMicros || got > seen.AfterMicros {
				t.Errorf("shows %d, want %d to %d", got, seen.BeforeMicros, seen.AfterMicros)
			}
		}
		if stepped == 0 {
			t.Error("never stepped")
		}
	})
}

// TestALimiterFollowsTheClock: a server that steps ahead by S grants up to R·S
// early, and one that steps back grants nothing for S.
func TestALimiterFollowsTheClock(t *testing.T) {
	f := builtins(t)[2]
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		for i, plain := range []bool{true, false} {
			l := open(t, r, f)
			if !plain {
				l = openWitnessed(t, r, f)
			}
			var clock lua.ServerClock
			l, err := l.WithClock(func() lua.ServerClock { return clock })
			if err != nil {
				t.Fatal(err)
			}
			slow := bucket.Limit{Rate: 0.01, Capacity: 5}
			granted := func() (n int) {
				for range 8 {
					d, err := l.Take(t.Context(), slow, request(fmt.Sprint("k", i), 0))
					if err != nil {
						t.Fatal(err)
					}
					if d.Allowed {
						n++
					}
				}
				return n
			}
			for _, step := range []struct {
				offset time.Duration
				want   int
			}{{0, 5}, {250 * time.Second, 2}, {-time.Hour, 0}, {-time.Hour + 150*time.Second, 0}, {250 * time.Second, 0}} {
				clock.Offset = step.offset
				if got := granted(); got != step.want {
					t.Errorf("plain %v: at %v %d are granted, want %d", plain, step.offset, got, step.want)
				}
			}
		}
	})
}

func TestACommandHasNoClock(t *testing.T) {
	l, err := lua.New(oddFile(t, "", []string{"GET", "k"}, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.WithClock(func() lua.ServerClock { return lua.ServerClock{} })
	var mistake *limiterfile.Error
	if !errors.As(err, &mistake) || err.Error() != "odd.yaml:2:1: the server's clock cannot be changed for `command`: only a script can be shown another one" {
		t.Errorf("got %v", err)
	}
}
