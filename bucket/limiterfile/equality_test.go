package limiterfile_test

import (
	"errors"
	"fmt"
	"testing"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// TestEqualitiesAreWhatTheyAreWritten: an equality that needs no virtual
// machine says of every reply what the same said otherwise says, its errors
// included.
func TestEqualitiesAreWhatTheyAreWritten(t *testing.T) {
	replies := []any{
		int64(1), int64(0), int64(-1), int64(1 << 60), 1.0, 1.5, true, "1", "", nil, errors.New("ERR x"),
		[]any{}, []any{int64(1)}, []any{int64(0), int64(1)}, []any{1.0, "1"}, []any{nil, int64(1)}, []any{[]any{int64(1)}},
		map[any]any{"0": int64(1)}, map[any]any{int64(0): int64(1)},
	}
	for short, long := range map[string]string{
		"reply == 1":        "not (reply != 1)",
		"reply == 0":        "not (reply != 0)",
		"reply == -1":       "not (reply != -1)",
		"reply[0] == 1":     "not (reply[0] != 1)",
		"reply[1] == 1":     "not (reply[1] != 1)",
		"reply[-1] == 1":    "not (reply[-1] != 1)",
		"reply?.[0] == 1":   "not (reply?.[0] != 1)",
		"reply[0][0] == 1":  "not (reply[0][0] != 1)",
		"reply == 1.0":      "not (reply != 1.0)",
		"reply == capacity": "not (reply != capacity)",
	} {
		decide := func(expression string, reply any) string {
			f := file(t, with(fmt.Sprintf("reply: {allowed: %q}", expression)))
			d, err := f.Decide(bucket.Limit{Rate: 1, Capacity: 1}, bucket.Request{Key: "k", Cost: 1}, reply)
			var mistake *limiterfile.Error
			if err != nil && !errors.As(err, &mistake) {
				t.Errorf("%s of %v: %v has no place", expression, reply, err)
			}
			return fmt.Sprint(d.Allowed, err != nil)
		}
		for _, reply := range replies {
			if got, want := decide(short, reply), decide(long, reply); got != want {
				t.Errorf("%s of %#v: %s, and %s: %s (allowed, failed)", short, reply, got, long, want)
			}
		}
	}
}
