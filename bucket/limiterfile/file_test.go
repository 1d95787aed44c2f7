package limiterfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"

	"github.com/google/go-cmp/cmp"
)

const full = `# Every field of a limiter on Redis.
name: my-limiter
contract: token-bucket
time: caller
granularity: 10us
script: my_limiter.lua
keys: ["rl:${key}", "rl:${key}:seen"]
args: [rate, capacity, now_ms]
reply:
  allowed: reply[0] == 1
  remaining: reply[1]
  retry_after: float(reply[2]) / 1000
state: {tokens: "hash tokens", time: string}
model: app-clock
limit: {rate: 1e-3, capacity: 0x10}
expect: {over-admission: fail, replay: any, fairness: pass}
`

func TestLoad(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "my.yaml")
	for name, text := range map[string]string{"my.yaml": full, "my_limiter.lua": "return 1"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := limiterfile.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	type plain struct {
		Name, Path, Script, ScriptPath, Model string
		Contract                              bucket.Contract
		Time                                  bucket.TimeSource
		Granularity                           time.Duration
		Kind                                  limiterfile.Kind
		Limit                                 bucket.Limit
		State                                 limiterfile.StateFields
		Expect                                map[string]limiterfile.Expectation
		UsesCost                              bool
	}
	got := plain{f.Name, f.Path, f.Script, f.ScriptPath, f.Model, f.Contract, f.Time, f.Granularity, f.Kind, *f.Limit, *f.State, f.Expect, f.UsesCost}
	want := plain{
		Name: "my-limiter", Path: path, Script: "return 1", ScriptPath: filepath.Join(folder, "my_limiter.lua"), Model: "app-clock",
		Contract: bucket.TokenBucket, Time: bucket.CallerTime, Granularity: 10 * time.Microsecond, Kind: limiterfile.Script,
		Limit: bucket.Limit{Rate: 0.001, Capacity: 16},
		State: limiterfile.StateFields{Tokens: limiterfile.StateField{Hash: "tokens"}, Time: limiterfile.StateField{String: true}},
		Expect: map[string]limiterfile.Expectation{
			"over-admission": limiterfile.Fail, "replay": limiterfile.Any, "fairness": limiterfile.Pass},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	keys, err := f.KeysOf(bucket.Limit{}, bucket.Request{Key: "k"})
	if diff := cmp.Diff([]string{"rl:k", "rl:k:seen"}, keys); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if rule, ok := f.Rule(); !ok || rule != bucket.RuleAppClock {
		t.Errorf("rule %+v, %v", rule, ok)
	}
}

func TestDefaults(t *testing.T) {
	tests := []struct {
		name, file string
		time       bucket.TimeSource
		cost       bool
		keys       int
	}{
		{"a clock in the arguments", good, bucket.CallerTime, false, 1},
		{"no clock in the arguments", with("args: [rate, capacity]"), bucket.ServerTime, false, 1},
		{"no arguments", without("args"), bucket.ServerTime, false, 1},
		{"an empty list of arguments", with("args: []"), bucket.ServerTime, false, 1},
		{"a cost in the arguments", with("args: [cost]"), bucket.ServerTime, true, 1},
		{"a cost in the reply", with("reply: {allowed: reply >= cost}"), bucket.CallerTime, true, 1},
		{"a clock in a key", with("args: [rate]", `keys: ["${key}:${now_s}"]`), bucket.CallerTime, false, 1},
		{"a command", "name: c\ncommand: [X, \"a${key}\", \"b${key}\", 3]\nreply: {allowed: reply == 1}\n", bucket.ServerTime, false, 2},
		{"an http limiter", "name: h\nhttp: {url: \"http://x/${key}\"}\nreply: {allowed: status == 200}\n", bucket.ServerTime, false, 0},
		{"an exec limiter", "name: e\nexec: [node, x.js]\n", bucket.CallerTime, true, 0},
	}
	for _, tt := range tests {
		f := file(t, tt.file)
		if f.Time != tt.time || f.UsesCost != tt.cost || len(f.Keys) != tt.keys {
			t.Errorf("%s: time %s, cost %v, %d keys; want %s, %v, %d", tt.name, f.Time, f.UsesCost, len(f.Keys), tt.time, tt.cost, tt.keys)
		}
		if f.Contract != bucket.TokenBucket || f.Granularity != time.Millisecond || f.Expect != nil || f.Limit != nil {
			t.Errorf("%s: defaults %s, %v, %v, %v", tt.name, f.Contract, f.Granularity, f.Expect, f.Limit)
		}
	}
}

func TestScriptMistakesAreFoundInTheirFile(t *testing.T) {
	block := strings.Replace(good, "script: ok.lua", "source: |\n\n  local a = 1\n  return a", 1)
	tests := []struct {
		name, file string
		line       int
		want       string
	}{
		{"a script", good, 3, "ok.lua:3: bad"},
		{"a script, line unknown", good, 0, "f.yaml:2:1: bad"},
		{"a source in a block", block, 2, "f.yaml:4: bad"},
		{"a source in quotes", strings.Replace(good, "script: ok.lua", `source: "local a = 1\nreturn a"`, 1), 2, "f.yaml:2:1: line 2 of the Lua text: bad"},
	}
	for _, tt := range tests {
		if got := file(t, tt.file).ScriptMistake(tt.line, "bad").Error(); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	if got, want := file(t, with("contract: fixed-window")).Mistake("contract", "not\nyet").Error(), "f.yaml:6:1: not yet"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// FuzzParse: no input ends the program, and every error is one line with a
// place.
func FuzzParse(f *testing.F) {
	f.Add(full)
	f.Add(good)
	for _, w := range wrong {
		f.Add(w.file)
	}
	f.Add("name: h\nhttp: {method: POST, url: \"http://x/${key}\", headers: {a: \"${cost}\"}, body: x}\nreply: {allowed: status == 200, denied: status == 429}\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := limiterfile.Parse("f.yaml", []byte(text), folder)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.yaml:") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		limit, request := bucket.Limit{Rate: 1, Capacity: 1}, bucket.Request{Key: "k", Cost: 1, Now: time.Unix(1, 0)}
		if _, _, err := got.Words(limit, request); err != nil && strings.Contains(err.Error(), "\n") {
			t.Fatalf("%q: %v", text, err)
		}
		for _, reply := range []any{int64(1), []any{int64(0), "1"}, nil, "OK"} {
			if _, err := got.Decide(limit, request, reply); err != nil && strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q: %v", text, err)
			}
		}
	})
}
