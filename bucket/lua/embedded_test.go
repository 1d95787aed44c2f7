package lua_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
)

// The embedded server's Lua is not the real one's. What differs, and is held
// here so that a change is noticed:
//
//   - text with an exponent and no point ("1e-05") is no number to it, so a
//     stored level such as 1e-05 reads as missing: a full bucket;
//   - nor is an integer of 2⁶³ or more, nor "nan" or "inf";
//   - it writes a number with as few digits as read back, the real one with 17
//     (with few too from Redis 8 on); tostring keeps all digits, the real one 14;
//   - PEXPIRE takes 1e17 milliseconds and more, where Redis 7.0 refuses, and
//     wraps around beyond 292 years;
//   - it does not name the command that failed in an error.
//
// Decisions and stored numbers are the same as long as no such number appears
// (TestEmbeddedServerFollowsTheRule); everything else needs a real server.
var differences = []struct{ name, script, real, embedded string }{ // real: "a|b" of old and new servers
	{"a number with a point and an exponent", `return tostring(tonumber("1.5e-05") == 0.000015)`, "true", "true"},
	{"an exponent without a point", `return tostring(tonumber("1e-05"))`, "1e-05", "nil"},
	{"an integer of 2^63", `return tostring(tonumber("9223372036854775808") == 2^63)`, "true", "false"},
	{"not a number", `return tostring(tonumber("nan") ~= nil)`, "true", "false"},
	{"infinity", `return tostring(tonumber("inf") == 1/0)`, "true", "false"},
	{"digits of tostring", `return tostring(1234567890123456)`, "1.2345678901235e+15", "1234567890123456"},
	{"digits of a stored number", `redis.call("SET", KEYS[1], 0.1) return redis.call("GET", KEYS[1])`, "0.10000000000000001|0.1", "0.1"},
	{"a time to live of 1e17 ms", `redis.call("SET", KEYS[1], 1) return tostring(redis.pcall("PEXPIRE", KEYS[1], 1e17) == 1)`, "false|true", "true"},
	{"a time to live of 300 years", `redis.call("SET", KEYS[1], 1) redis.call("PEXPIRE", KEYS[1], 9.4e12) return tostring(redis.call("PTTL", KEYS[1]) > 9.3e12)`, "true", "false"},
	{"a fraction is cut on return", `return 0.9`, "0", "0"},
	{"a negative fraction too", `return -0.5`, "0", "0"},
	{"a missing field is false", `return tostring(redis.call("HMGET", KEYS[1], "a")[1])`, "false", "false"},
}

func TestEmbeddedServerDiffersAsListed(t *testing.T) {
	check := func(r *backend.Redis, want func(i int) string) func(t *testing.T) {
		return func(t *testing.T) {
			for i, d := range differences {
				got, err := r.Client().Eval(t.Context(), d.script, []string{"k" + strconv.Itoa(i)}).Result()
				if n, ok := got.(int64); ok {
					got = strconv.FormatInt(n, 10)
				}
				if text, _ := got.(string); err != nil || !slices.Contains(strings.Split(want(i), "|"), text) {
					t.Errorf("%s: got %v, %v, want %s", d.name, got, err, want(i))
				}
			}
		}
	}
	t.Run("embedded", func(t *testing.T) {
		check(backendtest.Embedded(t), func(i int) string { return differences[i].embedded })(t)
	})
	t.Run("real", func(t *testing.T) {
		check(backendtest.Real(t), func(i int) string { return differences[i].real })(t)
	})
}

func TestEmbeddedServerFollowsTheRule(t *testing.T) {
	r := backendtest.Embedded(t)
	for i, f := range family(t) {
		t.Run(f.Name, func(t *testing.T) {
			tr := &trial{file: f, client: r.Client(), random: rand.New(rand.NewPCG(2, uint64(i))), states: map[string]bucket.State{}, tame: true, least: 1e17}
			tr.rule, _ = f.Rule()
			var err error
			if tr.sha, err = r.Client().ScriptLoad(t.Context(), f.Script).Result(); err != nil {
				t.Fatal(err)
			}
			for tr.steps < 800 && !t.Failed() {
				tr.batch(t, 400)
			}
			if tr.granted == 0 || tr.granted == tr.steps {
				t.Errorf("%d of %d steps granted: the steps miss a case", tr.granted, tr.steps)
			}
		})
	}
}

// unreadable reports that the embedded server stores v as text that it cannot
// read as a number.
func unreadable(v float64) bool {
	s := strconv.FormatFloat(v, 'g', -1, 64)
	return strings.ContainsAny(s, "eIN") && !strings.Contains(s, ".")
}
