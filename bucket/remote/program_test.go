package remote_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
	"bucketproof/bucket/limitertest"
	"bucketproof/bucket/remote"
)

var limit = bucket.Limit{Rate: 20, Capacity: 10}

// parse reads a limiter file that lies in dir.
func parse(t testing.TB, dir, text string) *limiterfile.File {
	t.Helper()
	f, err := limiterfile.Parse(filepath.Join(dir, "limiter.yaml"), []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// program is this test binary as a limiter that behaves in a certain way.
func program(t testing.TB, behaviour string) *remote.Program {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f := parse(t, ".", fmt.Sprintf("name: mine\nexec: [%q, program, %q]\n", self, behaviour))
	p, err := remote.NewProgram(f, remote.Environment{RedisURL: "redis://127.0.0.1:1", Instance: "app-1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// patience is more than a program takes that answers at all.
const patience = 20 * time.Second

func take(t testing.TB, l bucket.Limiter, patience time.Duration) (bucket.Decision, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return l.Take(ctx, limit, bucket.Request{ID: "r", Key: "k", Cost: 1, Now: time.UnixMilli(1234)})
}

func TestProgramConforms(t *testing.T) {
	t.Parallel()
	for _, behaviour := range []string{"bucket", "shuffled"} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			limitertest.Run(t, func(t *testing.T) bucket.Limiter { return program(t, behaviour) }, limitertest.Options{Costs: true})
		})
	}
}

func TestAnswersInAnyOrderFindTheirQuestions(t *testing.T) {
	p := program(t, "shuffled")
	var wg sync.WaitGroup
	for i := range 400 {
		wg.Go(func() {
			// Of a bucket of its own, the first request leaves capacity − cost.
			cost := float64(1 + i%9)
			d, err := p.Take(t.Context(), limit, bucket.Request{Key: fmt.Sprint("k", i), Cost: cost})
			if err != nil || !d.Allowed || d.Remaining != limit.Capacity-cost {
				t.Errorf("request %d: %+v, %v; want %v remaining", i, d, err, limit.Capacity-cost)
			}
		})
	}
	wg.Wait()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestProgramIsToldTheLimitAndWhoAsks(t *testing.T) {
	p := program(t, "environment")
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Take(t.Context(), bucket.Limit{Rate: 1e-7, Capacity: 1e21}, bucket.Request{Key: `a"b`, Cost: 2.5, Now: time.UnixMilli(-1)})
	want := "limiter mine: limiter.yaml:2:1: the program answers with an error: 0.0000001 1000000000000000000000 redis://127.0.0.1:1 app-1 " + dir + ` a"b 2.5 -1`
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	if _, err := p.Take(t.Context(), limit, bucket.Request{Key: "k", Cost: 1}); !errors.Is(err, bucket.ErrLimit) {
		t.Errorf("under another limit: %v", err)
	}
}

// TestPasswordsAreNotRepeated: a program is told how to reach Redis, and what it
// says of that is for others to see.
func TestPasswordsAreNotRepeated(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, behaviour := range []string{"environment", "tells its environment"} {
		f := parse(t, ".", fmt.Sprintf("name: mine\nexec: [%q, program, %q]\n", self, behaviour))
		p, err := remote.NewProgram(f, remote.Environment{RedisURL: "redis://me:s%2Fcret@127.0.0.1:1/3"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = take(t, p, patience)
		if err == nil || strings.Contains(err.Error(), "cret") || !strings.Contains(err.Error(), "redis://me:…@127.0.0.1:1/3") {
			t.Errorf("%s: %v", behaviour, err)
		}
		_ = p.Close()
	}
}

func TestWhatAnAnswerTells(t *testing.T) {
	d, err := take(t, program(t, "number"), patience)
	want := bucket.Decision{Remaining: 0.5, RetryAfter: 10100 * time.Microsecond}
	if err != nil || d != want {
		t.Errorf("got %+v, %v; want %+v", d, err, want)
	}
	d, err = take(t, program(t, "silent"), patience)
	if err != nil || !d.Allowed || !math.IsNaN(d.Remaining) || d.RetryAfter >= 0 {
		t.Errorf("got %+v, %v; want nothing told", d, err)
	}
}

// TestProgramsThatMisbehave: after two right answers comes something else. The
// question it is the answer to has an unknown outcome, and what is asked after it
// is not sent where the program cannot be trusted any more.
func TestProgramsThatMisbehave(t *testing.T) {
	const never = 300 * time.Millisecond
	tests := []struct {
		behaviour string
		patience  time.Duration
		want      string
		goesOn    bool // it is asked again, and is as unknown
	}{
		{"exits", patience, "the program ended (exit status 3); last on its standard error: Error: it broke", false},
		{"garbage", patience, `the program printed "connected to the database": this is no JSON object; its standard output is for answers alone, as in {"id":"1","allowed":true}`, false},
		{"no id", patience, `the program printed "{\"allowed\":true}": it has no ` + "`id`", false},
		{"other type", patience, "`allowed` is a JSON number, want true or false", false},
		{"unknown id", patience, `the program answered question 77, which was not asked: "{\"id\":\"77\",\"allowed\":true}"`, false},
		{"id of its own", patience, "nothing was asked under this `id`", false},
		{"longest line", patience, "the program printed a line of more than 1048576 bytes; its standard output is for answers alone", false},
		{"shuts its output", patience, "the program closed its standard output and runs on", false},
		{"silent", never, "the program did not answer in time; last on its standard error: thinking: context deadline exceeded", true},
		{"reads no more", never, "the program did not answer in time: context deadline exceeded", true},
		{"no decision", patience, "the program's answer says neither `allowed` nor `error`; write {\"id\": …, \"allowed\": true} or false", true},
		{"errors", patience, "the program answers with an error: no connection", true},
	}
	for _, tt := range tests {
		t.Run(tt.behaviour, func(t *testing.T) {
			t.Parallel()
			p := program(t, tt.behaviour)
			for range 2 {
				if d, err := take(t, p, patience); err != nil || !d.Allowed {
					t.Fatalf("a right answer: %+v, %v", d, err)
				}
			}
			for i := range 2 {
				d, err := take(t, p, tt.patience)
				if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("call %d:\n got %v\nwant …%s…", i, err, tt.want)
				}
				if unsent := i > 0 && !tt.goesOn; errors.Is(err, bucket.ErrUnsent) != unsent || d.Allowed {
					t.Errorf("call %d: %+v, %v; want unsent %v", i, d, err, unsent)
				}
			}
		})
	}
}

func TestSecondAnswerEndsTheConversation(t *testing.T) {
	p := program(t, "twice")
	var err error
	for range 1000 { // the second answer may come after the next question was written
		if _, err = take(t, p, patience); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "the program answered question 3 a second time") {
		t.Errorf("got %v", err)
	}
}

func TestNothingIsWrittenToClosedInput(t *testing.T) {
	p := program(t, "shuts its input")
	for range 2 {
		if _, err := take(t, p, patience); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := take(t, p, 300*time.Millisecond); err == nil || errors.Is(err, bucket.ErrUnsent) {
		t.Errorf("what it read before: %v, want unknown", err)
	}
	if _, err := take(t, p, patience); !errors.Is(err, bucket.ErrUnsent) || !strings.Contains(err.Error(), "does not read its standard input any more and runs on") {
		t.Errorf("what nobody can read: %v, want unsent", err)
	}
}

// TestWhatWaitsForThePipeIsTakenBack: once the pipe is full, questions wait for it,
// and those whose callers gave up are never written.
func TestWhatWaitsForThePipeIsTakenBack(t *testing.T) {
	p := program(t, "reads no more")
	for range 2 {
		if _, err := take(t, p, patience); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	var mu sync.Mutex
	unsent, unknown := 0, 0
	for i := range 3000 { // a pipe holds 64 KiB, and a question here has 130 bytes
		wg.Go(func() {
			_, err := p.Take(ctx, limit, bucket.Request{Key: strings.Repeat("k", 100), Cost: 1})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, bucket.ErrUnsent):
				unsent++
			case err != nil:
				unknown++
			default:
				t.Errorf("request %d was answered", i)
			}
		})
	}
	wg.Wait()
	if unsent == 0 || unknown == 0 {
		t.Errorf("%d unsent, %d unknown; want some of each", unsent, unknown)
	}
}

func TestFloodOfMessagesHoldsNothingUp(t *testing.T) {
	p := program(t, "floods")
	for range 3 {
		if d, err := take(t, p, patience); err != nil || !d.Allowed {
			t.Fatalf("%+v, %v", d, err)
		}
	}
}

func TestEndOfInputEndsTheProgram(t *testing.T) {
	t.Parallel()
	p := program(t, "bucket")
	if _, err := take(t, p, patience); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error("the second time:", err)
	}
	if _, err := take(t, p, patience); !errors.Is(err, bucket.ErrUnsent) {
		t.Errorf("after Close: %v", err)
	}
	stays := program(t, "stays")
	if _, err := take(t, stays, patience); err != nil {
		t.Fatal(err)
	}
	err := stays.Close()
	if err == nil || !strings.Contains(err.Error(), "the program did not end within 2s of its input's end and was killed; last on its standard error: and yet it stays") {
		t.Errorf("one that stays: %v", err)
	}
}

// TestProgramsThatDoNotStart: the place is that of `exec`, and nothing was sent.
func TestProgramsThatDoNotStart(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"plain.txt": 0o600, "noshebang": 0o700, "nowhere": 0o700} {
		text := "{}\n"
		if name == "nowhere" {
			text = "#!/nonexistent/shell\n"
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ exec, want string }{
		{"[no-such-program-anywhere]", "is it installed, and on PATH?"},
		{"[./nosuch]", "a path counts from this file's folder"},
		{"[./nowhere]", "the program that a script's first line names must be there too"},
		{"[./plain.txt]", "make it executable (chmod +x)"},
		{"[./noshebang]", "name the program that runs it, as in [python3, limiter.py]"},
	}
	for _, tt := range tests {
		p, err := remote.NewProgram(parse(t, dir, "name: mine\nexec: "+tt.exec+"\n"), remote.Environment{})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			_, err = take(t, p, patience)
			var mistake *limiterfile.Error
			if !errors.Is(err, bucket.ErrUnsent) || !errors.As(err, &mistake) || mistake.Line != 2 || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v, want …%s", tt.exec, err, tt.want)
			}
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	p := program(t, "exits at once")
	_, err := take(t, p, patience)
	if err == nil || !strings.Contains(err.Error(), "the program ended (exit status 1); last on its standard error: ModuleNotFoundError: No module named 'redis'") {
		t.Errorf("one that ends at once: %v", err)
	}
}

func TestOtherKindsAreRefused(t *testing.T) {
	f := parse(t, ".", "name: mine\nsource: return 1\nkeys: [\"${key}\"]\nreply: {allowed: reply == 1}\n")
	if _, err := remote.NewProgram(f, remote.Environment{}); err == nil || err.Error() != "limiter.yaml:2:1: a limiter of kind `source` is no program" {
		t.Errorf("got %v", err)
	}
	if _, err := remote.NewGateway(f); err == nil || err.Error() != "limiter.yaml:2:1: a limiter of kind `source` is not asked over HTTP" {
		t.Errorf("got %v", err)
	}
}
