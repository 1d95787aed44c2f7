package lua_test

import (
	"strings"
	"testing"

	"bucketproof/bucket/lua"

	"pgregory.net/rapid"
)

func TestSequenceKeys(t *testing.T) {
	for key, want := range map[string]string{
		"rl:ab12:1:0":       "{rl:ab12:1:0}:bucketproof-seq",
		"rl:{ab12:1}:0":     "rl:{ab12:1}:0:bucketproof-seq",
		"{fixed}:ab12":      "{fixed}:ab12:bucketproof-seq", // other buckets have the same tag
		"a{b":               "{a{b}:bucketproof-seq",
		"x{tag}y{other}":    "x{tag}y{other}:bucketproof-seq",
		"":                  ":yo9:bucketproof-seq",
		"rl:{}:ab12":        "rl:{}:ab12:1ua:bucketproof-seq",
		"rl:}ab12{":         "rl:}ab12{:10u:bucketproof-seq",
		"\u00e9:\x00:ab12}": "\u00e9:\x00:ab12}:aun:bucketproof-seq",
	} {
		if got := lua.SequenceKey(key); got != want {
			t.Errorf("%q is counted by %q, want %q", key, got, want)
		}
	}
	for _, name := range []string{"rl:seq", "{rl}:seq", "rl:bucketproof-seq:1", ""} {
		if lua.IsSequenceKey(name) {
			t.Errorf("%q is taken for a sequence key", name)
		}
	}
}

// TestSequenceKeysLieBesideTheirKeys: in the same slot, with the key's text, no
// two keys with one name.
func TestSequenceKeysLieBesideTheirKeys(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"{", "}", "{}", "a", "rl:", "ab12:1:0", ":", "{x}", "\x00", "\u00e9"})
	rapid.Check(t, func(t *rapid.T) {
		key := strings.Join(rapid.SliceOfN(pieces, 0, 6).Draw(t, "pieces"), "")
		other := strings.Join(rapid.SliceOfN(pieces, 0, 6).Draw(t, "other"), "")
		name := lua.SequenceKey(key)
		if lua.SlotOf(name) != lua.SlotOf(key) || !strings.Contains(name, key) || !lua.IsSequenceKey(name) {
			t.Errorf("%q is counted by %q: slots %d and %d", key, name, lua.SlotOf(key), lua.SlotOf(name))
		}
		if key != other && lua.SequenceKey(other) == name {
			t.Errorf("%q and %q are both counted by %q", key, other, name)
		}
		if again := lua.SequenceKey(key); again != name {
			t.Errorf("%q is counted by %q and by %q", key, name, again)
		}
	})
}

// TestSlots holds the slots against the cluster specification's examples.
func TestSlots(t *testing.T) {
	for key, want := range map[string]uint16{
		"123456789": 0x31c3 % 16384, "foo": 12182, "{user1000}.following": lua.SlotOf("user1000"),
		"foo{}{bar}": lua.SlotOf("foo{}{bar}"), "foo{{bar}}zap": lua.SlotOf("{bar"), "foo{bar}{zap}": lua.SlotOf("bar"), "": 0,
	} {
		if got := lua.SlotOf(key); got != want {
			t.Errorf("%q is in slot %d, want %d", key, got, want)
		}
	}
}
