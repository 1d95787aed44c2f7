package lua_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
	"bucketproof/bucket/control"
	"bucketproof/bucket/limiterfile"
	"bucketproof/bucket/lua"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// frozen shadows TIME by what stands last in ARGV, so that two runs of a script
// see the same clock on a server whose own clock goes on.
const frozen = `local redis = (function(real, clock) return setmetatable({
  call = function(...) if select("#", ...) == 1 and (...) == "TIME" then return {clock:match("(%d+) (%d+)")} end return real.call(...) end,
}, {__index = real}) end)(redis, table.remove(ARGV)) `

// pair is one limiter twice, on the same keys of two databases: plain, and
// with whatever should make no difference.
type pair struct {
	plain, other           *lua.Limiter
	plainStore, otherStore *redis.Client
	tail                   bool // a call whose result is returned at once may lose its line
}

// newPair opens f on databases 0 and 1 of r.
func newPair(t *testing.T, r *backend.Redis, protocol int, f *limiterfile.File, other func(*limiterfile.File, *redis.Client) (*lua.Limiter, error)) pair {
	t.Helper()
	client := func(db int) *redis.Client {
		c := redis.NewClient(&redis.Options{
			Addr: r.Info().Address, DB: db, Protocol: protocol, MaxRetries: -1, DisableIdentity: true,
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		})
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	p := pair{plainStore: client(0), otherStore: client(1)}
	var err error
	if p.plain, err = lua.New(f, p.plainStore); err != nil {
		t.Fatal(err)
	}
	if p.other, err = other(f, p.otherStore); err != nil {
		t.Fatal(err)
	}
	return p
}

// ask sends the same words to both, says what differs, and returns the second
// one's witness.
func (p pair) ask(t *testing.T, keys, words []string) (bucket.Witness, error) {
	want, _, wantErr := p.plain.Ask(t.Context(), keys, slices.Clone(words))
	got, seen, gotErr := p.other.Ask(t.Context(), keys, slices.Clone(words))
	switch {
	case !reflect.DeepEqual(want, got):
		return seen, fmt.Errorf("replies %#v, want %#v", got, want)
	case errors.Is(gotErr, bucket.ErrUnsent) != errors.Is(wantErr, bucket.ErrUnsent),
		p.text(gotErr) != p.text(wantErr):
		return seen, fmt.Errorf("fails with %v, want %v", gotErr, wantErr)
	}
	return seen, nil
}

// What two runs of a script may tell differently: its hash, which is another
// one for a script that was changed; addresses; the embedded server's stack, and
// the second place of some errors before Redis 7.
var changing = regexp.MustCompile(`[0-9a-f]{40}|0x[0-9a-f]+|(?s) ?stack traceback:.*|@user_script: \d+: `)

// lines are how an error tells its line, or that it is not known.
var lines = regexp.MustCompile(`(?:=\?:1|@user_script:\d+)[.:]|(\): ):\d+: `)

// text is what both must say for an error. A call whose result is returned at
// once may lose its line, and on the embedded server the first line too.
func (p pair) text(err error) string {
	text := changing.ReplaceAllString(fmt.Sprint(err), "")
	if p.tail || strings.Contains(text, "): :1: ") {
		text = lines.ReplaceAllString(text, "$1")
	}
	return strings.TrimSpace(text)
}

// compare holds what both databases store against each other.
func (p pair) compare(t *testing.T) error {
	dump := func(c *redis.Client) map[string]string {
		out := map[string]string{}
		keys, err := c.Keys(t.Context(), "*").Result()
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			ttl, err := c.PTTL(t.Context(), key).Result()
			if err != nil {
				t.Fatal(err)
			}
			if lua.IsSequenceKey(key) {
				if ttl <= 0 || ttl > time.Hour {
					t.Errorf("%s lives for %v", key, ttl)
				}
				continue
			}
			out[key] = fmt.Sprintf("%q, for ever: %v", content(t, c, key), ttl < 0)
		}
		return out
	}
	if want, got := dump(p.plainStore), dump(p.otherStore); !maps.Equal(want, got) {
		return fmt.Errorf("%v is stored, want %v", got, want)
	}
	return nil
}

// content is the value of a key, as text that sorts.
func content(t *testing.T, c *redis.Client, key string) string {
	kind, err := c.Type(t.Context(), key).Result()
	if err != nil {
		t.Fatal(err)
	}
	read := map[string][]any{
		"string": {"GET", key}, "hash": {"HGETALL", key}, "list": {"LRANGE", key, 0, -1},
		"set": {"SMEMBERS", key}, "zset": {"ZRANGE", key, 0, -1, "WITHSCORES"},
	}[kind]
	value, err := c.Do(t.Context(), read...).Result()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(kind, " ", value) // fmt sorts maps
}

// allScripts are the limiter files of every script in the tree.
func allScripts(t *testing.T) []*limiterfile.File {
	t.Helper()
	files := builtins(t)
	paths, _ := filepath.Glob("testdata/cases/*.yaml")
	for _, path := range append(paths, "testdata/reference.yaml") {
		f, err := limiterfile.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	for _, c := range control.All() {
		l, err := c.Open(nil)
		if err != nil {
			t.Fatal(err)
		}
		if l, ok := l.(*lua.Limiter); ok {
			files = append(files, l.File())
		}
	}
	return files
}

// oddFile makes a limiter file of a script or of a command's words.
func oddFile(t *testing.T, script string, words []string, state *limiterfile.StateFields) *limiterfile.File {
	t.Helper()
	text := "name: odd\nsource: return 1\nkeys: [\"${key}\"]\nreply: {allowed: reply == 1}\n"
	if words != nil {
		text = "name: odd\ncommand: [GET, \"${key}\"]\nreply: {allowed: reply == 1}\n"
	}
	f, err := limiterfile.Parse("odd.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	odd := *f
	odd.Script, odd.State = script, state
	return &odd
}

var levels = []*limiterfile.StateFields{
	nil,
	{Tokens: limiterfile.StateField{Hash: "tokens"}, Time: limiterfile.StateField{Hash: "ts"}},
	{Tokens: limiterfile.StateField{String: true}},
	{Time: limiterfile.StateField{Hash: "ts"}},
}

func witnessed(f *limiterfile.File, c *redis.Client) (*lua.Limiter, error) {
	return lua.NewWitnessed(f, c)
}

// clocked shows the script a clock that is the server's own.
func clocked(f *limiterfile.File, c *redis.Client) (*lua.Limiter, error) {
	l, err := lua.New(f, c)
	if err != nil {
		return nil, err
	}
	return l.WithClock(func() lua.ServerClock { return lua.ServerClock{} })
}

// eachServer runs f on each server in both versions of the protocol.
func eachServer(t *testing.T, f func(t *testing.T, r *backend.Redis, protocol int)) {
	for _, protocol := range []int{2, 3} {
		t.Run(fmt.Sprint("RESP", protocol), func(t *testing.T) {
			backendtest.Each(t, func(t *testing.T, r *backend.Redis) { f(t, r, protocol) })
		})
	}
}

// TestTheWitnessChangesNothing runs every script in the tree plain and
// witnessed, side by side, and compares replies, errors and what is stored.
func TestTheWitnessChangesNothing(t *testing.T) {
	steps := 120
	if testing.Short() {
		steps = 30
	}
	eachServer(t, func(t *testing.T, r *backend.Redis, protocol int) {
		for i, f := range allScripts(t) {
			still := *f
			still.Script = frozen + f.Script
			p := newPair(t, r, protocol, &still, witnessed)
			random := rand.New(rand.NewPCG(uint64(protocol), uint64(i)))
			now := time.UnixMicro(1_700_000_000_300_417)
			numbers := map[string]int64{}
			for step := range steps {
				now = now.Add(time.Duration(random.ExpFloat64() * float64(500*time.Second)))
				l := bucket.Limit{Rate: 0.002 * float64(1+random.IntN(3)), Capacity: float64(3 + random.IntN(5))}
				req := bucket.Request{ID: strconv.Itoa(step), Key: strconv.Itoa(random.IntN(4)), Instance: "i", Cost: 1, Now: now}
				if f.UsesCost && random.IntN(3) == 0 {
					req.Cost = random.Float64() * 2 * l.Capacity
				}
				keys, words, err := still.Words(l, req)
				if err != nil {
					t.Fatal(err)
				}
				words = append(words, fmt.Sprint(now.Unix(), " ", now.Nanosecond()/1000))
				seen, err := p.ask(t, keys, words)
				numbers[keys[0]]++
				if err == nil && seen.Sequence != numbers[keys[0]] {
					err = fmt.Errorf("has number %d, want %d", seen.Sequence, numbers[keys[0]])
				}
				if err != nil {
					t.Fatalf("%s, step %d, %v: %v", f.Name, step, req, err)
				}
			}
			if err := p.compare(t); err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			flush(t, r)
		}
	})
}

// TestOdditiesAreTheSame runs scripts and commands with every kind of reply and
// error plain and witnessed, and plain and with the server's clock shown through
// a shadow.
func TestOdditiesAreTheSame(t *testing.T) {
	eachServer(t, func(t *testing.T, r *backend.Redis, protocol int) {
		known := maps.Clone(oddities)
		if r.Info().Kind == backend.Process {
			maps.Copy(known, realOddities)
		}
		for name, script := range known {
			for i, state := range levels {
				p := newPair(t, r, protocol, oddFile(t, script, nil, state), witnessed)
				p.askOften(t, name, []string{"k"}, []string{"a", "1"})
				if i == 0 {
					p := newPair(t, r, protocol, oddFile(t, script, nil, state), clocked)
					p.tail = strings.Contains(script, "return redis.call(")
					p.askOften(t, name, []string{"c"}, []string{"a", "1"})
				}
				flush(t, r)
			}
		}
		words := commands
		if r.Info().Kind == backend.Process {
			words = append(slices.Clone(words), []string{"NO.SUCH.COMMAND", "KEY"})
		}
		for _, words := range words {
			for _, state := range levels {
				p := newPair(t, r, protocol, oddFile(t, "", words, state), witnessed)
				words := strings.Split(strings.ReplaceAll(strings.Join(words, "\x00"), "KEY", "k"), "\x00")
				p.askOften(t, strings.Join(words, " "), []string{"k"}, words)
				flush(t, r)
			}
		}
	})
}

// askOften asks three times, so that the second finds what the first left.
func (p pair) askOften(t *testing.T, name string, keys, words []string) {
	t.Helper()
	for range 3 {
		if _, err := p.ask(t, keys, words); err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
	}
	if err := p.compare(t); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

func flush(t *testing.T, r *backend.Redis) {
	t.Helper()
	if err := r.Client().FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
}
