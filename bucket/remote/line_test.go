package remote

import (
	"strings"
	"testing"
	"time"

	"bucketproof/bucket"
)

func TestLine(t *testing.T) {
	got, err := line(7, bucket.Request{ID: "r", Key: "a\"b\n", Cost: 2.5, Now: time.UnixMilli(1764600000123).Add(999 * time.Microsecond)})
	want := `{"id":"7","key":"a\"b\n","cost":2.5,"now_ms":1764600000123}` + "\n"
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

// FuzzParseAnswer: whatever a program prints, it is an answer with a number or an
// error of one line.
func FuzzParseAnswer(f *testing.F) {
	for _, text := range []string{
		`{"id":"7","allowed":true}`, `{"id":7,"allowed":false,"remaining":1e3,"retry_after":0.5}`, `{"id":"7","error":"x"}`,
		`{"id":"7","allowed":1}`, `{"id":null}`, `{"id":{}}`, `{"id":"-1"}`, `{"id":"\"7\""}`, `[]`, `null`, `"x"`, ``, "\xff", `{"id":"7"} {"id":"8"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		n, a, err := parseAnswer(text)
		switch {
		case err != nil && (strings.ContainsAny(err.Error(), "\r\n") || n != 0 || a.Allowed != nil):
			t.Errorf("%q: %d, %+v, %v", text, n, a, err)
		case err == nil && a.Allowed == nil && a.Error == nil && !strings.Contains(string(text), "id"):
			t.Errorf("%q is an answer to %d", text, n)
		}
	})
}
