package limiterfile_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// A limiter file becomes words to send and decisions to record.
func ExampleParse() {
	f, err := limiterfile.Parse("mine.yaml", []byte(`
name: mine
keys: ["rl:${key}"]
args: [rate, capacity, now_ms]
reply: {allowed: "reply[0] == 1", remaining: "reply[1]"}
source: |
  return {1, 49} -- a limiter that always says yes
`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	limit := bucket.Limit{Rate: 100, Capacity: 50}
	request := bucket.Request{Key: "user-7", Cost: 1, Now: time.UnixMilli(1234)}
	keys, args, err := f.Words(limit, request)
	fmt.Println(f.Time, keys, args, err)
	d, err := f.Decide(limit, request, []any{int64(1), int64(49)})
	fmt.Println(d.Allowed, d.Remaining, err)
	// Output:
	// caller [rl:user-7] [100 50 1234] <nil>
	// true 49 <nil>
}

// A mistake is one line that says where, what and what to do.
func ExampleError() {
	_, err := limiterfile.Parse("mine.yaml", []byte(`
name: mine
grannularity: 1us
`), nil)
	fmt.Println(err)
	// Output:
	// mine.yaml:3:1: unknown field `grannularity` in the limiter file, did you mean `granularity`?
}

// TestReadmeLimiters: what the README shows are limiter files.
func TestReadmeLimiters(t *testing.T) {
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(data), "## Bring your own limiter\n")
	if !found {
		t.Fatal("README.md shows no limiter")
	}
	text, _, _ = strings.Cut(text, "\n## ")
	s, files := compiled(t), 0
	for _, block := range strings.Split(text, "\n\n") {
		if !strings.HasPrefix(block, "    name: ") {
			continue
		}
		files++
		_, err := limiterfile.Parse("README.md", []byte(block), func(string) ([]byte, error) { return []byte("return 1"), nil })
		if err = errors.Join(err, fits(s, block)); err != nil {
			t.Errorf("%s\n%v", block, err)
		}
	}
	if files != 3 {
		t.Errorf("%d limiter files, want a script, a gateway and a program", files)
	}
}
