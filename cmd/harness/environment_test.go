package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
	"bucketproof/bucket/history"
	"bucketproof/reports"
)

// command runs the command in this process.
func command(ctx context.Context, args ...string) (stdout, stderr string, status int) {
	var out, errs bytes.Buffer
	status = report(run(ctx, args, streams{strings.NewReader(""), &out, &errs}), &errs)
	return out.String(), errs.String(), status
}

// url is the address of a server as a user gives it.
func url(r *backend.Redis) string { return "redis://" + r.Info().Address }

// recorded is how many operations a run left on disk.
func recorded(t *testing.T, dir, run string) int {
	t.Helper()
	f, err := history.Open(filepath.Join(dir, run, historyFile), nil, history.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return f.Len()
}

// TestForeignServerIsLeftAsFound: other people's keys are there afterwards as
// before, and ours are gone.
func TestForeignServerIsLeftAsFound(t *testing.T) {
	r := backendtest.Real(t)
	ctx := t.Context()
	theirs := []string{"bp-", "rl:app-clock:somebody", "session:1", "{odd}*[key]?"}
	for _, key := range theirs {
		if err := r.Client().Set(ctx, key, "theirs", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	_, errs, status := command(ctx, "run", "many-keys", "window-edge", "--quick", "--limiter", "app-clock", "--limiter", "control/get-set",
		"--redis", url(r), "--out", t.TempDir())
	if status == statusEnvironment || status == statusUsage {
		t.Fatalf("exit status %d: %s", status, errs)
	}
	left, err := r.Scan(ctx, "*")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(left)
	slices.Sort(theirs)
	if !slices.Equal(left, theirs) {
		t.Errorf("keys afterwards: %q, want %q", left, theirs)
	}
}

// TestServerLostInTheMiddle: exit 4, one line, and what was recorded is kept.
func TestServerLostInTheMiddle(t *testing.T) {
	r := backendtest.Real(t)
	dir := t.TempDir()
	lost := time.AfterFunc(1500*time.Millisecond, func() { _ = r.Stop(context.Background()) })
	defer lost.Stop()
	_, errs, status := command(t.Context(), "run", "long-overload", "--limiter", "redis-time", "--redis", url(r), "--out", dir)
	if status != statusEnvironment {
		t.Errorf("exit status %d, want %d; standard error: %s", status, statusEnvironment, errs)
	}
	last := lastLine(errs)
	if !strings.HasPrefix(last, "harness: ") || !strings.Contains(last, r.Info().Address) {
		t.Errorf("last line of standard error: %q", last)
	}
	if n := recorded(t, dir, "long-overload/redis-time"); n < 10 {
		t.Errorf("%d operations kept, want those of more than a second", n)
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// TestInterruptKeepsWhatWasRecorded: Ctrl-C ends the load, the report says
// undecided, and the exit status is 2.
func TestInterruptKeepsWhatWasRecorded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer time.AfterFunc(1200*time.Millisecond, cancel).Stop()
	dir := t.TempDir()
	_, errs, status := command(ctx, "run", "long-overload", "polite", "--limiter", "memory", "--out", dir)
	if status != statusUndecided {
		t.Errorf("exit status %d, want %d; standard error: %s", status, statusUndecided, errs)
	}
	r, err := reports.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != "undecided" {
		t.Errorf("verdict %s, want undecided", r.Verdict)
	}
	if n := recorded(t, dir, "long-overload/memory"); n < 10 {
		t.Errorf("%d operations kept, want those of a second", n)
	}
}

// TestInterruptWhileStarting: Ctrl-C before anything runs is no failure of the
// environment, whatever it broke off: finding Redis, or the first calls.
func TestInterruptWhileStarting(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	held := backendtest.Real(t)
	for _, tt := range []struct{ name, redis, waits string }{
		{"opening redis", "redis://" + silent.Addr().String(), ""},
		{"probing", url(held), "redis: using"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		dir := filepath.Join(t.TempDir(), "o")
		if tt.waits == "" {
			time.AfterFunc(500*time.Millisecond, cancel)
		}
		errs := &watcher{text: tt.waits, found: func() {
			if err := held.Pause(t.Context(), 2*time.Second); err != nil {
				t.Error(err)
			}
			time.AfterFunc(500*time.Millisecond, cancel)
		}}
		status := report(run(ctx, []string{"run", "atomic-burst", "--limiter", "app-clock", "--redis", tt.redis, "--out", dir}, streams{strings.NewReader(""), io.Discard, errs}), errs)
		if last := lastLine(errs.String()); status != statusUndecided || last != "harness: interrupted; nothing was run yet" {
			t.Errorf("%s: exit status %d, standard error %q", tt.name, status, errs.String())
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: an output folder was made for nothing", tt.name)
		}
	}
}

// watcher is a buffer that calls found once when text was written to it.
type watcher struct {
	bytes.Buffer
	text  string
	found func()
}

func (w *watcher) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if w.text != "" && strings.Contains(w.String(), w.text) {
		w.text = ""
		w.found()
	}
	return n, err
}

// TestFirstCallThatNeverEnds: a limiter that hangs, or takes the server down that
// was started for it, is a bad file, told at its place; a built-in one is not.
func TestFirstCallThatNeverEnds(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(path, []byte("name: "+name+"\ntime: server\n"+text+"\nkeys: [\"k:${key}\"]\nreply: {allowed: reply == 1}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	limit := bucket.Limit{Rate: 1, Capacity: 1}
	for _, tt := range []struct{ name, text, want string }{
		{"endless", "source: while true do end", ":3:1: the limiter did not answer its first call within 10s: "},
		{"blocking", `command: [BLPOP, "k:${key}", "0"]`, ":3:1: the limiter did not answer its first call within 10s: "},
		{"deadly", `command: [PING, "k:${key}"]`, ":3:1: Redis ended while it answered the limiter's first call: redis at 127.0.0.1:"},
	} {
		r := backendtest.Real(t)
		table := newLimiters()
		table.redis = r
		path := write(tt.name, tt.text)
		l, err := table.find(path)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		if tt.name == "deadly" { // as if PING were what kills it
			if err := r.Stop(ctx); err != nil {
				t.Fatal(err)
			}
			err = table.blame(l, io.EOF)
		} else {
			err = table.probe(ctx, l, limit, "k")
		}
		cancel()
		if statusOf(err) != statusUsage || !strings.HasPrefix(err.Error(), path+tt.want) {
			t.Errorf("%s: exit status %d, error %v, want %s", tt.name, statusOf(err), err, tt.want)
		}
		ours, err := table.find("app-clock")
		if err != nil {
			t.Fatal(err)
		}
		if err := table.blame(ours, context.DeadlineExceeded); statusOf(err) != statusEnvironment {
			t.Errorf("built in: exit status %d, error %v, want the environment's", statusOf(err), err)
		}
	}
}

// TestForbiddenCommandsAreTheServers: what a server lacks or forbids to a built-in
// limiter is no file of the user's: exit 4, in one line that says what to allow.
func TestForbiddenCommandsAreTheServers(t *testing.T) {
	r := backendtest.Real(t)
	for _, tt := range []struct{ rule, limiter, want string }{
		{"-evalsha", "app-clock", "let the user call EVALSHA (ACL SETUSER … +evalsha)"},
		{"-hmget", "redis-time", "the server's access rules forbid what line "},
		{"-hmget", "control/deny-charged", "the server's access rules forbid what line "},
		{"-hmget", "control/get-set", "let the user call HMGET (ACL SETUSER … +hmget)"},
	} {
		if err := r.Client().Do(t.Context(), "ACL", "SETUSER", "u", "reset", "on", ">p", "~*", "+@all", tt.rule).Err(); err != nil {
			t.Skipf("this server knows no access rules: %v", err)
		}
		_, errs, status := command(t.Context(), "run", "atomic-burst", "--limiter", tt.limiter, "--redis", "redis://u:p@"+r.Info().Address, "--out", filepath.Join(t.TempDir(), "o"))
		if last := lastLine(errs); status != statusEnvironment || !strings.Contains(last, tt.want) || strings.Contains(last, ".lua:") {
			t.Errorf("%s without %s: exit status %d, last line %q, want %q in it", tt.limiter, tt.rule, status, last, tt.want)
		}
	}
}

// TestWrongPasswordIsOneLine: exit 4, and no password in the line.
func TestWrongPasswordIsOneLine(t *testing.T) {
	r := backendtest.Real(t)
	if err := r.Client().ConfigSet(t.Context(), "requirepass", "right").Err(); err != nil {
		t.Fatal(err)
	}
	for _, login := range []string{"", ":wr0ng@"} {
		_, errs, status := command(t.Context(), "run", "atomic-burst", "--redis", "redis://"+login+r.Info().Address, "--out", filepath.Join(t.TempDir(), "o"))
		if status != statusEnvironment || strings.Count(errs, "\n") != 1 || strings.Contains(errs, "wr0ng") || !strings.Contains(errs, "password") {
			t.Errorf("login %q: exit status %d, standard error %q", login, status, errs)
		}
	}
}

// TestFullDiskIsTold: exit 4 with the file's name.
func TestFullDiskIsTold(t *testing.T) {
	dir := t.TempDir()
	if err := smallDisk(dir); err != nil {
		t.Skipf("no small disk can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = unmount(dir) })
	_, errs, status := command(t.Context(), "run", "same-tick", "--limiter", "memory", "--out", filepath.Join(dir, "o"))
	last := lastLine(errs)
	if status != statusEnvironment || !strings.Contains(last, "no space left") || !strings.Contains(last, dir) {
		t.Errorf("exit status %d, last line of standard error %q", status, last)
	}
}

// TestUnwritableFolderIsToldAtOnce: before Redis is started and anything runs, in
// one line, and nothing is left behind.
func TestUnwritableFolderIsToldAtOnce(t *testing.T) {
	dir := t.TempDir()
	switch err := readOnlyDisk(dir); {
	case err == nil:
		t.Cleanup(func() { _ = unmount(dir) })
	case os.Geteuid() == 0:
		t.Skipf("root may write everywhere, and no read-only disk can be mounted here: %v", err)
	default:
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
	}
	for _, out := range []string{dir, filepath.Join(dir, "a", "b")} {
		for _, args := range [][]string{
			{"run", "atomic-burst", "--limiter", "app-clock", "--redis", "embedded", "--out", out},
			{"selftest", "--redis", "embedded", "--out", out},
			{"capacity", "--redis", "embedded", "--out", out},
			{"check", "no-such-history", "--rate", "1", "--capacity", "1", "--out", out},
		} {
			stdout, stderr, status := command(t.Context(), args...)
			if status != statusEnvironment || stdout != "" || strings.Count(stderr, "\n") != 1 ||
				!strings.HasPrefix(stderr, "harness: output folder "+out+" cannot be written, name another with --out: ") {
				t.Errorf("%v: exit status %d, standard output %q, standard error %q", args, status, stdout, stderr)
			}
		}
	}
}

// TestFileInPlaceOfTheFolderIsAMistake: what cannot be a folder is named wrongly,
// exit 3 of every command in the same words, and the file stays.
func TestFileInPlaceOfTheFolderIsAMistake(t *testing.T) {
	file := filepath.Join(t.TempDir(), "somebody.txt")
	if err := os.WriteFile(file, []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{file, filepath.Join(file, "x"), filepath.Join(file, "x", "y")} {
		want := "harness: output folder " + out + ": open " + out + ": not a directory, name another with --out\n"
		for _, args := range [][]string{
			{"run", "atomic-burst", "--limiter", "memory"}, {"selftest", "--redis", "embedded"}, {"capacity", "--redis", "embedded"},
			{"check", "no-such-history", "--rate", "1", "--capacity", "1"},
		} {
			stdout, stderr, status := command(t.Context(), append(args, "--out", out)...)
			if status != statusUsage || stdout != "" || stderr != want {
				t.Errorf("%v: exit status %d, standard output %q, standard error %q, want %q", args, status, stdout, stderr, want)
			}
		}
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "theirs" {
		t.Errorf("%q, %v", data, err)
	}
}

// TestTryWritingLeavesNothing: neither a file nor a folder, and what was there stays.
func TestTryWritingLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept")
	if err := os.Mkdir(kept, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{kept, filepath.Join(kept, "a", "b"), filepath.Join(dir, "c", "..", "d")} {
		if err := tryWriting(out); err != nil {
			t.Errorf("%s: %v", out, err)
		}
	}
	var left []string
	if err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		left = append(left, path)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if want := []string{dir, kept}; !slices.Equal(left, want) {
		t.Errorf("left %q, want %q", left, want)
	}
}

// TestFirstOfTwo: the first error comes first, and the second is told apart.
func TestFirstOfTwo(t *testing.T) {
	first, then := errors.New("redis is gone"), errors.New("disk full")
	if got := firstOfTwo(nil, then); got != then {
		t.Errorf("got %v, want the only one", got)
	}
	got := firstOfTwo(first, then).Error()
	if want := "redis is gone; after that the report could not be written either: disk full"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := oneLine(errors.Join(first, then).Error()), "redis is gone; disk full"; got != want {
		t.Errorf("joined errors in a line: %q, want %q", got, want)
	}
}

// TestDamagedHistoryIsABadFile: exit 3, in one line, for a packed history that was
// cut off and for a folder.
func TestDamagedHistoryIsABadFile(t *testing.T) {
	dir := t.TempDir()
	if _, errs, status := command(t.Context(), "run", "window-edge", "--limiter", "memory", "--out", dir); status == statusEnvironment || status == statusUsage {
		t.Fatalf("exit status %d: %s", status, errs)
	}
	path := filepath.Join(dir, "window-edge", "memory", historyFile)
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, data[:len(data)/2], 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"check", path}, "harness: " + path + ":"},
		{[]string{"check", dir}, "harness: read history " + dir + ": it is a folder, name a history in it"},
	} {
		_, errs, status := command(t.Context(), tt.args...)
		if status != statusUsage || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, tt.want) {
			t.Errorf("%v: exit status %d, standard error %q, want %q in it", tt.args, status, errs, tt.want)
		}
	}
}

// TestPrintable: what a terminal only shows stays as it is.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"key ü, 1.5 µs – “x” ☃": "key ü, 1.5 µs – “x” ☃",
		"\x1b[31mred":           `\x1b[31mred`,
		"a\x07\tb\u202ec":       `a\a\tb\u202ec`,
		"half \xe2\x98 rune":    `half \xe2\x98 rune`,
		"\ufffd is one itself":  "\ufffd is one itself",
		"\u009b31m":             `\u009b31m`,
	} {
		if got := printable(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestJSONIsTheReport: standard output is results.json and nothing else.
func TestJSONIsTheReport(t *testing.T) {
	dir := t.TempDir()
	out, _, _ := command(t.Context(), "run", "window-edge", "--limiter", "memory", "--out", dir, "--format", "json")
	file, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	if out != string(file) {
		t.Error("standard output differs from results.json")
	}
	if !json.Valid([]byte(out)) {
		t.Error("standard output is no JSON")
	}
}

// TestStatusOf: the mark on an error decides, then its kind.
func TestStatusOf(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want int
	}{
		{usagef("x"), statusUsage},
		{environment(usagef("x")), statusEnvironment},
		{verdictStatus("fail"), statusFail},
		{verdictStatus("undecided"), statusUndecided},
		{backend.ErrUsage, statusUsage},
		{errors.New("anything else"), statusEnvironment},
	} {
		if got := statusOf(tt.err); got != tt.want {
			t.Errorf("status of %v is %d, want %d", tt.err, got, tt.want)
		}
	}
	if verdictStatus("pass") != nil {
		t.Error("a pass is an error")
	}
}
