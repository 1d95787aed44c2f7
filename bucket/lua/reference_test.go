package lua_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/backend/backendtest"
	"bucketproof/bucket/limiterfile"
	"bucketproof/bucket/lua"

	"github.com/redis/go-redis/v9"
)

// TestReferenceIsTheRuleBitForBit runs the reference family, and the reference
// as it was written down first, on a real server over random states, limits,
// costs and clocks, and compares each decision and each stored number with what
// the rule computes from the state before it.
func TestReferenceIsTheRuleBitForBit(t *testing.T) {
	steps := 30_000 // a script
	if testing.Short() {
		steps = 3_000
	}
	r := backendtest.Real(t)
	reference, err := limiterfile.Load("testdata/reference.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range append(family(t), reference) {
		t.Run(f.Name, func(t *testing.T) {
			tr := &trial{file: f, client: r.Client(), random: rand.New(rand.NewPCG(1, uint64(i))), states: map[string]bucket.State{}}
			tr.rule, _ = f.Rule()
			tr.least = leastRefused(t, r.Client())
			if tr.sha, err = r.Client().ScriptLoad(t.Context(), f.Script).Result(); err != nil {
				t.Fatal(err)
			}
			for tr.steps < steps && !t.Failed() {
				tr.batch(t, 400)
			}
			t.Logf("%d steps: %d granted, %d refused by PEXPIRE, %d deleted by it, %d expired while they were read",
				tr.steps, tr.granted, tr.refused, tr.deleted, tr.expired)
			if tr.granted == 0 || tr.granted == tr.steps || tr.refused == 0 || tr.deleted == 0 {
				t.Error("the steps miss a case")
			}
		})
	}
}

// leastRefused is the least time to live that PEXPIRE refuses from a script.
// Redis 7.0 writes a number of 1e17 or more with an exponent, which it does not
// read; later ones take whatever ends before 2⁶³ ms.
func leastRefused(t *testing.T, c redis.UniversalClient) float64 {
	took, err := c.Eval(t.Context(), `redis.call("SET", KEYS[1], 1) return tostring(redis.pcall("PEXPIRE", KEYS[1], 1e17) == 1)`, []string{"least"}).Text()
	if err != nil {
		t.Fatal(err)
	}
	if took == "true" {
		return math.MaxInt64 - float64(time.Now().UnixMilli())
	}
	return 1e17
}

// builtins loads the limiter files that ship with the harness.
func builtins(t testing.TB) []*limiterfile.File {
	var out []*limiterfile.File
	for _, name := range lua.Names() {
		f, err := lua.Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return out
}

// family loads the built-in limiters that are a rule, bit for bit.
func family(t testing.TB) []*limiterfile.File {
	return slices.DeleteFunc(builtins(t), func(f *limiterfile.File) bool { return !slices.Contains(lua.Family(), f.Name) })
}

// trial compares one script with its rule.
type trial struct {
	file   *limiterfile.File
	rule   bucket.Rule
	client redis.UniversalClient
	sha    string
	random *rand.Rand
	states map[string]bucket.State // as last read
	tame   bool                    // the embedded server: only what it can represent
	least  float64                 // the least time to live that PEXPIRE refuses, in milliseconds

	steps, granted, refused, deleted, expired int
}

// shot is one step of a trial, in flight.
type shot struct {
	limit   bucket.Limit
	request bucket.Request
	key     string
	preset  *bucket.State // written before the call; nil: the state stays
	before  *redis.TimeCmd
	call    *redis.Cmd
	ttl     *redis.Cmd
	stored  *redis.SliceCmd
	after   *redis.TimeCmd
}

// batch sends n steps in one pipeline and judges them in order.
func (tr *trial) batch(t *testing.T, n int) {
	ctx := context.Background()
	now, err := tr.client.Time(ctx).Result()
	if err != nil {
		t.Fatal(err)
	}
	pipe := tr.client.Pipeline()
	shots := make([]*shot, n)
	for i := range shots {
		s := tr.draw(now)
		shots[i] = s
		keys, args, err := tr.file.Words(s.limit, s.request)
		if err != nil {
			t.Fatal(err)
		}
		s.key = keys[0]
		if s.preset != nil {
			pipe.Del(ctx, s.key)
			if s.preset.Exists {
				pipe.HSet(ctx, s.key, "tokens", text(s.preset.Tokens), "ts", text(s.preset.Time))
			}
		}
		s.before = pipe.Time(ctx)
		s.call = pipe.EvalSha(ctx, tr.sha, keys, toAny(args)...)
		s.ttl = pipe.Do(ctx, "PTTL", s.key)
		pipe.Persist(ctx, s.key) // so that the state that is read is the state of the next step
		s.stored = pipe.HMGet(ctx, s.key, "tokens", "ts")
		s.after = pipe.Time(ctx)
	}
	_, _ = pipe.Exec(ctx) // the error of one command; each is looked at below
	for _, s := range shots {
		if err := tr.judge(s); err != nil {
			t.Errorf("step %d of %s: limit %v, request %+v, state before %+v: %v",
				tr.steps, s.key, s.limit, s.request, tr.states[s.key], err)
			return
		}
		tr.steps++
	}
}

// judge compares what came of a step with the rule.
func (tr *trial) judge(s *shot) error {
	if s.preset != nil {
		tr.states[s.key] = *s.preset
	}
	stored, err := read(s.stored)
	if err != nil {
		return err
	}
	clock := float64(s.request.Now.UnixMilli())
	if tr.file.Time == bucket.ServerTime {
		clock = stored.Time // the time the script used, unknown when nothing is left of it
		if stored.Exists && (clock < micros(s.before)-1000 || clock > micros(s.after)+1000) {
			return fmt.Errorf("the script used the time %v, between %v and %v", clock, micros(s.before), micros(s.after))
		}
	}
	if tr.tame && unreadable(tr.states[s.key].Tokens) {
		tr.states[s.key] = stored
		return nil
	}
	want, allowed := tr.rule.Take(tr.states[s.key], s.limit, clock, s.request.Cost)
	life := s.limit.TTLMillis()
	switch {
	case life >= tr.least:
		tr.refused++
		if err := s.call.Err(); err == nil || !strings.Contains(err.Error(), "not an integer") && !strings.Contains(err.Error(), "invalid expire time") {
			return fmt.Errorf("PEXPIRE %v answers %v, %v", life, s.call.Val(), err)
		}
	case s.call.Err() != nil:
		return s.call.Err()
	case !stored.Exists && life > 0: // the read came too late
	case tr.file.Time == bucket.ServerTime && !stored.Exists:
	case s.call.Val() != int64(number(allowed)):
		return fmt.Errorf("decision %v, want %v", s.call.Val(), allowed)
	case allowed:
		tr.granted++
	}
	took := (micros(s.after) - micros(s.before)) / 1000 // ms, for what may have expired
	switch {
	case life <= 0:
		tr.deleted++
		if stored.Exists {
			return fmt.Errorf("stored %+v although PEXPIRE %v deletes the key", stored, life)
		}
	case !stored.Exists:
		tr.expired++
		if life > took+2 {
			return fmt.Errorf("nothing is stored, want %+v for %v ms", want, life)
		}
	case !sameBits(stored.Tokens, want.Tokens) || !sameBits(stored.Time, want.Time):
		return fmt.Errorf("stored %+v, want %+v", stored, want)
	}
	tr.states[s.key] = stored
	return tr.checkLife(s.ttl, life, took, stored.Exists)
}

// checkLife compares PTTL with the time to live that the limit wants; took is
// how long the step took, in milliseconds.
func (tr *trial) checkLife(ttl *redis.Cmd, want, took float64, exists bool) error {
	got, err := ttl.Int64()
	rounding := want / (1 << 52)
	switch {
	case err != nil:
		return err
	case want >= tr.least && got != -1: // refused: as before
		return fmt.Errorf("PTTL %d although PEXPIRE was refused", got)
	case want >= tr.least, !exists:
		return nil
	case float64(got) > want+1 || float64(got) < want-took-2-rounding:
		return fmt.Errorf("PTTL %d after %.3f ms, want %v", got, took, want)
	}
	return nil
}

// read parses the stored state. C prints NaN with a sign, which ParseFloat
// does not take.
func read(cmd *redis.SliceCmd) (bucket.State, error) {
	fields, err := cmd.Result()
	if err != nil || fields[0] == nil {
		return bucket.State{}, err
	}
	s := bucket.State{Exists: true}
	for i, to := range []*float64{&s.Tokens, &s.Time} {
		word, _ := fields[i].(string)
		if *to, err = strconv.ParseFloat(strings.Replace(word, "-nan", "nan", 1), 64); err != nil {
			return s, err
		}
	}
	return s, nil
}

// sameBits: Redis 8 and Valkey write −0 as 0.
func sameBits(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

func micros(cmd *redis.TimeCmd) float64 { return float64(cmd.Val().UnixMicro()) }

func text(v float64) string { return strings.ToLower(strconv.FormatFloat(v, 'g', -1, 64)) }

func number(allowed bool) int {
	if allowed {
		return 1
	}
	return 0
}

func toAny(words []string) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = w
	}
	return out
}
