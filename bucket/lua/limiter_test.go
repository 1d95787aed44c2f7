package lua_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
	"bucketproof/bucket/limiterfile"
	"bucketproof/bucket/limitertest"
	"bucketproof/bucket/lua"
)

var limit = bucket.Limit{Rate: 1, Capacity: 5}

// request asks for one token at an instant of the caller's clock.
func request(key string, ms int64) bucket.Request {
	return bucket.Request{ID: "1", Key: key, Instance: "i", Cost: 1, Now: time.UnixMilli(ms)}
}

func TestBuiltinsConform(t *testing.T) {
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		for _, f := range builtins(t) {
			t.Run(f.Name, func(t *testing.T) {
				t.Parallel() // it waits most of the time
				limitertest.Run(t, func(t *testing.T) bucket.Limiter { return open(t, r, f) },
					limitertest.Options{Costs: true, Granularity: f.Granularity})
			})
			t.Run(f.Name+" witnessed", func(t *testing.T) {
				t.Parallel()
				limitertest.Run(t, func(t *testing.T) bucket.Limiter { return openWitnessed(t, r, f) },
					limitertest.Options{Costs: true, Granularity: f.Granularity})
			})
		}
	})
}

// open makes a limiter with a client of its own.
func open(t *testing.T, r *backend.Redis, f *limiterfile.File) *lua.Limiter {
	t.Helper()
	c := r.NewClient("test")
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	l, err := lua.New(f, c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestCasesLoadAndAnswer: the limiter files of testdata, each with a fault that
// a harness must find, are valid and answer.
func TestCasesLoadAndAnswer(t *testing.T) {
	granted := map[string]int{"case-one-too-many": 6} // its fault; the others grant 5 of 8 at once
	paths, err := filepath.Glob("testdata/cases/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		slow := bucket.Limit{Rate: 1e-3, Capacity: 5} // nothing is earned meanwhile
		for _, path := range paths {
			f, err := limiterfile.Load(path)
			if err != nil {
				t.Error(err)
				continue
			}
			l, got := open(t, r, f), 0
			if err := l.Probe(t.Context(), slow, request("probe", 1_000)); err != nil {
				t.Error(err)
			}
			for range 8 {
				d, err := l.Take(t.Context(), slow, request("k", 1_000))
				if err != nil {
					t.Fatal(err)
				}
				if d.Allowed {
					got++
				}
			}
			if want := max(granted[f.Name], 5); got != want {
				t.Errorf("%s granted %d of 8, want %d", f.Name, got, want)
			}
			keys, err := l.Keys(slow, request("k", 1_000))
			if n, err2 := r.Client().Exists(t.Context(), keys...).Result(); err != nil || err2 != nil || n != 1 {
				t.Errorf("%s: keys %v, %v: %d exist, %v", f.Name, keys, err, n, err2)
			}
		}
	})
}

func TestScriptsAreSentAgainAfterAFlush(t *testing.T) {
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		l, granted := open(t, r, builtins(t)[0]), 0
		for range 20 {
			if err := r.Client().ScriptFlush(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			d, err := l.Take(t.Context(), limit, request("k", 1_000))
			if err != nil {
				t.Fatal(err)
			}
			if d.Allowed {
				granted++
			}
		}
		if granted != 5 {
			t.Errorf("granted %d, want 5", granted)
		}
	})
}

func TestCommand(t *testing.T) {
	f, err := limiterfile.Parse("c.yaml", []byte(`
name: once
time: server
command: [SET, "${key}", "${capacity}", NX, PX, "${int(window_ms)}"]
reply: {allowed: reply == 'OK', denied: reply == nil}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		l := open(t, r, f)
		for i, want := range []bool{true, false, false} {
			d, err := l.Take(t.Context(), bucket.Limit{Rate: 0.01, Capacity: 5}, request("k", 0))
			if err != nil || d.Allowed != want {
				t.Errorf("call %d: got %+v, %v, want %v", i, d, err, want)
			}
		}
		if got, err := r.Client().Get(t.Context(), "k").Result(); err != nil || got != "5" {
			t.Errorf("stored %q, %v", got, err)
		}
	})
}

func TestProbeFindsMistakesWithTheirPlace(t *testing.T) {
	folder := t.TempDir()
	tests := []struct {
		name, script, reply string
		process, embedded   string // what the error must hold
	}{
		{"a global that does not exist", "local a = 1\nreturn b\n", "reply == 1",
			"s.lua:2: Redis refuses the script: Script attempted to access nonexistent global variable 'b'",
			"f.yaml:2:1: Redis refuses the script: Script attempted to access nonexistent global variable 'b'"},
		{"a syntax error", "local a = 1\nlocal = 2\nreturn a\n", "reply == 1",
			"s.lua:2: Redis refuses the script: '<name>' expected near '='",
			"s.lua:2: Redis refuses the script: near '=': syntax error"},
		{"arithmetic on nil", "local a\n\nreturn a + 1\n", "reply == 1",
			"s.lua:3: Redis refuses the script: attempt to perform arithmetic on local 'a' (a nil value)",
			"s.lua:3: Redis refuses the script: cannot perform add operation between nil and number"},
		{"a wrong type", "redis.call('SET', KEYS[1], 1)\nreturn redis.call('HGET', KEYS[1], 'a')\n", "reply == 1",
			"s.lua:2: Redis refuses the script: WRONGTYPE Operation against a key holding the wrong kind of value",
			"s.lua:2: Redis refuses the script: WRONGTYPE Operation against a key holding the wrong kind of value"},
		{"an error of its own", "return redis.error_reply('MINE no')\n", "reply == 1",
			"f.yaml:2:1: Redis refuses the script: MINE no", "f.yaml:2:1: Redis refuses the script: MINE no"},
		{"an answer that is too short", "return {1}\n", "reply[1] == 1",
			"f.yaml:4:24: allowed: index out of range: 1 (array length is 1)",
			"f.yaml:4:24: allowed: index out of range: 1 (array length is 1)"},
	}
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		for _, tt := range tests {
			yaml := fmt.Sprintf("name: f\nscript: s.lua\nkeys: [\"${key}\"]\nreply: {allowed: %q}\n", tt.reply)
			write(t, filepath.Join(folder, "s.lua"), tt.script)
			write(t, filepath.Join(folder, "f.yaml"), yaml)
			f, err := limiterfile.Load(filepath.Join(folder, "f.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			want := tt.embedded
			if r.Info().Kind == backend.Process {
				want = tt.process
			}
			err = open(t, r, f).Probe(t.Context(), limit, request("probe", 0))
			var mistake *limiterfile.Error
			if !errors.As(err, &mistake) || strings.ReplaceAll(err.Error(), folder+string(filepath.Separator), "") != want {
				t.Errorf("%s:\n got %v\nwant %s", tt.name, err, want)
			}
		}
	})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestKindsThatDoNotRunAreRefused(t *testing.T) {
	for kind, text := range map[string]string{
		"http": "name: h\nhttp: {url: \"http://x/${key}\"}\nreply: {allowed: status == 200}\n",
		"exec": "name: e\nexec: [node, x.js]\n",
	} {
		f, err := limiterfile.Parse("f.yaml", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("f.yaml:2:1: a limiter of kind `%s` is no script and no command", kind)
		if l, err := lua.New(f, nil); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, %v, want %s", kind, l, err, want)
		}
	}
}

func TestBuiltinNames(t *testing.T) {
	if _, err := lua.Builtin("app-clok"); err == nil || !strings.Contains(err.Error(), "redis-time") {
		t.Errorf("unknown name: %v", err)
	}
	for _, name := range lua.Names() {
		f, err := lua.Builtin(name)
		if err != nil || f.Name != name || (f.Model == name) != slices.Contains(lua.Family(), name) || !f.UsesCost || f.Expect != nil {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

// TestLongTTLDecidesLikeTheReference: but for the life of the key the scripts are
// one.
func TestLongTTLDecidesLikeTheReference(t *testing.T) {
	code := func(name string) string {
		f, err := lua.Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for line := range strings.Lines(f.Script) {
			if !strings.HasPrefix(line, "--") && !strings.Contains(line, "PEXPIRE") {
				lines = append(lines, line)
			}
		}
		return strings.Join(lines, "")
	}
	if got, want := code("app-clock-long-ttl"), code("app-clock"); got != want {
		t.Errorf("app-clock-long-ttl is\n%s\nand app-clock\n%s", got, want)
	}
}
