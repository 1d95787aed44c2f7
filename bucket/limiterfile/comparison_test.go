package limiterfile_test

import (
	"errors"
	"testing"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// TestComparisonsThatNeverHold: what is never true is no denial, it is a mistake.
func TestComparisonsThatNeverHold(t *testing.T) {
	const (
		element = "which it never equals; compare one of its elements, as in `reply[0] == 1`"
		convert = "which it never equals; write both as text, or convert it, as in `float(reply) == 1`"
		truth   = "which it never equals; compare it with true or false; of a script true arrives as 1, and false as nil"
		field   = "which it never equals; compare one of its fields, as in `reply['allowed'] == 1`"
	)
	tests := []struct {
		allowed string
		value   any
		want    string // "": no mistake
	}{
		{"reply == 1", []any{int64(1), int64(9)}, "f.yaml:5:25: allowed: a list is compared with the number 1, " + element},
		{"reply != 1", []any{int64(1)}, "f.yaml:5:25: allowed: a list is compared with the number 1, " + element},
		{"1 == reply", []any{int64(1)}, "f.yaml:5:21: allowed: a list is compared with the number 1, " + element},
		{"reply == 'OK'", []any{"OK"}, "f.yaml:5:25: allowed: a list is compared with the text \"OK\", " + element},
		{"cost > 0 && reply == 1", []any{int64(1)}, "f.yaml:5:37: allowed: a list is compared with the number 1, " + element},
		{"reply[0] == 1", []any{[]any{int64(1)}}, "f.yaml:5:28: allowed: a list is compared with the number 1, " + element},
		{"reply in [1, 2]", []any{int64(1)}, "f.yaml:5:25: allowed: a list is compared with the number 1, " + element},
		{"reply == 1", map[any]any{"ok": int64(1)}, "f.yaml:5:25: allowed: a mapping is compared with the number 1, " + field},
		{"reply == 1", "1", "f.yaml:5:25: allowed: the text \"1\" is compared with the number 1, " + convert},
		{"reply == '1'", int64(0), "f.yaml:5:25: allowed: the text \"1\" is compared with the number 0, " + convert},
		{"reply[0] == 1", []any{"0"}, "f.yaml:5:28: allowed: the text \"0\" is compared with the number 1, " + convert},
		{"reply == true", int64(1), "f.yaml:5:25: allowed: the boolean true is compared with the number 1, " + truth},
		{"reply == 'true'", true, "f.yaml:5:25: allowed: the text \"true\" is compared with the boolean true, " + convert},
		{"reply[0] == 1", []any{errors.New("ERR x")}, "f.yaml:5:28: allowed: the error \"ERR x\" is compared with the number 1, which it never equals; compare what is a number, a text or a boolean"},

		{"reply == nil", []any{int64(1)}, ""},
		{"reply != nil", int64(1), ""},
		{"reply == 1", nil, ""},
		{"reply == 'OK'", nil, ""},
		{"reply == 1", "denied", ""},
		{"reply == 'OK'", int64(0), ""},
		{"reply == 1.0", int64(1), ""},
		{"reply == [1, 2]", []any{int64(1), int64(2)}, ""},
		{"reply in [1, 'OK']", "OK", ""},
		{"reply in [1, 2]", nil, ""},
		{"reply in []", int64(1), ""},
		{"reply == 1 or reply == true", true, ""},
		{"reply == '1' || reply == 1", int64(0), ""},
		{"reply in [1, 2] or not (reply == 'OK')", []any{int64(1)}, ""},
		{"(reply == 1 or reply == 2) and reply == '1'", int64(1), "f.yaml:5:56: allowed: the text \"1\" is compared with the number 1, " + convert},
		{"any(reply, # == 'OK')", []any{int64(1), "OK"}, ""},
		{"len(reply) == 2 ? reply[0] == 1 : reply[0] == 'OK'", []any{"OK"}, ""},
	}
	for _, tt := range tests {
		f := file(t, with("reply: {allowed: \""+tt.allowed+"\"}"))
		_, err := f.Decide(bucket.Limit{Rate: 1, Capacity: 5}, bucket.Request{Key: "k", Cost: 1}, tt.value)
		var e *limiterfile.Error
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s of %v: %v", tt.allowed, tt.value, err)
		case tt.want != "" && (!errors.As(err, &e) || e.Error() != tt.want):
			t.Errorf("%s of %v:\n got %v\nwant %s", tt.allowed, tt.value, err, tt.want)
		}
	}
}
