package limiterfile_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestDecide(t *testing.T) {
	yes, no := bucket.Untold(true), bucket.Untold(false)
	told := func(allowed bool, remaining float64, wait time.Duration) bucket.Decision {
		return bucket.Decision{Allowed: allowed, Remaining: remaining, RetryAfter: wait}
	}
	const whole = `{allowed: "reply[0] == 1", remaining: "reply[1]", retry_after: "float(reply[2]) / 1000"}`
	tests := []struct {
		reply string
		value any
		want  bucket.Decision
	}{
		{`{allowed: reply == 1}`, int64(1), yes},
		{`{allowed: reply == 1}`, int64(0), no},
		{`{allowed: reply == 1}`, 1.0, yes},
		{`{allowed: reply == 'OK'}`, "OK", yes},
		{`{allowed: reply == nil}`, nil, yes},
		{`{allowed: reply != nil}`, nil, no},
		{`{allowed: reply}`, true, yes},
		{`{allowed: reply.ok}`, map[any]any{"ok": true}, yes},
		{`{allowed: "reply['ok'] == 1"}`, map[any]any{"ok": int64(1)}, yes},
		{`{allowed: "len(reply) == 2"}`, []any{int64(1), "a"}, yes},
		{`{allowed: reply <= capacity}`, int64(3), yes},
		{`{allowed: reply >= cost}`, int64(0), no},
		{whole, []any{int64(1), int64(7), "250"}, told(true, 7, 250*time.Millisecond)},
		{whole, []any{int64(0), int64(0), int64(1)}, told(false, 0, time.Millisecond)},
		{whole, []any{int64(0), nil, int64(-1)}, no},
		{whole, []any{int64(0), -0.5, "0"}, told(false, -0.5, 0)},
		{`{allowed: reply == 1, retry_after: "1e300"}`, int64(0), told(false, math.NaN(), math.MaxInt64)},
		{`{allowed: reply == 1, retry_after: nil}`, int64(1), yes},
		{`{allowed: reply == 1, denied: reply == 0}`, int64(0), no},
	}
	for _, tt := range tests {
		f := file(t, with("reply: "+tt.reply))
		got, err := f.Decide(bucket.Limit{Rate: 1, Capacity: 5}, bucket.Request{Key: "k", Cost: 1}, tt.value)
		if err != nil {
			t.Errorf("%s of %v: %v", tt.reply, tt.value, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s of %v: %s", tt.reply, tt.value, diff)
		}
	}
}

func TestAnswersThatCannotBeReadAreErrors(t *testing.T) {
	tests := []struct {
		reply string
		value any
		want  string
	}{
		{`{allowed: "reply[3] == 1"}`, []any{int64(1)}, "f.yaml:5:24: allowed: index out of range: 3 (array length is 1)"},
		{`{allowed: "reply[0] == 1"}`, int64(1), "f.yaml:5:24: allowed: cannot fetch 0 from int64"},
		{`{allowed: "reply[0] == 1"}`, nil, "f.yaml:5:24: allowed: cannot fetch 0 from <nil>"},
		{`{allowed: reply}`, int64(1), "f.yaml:5:18: allowed is the number 1, want true or false; compare it, as in `reply == 1`"},
		{`{allowed: reply}`, nil, "f.yaml:5:18: allowed is nil, want true or false; compare it, as in `reply == 1`"},
		{`{allowed: reply}`, errors.New("ERR x"), "f.yaml:5:18: allowed is the error \"ERR x\", want true or false; compare it, as in `reply == 1`"},
		{`{allowed: reply > 1}`, "x", "f.yaml:5:24: allowed: invalid operation: string > int"},
		{`{allowed: true, remaining: reply}`, "5", "f.yaml:5:35: remaining is the text \"5\", want a number; convert it, as in `float(reply[1])`"},
		{`{allowed: true, remaining: reply}`, []any{}, "f.yaml:5:35: remaining is a list, want a number; convert it, as in `float(reply[1])`"},
		{`{allowed: true, retry_after: reply}`, true, "f.yaml:5:37: retry_after is the boolean true, want a number; convert it, as in `float(reply[1])`"},
		{`{allowed: true, retry_after: float(reply)}`, "soon", `f.yaml:5:37: retry_after: invalid operation: float(soon)`},
		{`{allowed: reply == 1, denied: reply == 0}`, int64(2), "f.yaml:5:38: the answer (the number 2) is neither allowed nor denied"},
		{`{allowed: reply > 0, denied: reply > 1}`, int64(2), "f.yaml:5:37: the answer (the number 2) is both allowed and denied"},
	}
	for _, tt := range tests {
		f := file(t, with("reply: "+tt.reply))
		d, err := f.Decide(bucket.Limit{Rate: 1, Capacity: 5}, bucket.Request{Key: "k", Cost: 1}, tt.value)
		var e *limiterfile.Error
		if !errors.As(err, &e) || e.Error() != tt.want {
			t.Errorf("%s of %v:\n got %v\nwant %s", tt.reply, tt.value, err, tt.want)
		}
		if d.Allowed {
			t.Errorf("%s of %v: an error came with a grant", tt.reply, tt.value)
		}
	}
}

func TestDecideHTTP(t *testing.T) {
	f := file(t, `name: gate
time: server
http: {method: POST, url: "http://localhost/${key}", headers: {x-cost: "${cost}"}, body: "n=${cost}"}
reply:
  allowed: status == 200
  denied: status == 429
  remaining: fromJSON(body).left
  retry_after: float(headers["Retry-After"])
`)
	got, err := f.DecideHTTP(bucket.Limit{}, bucket.Request{}, limiterfile.Response{
		Status: 429, Headers: map[string]string{"Retry-After": "2"}, Body: `{"left": 3}`})
	want := bucket.Decision{Remaining: 3, RetryAfter: 2 * time.Second}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	_, err = f.DecideHTTP(bucket.Limit{}, bucket.Request{}, limiterfile.Response{Status: 503})
	if err == nil || !strings.HasSuffix(err.Error(), "the answer (status 503) is neither allowed nor denied") {
		t.Errorf("status 503: %v", err)
	}
	body, err := f.Gateway.Body.Text(bucket.Limit{}, bucket.Request{Cost: 2})
	if err != nil || body != "n=2" {
		t.Errorf("body %q, %v", body, err)
	}
	if f.Gateway.Method != "POST" || f.Gateway.Headers[0].Name != "X-Cost" || !f.UsesCost {
		t.Errorf("got %+v", f.Gateway)
	}
}
