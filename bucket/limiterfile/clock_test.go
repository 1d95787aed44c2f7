package limiterfile_test

import (
	"path/filepath"
	"testing"

	"bucketproof/bucket/limiterfile"
)

// TestClockThatIsNotTheOneSaid: what is sent and what `time` says belong together,
// as far as the file tells.
func TestClockThatIsNotTheOneSaid(t *testing.T) {
	const (
		untold = "`time` is caller, but nothing that is sent tells the caller's clock; add now_ms or the like, or write `time: server`"
		told   = "`time` is server, but the caller's clock is sent as well (now_ms); if the limiter goes by it, write `time: caller`"
	)
	const command = "name: c\ncommand: [X, \"${key}\"]\nreply: {allowed: reply == 1}\n"
	tests := []struct{ name, file, want string }{
		{"sent and said", with("time: caller"), ""},
		{"neither sent nor said", with("args: [rate, capacity]"), ""},
		{"sent and not said", with(), ""},
		{"server, not sent", with("time: server", "args: [rate, capacity]"), ""},
		{"server, sent", with("time: server"), "f.yaml:6:1: " + told},
		{"server, sent within an expression", with("args: [\"string(now_ms / 1000)\"]", "time: server"), "f.yaml:6:1: " + told},
		{"server, two units", with("args: [now_s, now_us]", "time: server"),
			"f.yaml:6:1: `time` is server, but the caller's clock is sent as well (now_s, now_us); if the limiter goes by it, write `time: caller`"},
		{"server, read in the reply alone", with("args: [rate]", "time: server", "reply: {allowed: reply > now_ms}"), ""},
		{"caller, not sent", with("time: caller", "args: [rate, capacity]"), "f.yaml:6:1: " + untold},
		{"caller, read in the reply alone", with("args: [rate]", "time: caller", "reply: {allowed: reply > now_ms}"), "f.yaml:6:1: " + untold},
		{"caller, in a key", with("args: [rate]", "time: caller", `keys: ["rl:${key}:${now_s}"]`), ""},
		{"caller, command without", "time: caller\n" + command, "f.yaml:1:1: " + untold},
		{"http", "name: h\ntime: caller\nhttp: {url: \"http://x/${key}\"}\nreply: {allowed: status == 200}\n", ""},
		{"http, sent", "name: h\ntime: server\nhttp: {url: \"http://x/${key}?${now_ms}\"}\nreply: {allowed: status == 200}\n", ""},
		{"exec", "name: e\ntime: server\nexec: [./limiter]\n", ""},
	}
	for _, tt := range tests {
		got := ""
		if doubt := file(t, tt.file).Doubt; doubt != nil {
			got = doubt.Error()
		}
		if got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// TestFilesOfThisTreeLeaveNoDoubt: what users are shown has no warning.
func TestFilesOfThisTreeLeaveNoDoubt(t *testing.T) {
	looked := 0
	for _, pattern := range []string{"../lua/scripts/*.yaml", "../lua/testdata/cases/*.yaml", "../remote/examples/*.yaml", "../../cmd/harness/testdata/*/*.yaml"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			f, err := limiterfile.Load(name)
			if err != nil {
				continue // no limiter file, or one that is not whole
			}
			looked++
			if f.Doubt != nil {
				t.Error(f.Doubt)
			}
		}
	}
	if looked < 20 {
		t.Errorf("%d files were looked at", looked)
	}
}
