package limiterfile_test

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// file parses a limiter file that must be right.
func file(t testing.TB, text string) *limiterfile.File {
	t.Helper()
	f, err := limiterfile.Parse("f.yaml", []byte(text), folder)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestWords(t *testing.T) {
	limit := bucket.Limit{Rate: 100, Capacity: 50}
	request := bucket.Request{ID: "r7", Key: "k1", Instance: "slow-1", Cost: 2.5, Now: time.Unix(12, 345678901)}
	tests := []struct{ expr, want string }{
		{"key", "k1"},
		{"rate", "100"},
		{"capacity", "50"},
		{"cost", "2.5"},
		{"now_s", "12"},
		{"now_ms", "12345"},
		{"now_us", "12345678"},
		{"now_ns", "12345678901"},
		{"instance", "slow-1"},
		{"request", "r7"},
		{"window_s", "0.5"},
		{"window_ms", "500"},
		{" rate ", "100"},
		{"7", "7"},
		{"0.25", "0.25"},
		{"true", "1"},
		{"rate > 100", "0"},
		{"'x y'", "x y"},
		{"1e-6", "0.000001"},
		{"2e8", "200000000"},
		{"1.0 * 9007199254740992", "9007199254740992"},
		{"0 * -1.0", "0"},
		{"rate * cost", "250"},
		{"now_ms / 1000", "12.345"},
		{"now_us % 1000", "678"},
		{"int(window_ms) + 1", "501"},
		{"ceil(window_ms / 7)", "72"},
		{"instance + '/' + request", "slow-1/r7"},
		{"let w = window_ms; w > 400 ? w : 400", "500"},
	}
	for _, tt := range tests {
		f := file(t, with(fmt.Sprintf("args: [%q]", tt.expr)))
		keys, args, err := f.Words(limit, request)
		if err != nil {
			t.Errorf("%s: %v", tt.expr, err)
			continue
		}
		if diff := cmp.Diff([]string{"rl:k1"}, keys); diff != "" {
			t.Errorf("%s: keys: %s", tt.expr, diff)
		}
		if diff := cmp.Diff([]string{tt.want}, args); diff != "" {
			t.Errorf("%s: %s", tt.expr, diff)
		}
	}
}

func TestNowIsFlooredAlsoBefore1970(t *testing.T) {
	f := file(t, with("args: [now_s, now_ms, now_us, now_ns]"))
	tests := []struct {
		now  time.Time
		want []string
	}{
		{time.Unix(0, 0), []string{"0", "0", "0", "0"}},
		{time.Unix(0, -1), []string{"-1", "-1", "-1", "-1"}},
		{time.Unix(-2, 999_999), []string{"-2", "-2000", "-1999001", "-1999000001"}},
		{time.Unix(-1, 500_000_000), []string{"-1", "-500", "-500000", "-500000000"}},
		{time.Date(1900, 1, 1, 0, 0, 0, 1, time.UTC), []string{"-2208988800", "-2208988800000", "-2208988800000000", "-2208988799999999999"}},
	}
	for _, tt := range tests {
		_, args, err := f.Words(bucket.Limit{Rate: 1, Capacity: 1}, bucket.Request{Key: "k", Cost: 1, Now: tt.now})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, args); diff != "" {
			t.Errorf("%v: %s", tt.now, diff)
		}
	}
}

func TestNumbersAreTheShortestPlainDecimals(t *testing.T) {
	f := file(t, with("args: [rate, capacity * 1, \"'${'\"]"))
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.Uint64().Draw(t, "bits")
		v := math.Abs(math.Float64frombits(bits))
		if math.IsNaN(v) || math.IsInf(v, 0) {
			v = float64(bits)
		}
		_, args, err := f.Words(bucket.Limit{Rate: v, Capacity: v}, bucket.Request{Key: "k", Cost: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range args[:2] {
			back, err := strconv.ParseFloat(a, 64)
			if err != nil || math.Float64bits(back) != math.Float64bits(v) {
				t.Fatalf("%v sent as %s reads back as %v (%v)", v, a, back, err)
			}
			if strings.ContainsAny(a, "eE+xXpP_") {
				t.Fatalf("%v sent as %s, which is not plain", v, a)
			}
			if digits := strings.Trim(strings.Replace(a, ".", "", 1), "0"); len(digits) > 17 {
				t.Fatalf("%v sent as %s with %d digits", v, a, len(digits))
			}
		}
	})
	_, args, err := f.Words(bucket.Limit{Rate: 1e300, Capacity: 1e-6}, bucket.Request{Key: "k", Cost: 1})
	if err != nil {
		t.Fatal(err)
	}
	if want := "1" + strings.Repeat("0", 300); args[0] != want || args[1] != "0.000001" {
		t.Errorf("got %v", args)
	}
}

func TestTemplates(t *testing.T) {
	tests := []struct{ template, want string }{
		{"${key}", "k1"},
		{"a${key}b${rate}c", "ak1b100c"},
		{"{${key}}:x", "{k1}:x"},
		{"$${key}${key}", "${key}k1"},
		{"$$${key}", "$${key}"},
		{"cost $5 ${key} $", "cost $5 k1 $"},
		{`${ {"a": key}["a"] }`, "k1"},
		{`${key + "}"}`, "k1}"},
		{"${key + `}`}é${window_s}", "k1}é0.5"},
		{"${upper(key)}${true}", "K11"},
	}
	for _, tt := range tests {
		f := file(t, "name: c\ncommand: [X, "+strconv.Quote(tt.template)+", \"${key}\"]\nreply: {allowed: reply == 1}\n")
		_, words, err := f.Words(bucket.Limit{Rate: 100, Capacity: 50}, bucket.Request{Key: "k1", Cost: 1})
		if err != nil {
			t.Errorf("%s: %v", tt.template, err)
			continue
		}
		if diff := cmp.Diff([]string{"X", tt.want, "k1"}, words); diff != "" {
			t.Errorf("%s: %s", tt.template, diff)
		}
	}
}

func TestWordErrorsHaveAPlace(t *testing.T) {
	tests := []struct{ expr, want string }{
		{"100 % int(cost - 1)", "f.yaml:4:12: args[0]: runtime error: integer divide by zero"},
		{"rate / (cost - 1)", "f.yaml:4:8: args[0]: the value is +Inf, and only finite numbers can be sent"},
		{"capacity", "f.yaml:4:8: args[0]: the value is NaN, and only finite numbers can be sent"},
		{"now_ns", "f.yaml:4:8: args[0]: now_ns of the year 9999 does not fit in 64 bits"},
		{"now_ns + 1", "f.yaml:4:8: args[0]: now_ns of the year 9999 does not fit in 64 bits"},
		{"cost > 5 ? 'a' : nil", "f.yaml:4:9: args[0]: the value is nil, and only numbers, text and booleans can be sent"},
	}
	for _, tt := range tests {
		code := tt.expr
		if strings.Contains(code, "?") {
			code = `"` + code + `"`
		}
		f := file(t, with("args: ["+code+"]"))
		_, _, err := f.Words(bucket.Limit{Rate: 1, Capacity: math.NaN()},
			bucket.Request{Key: "k", Cost: 1, Now: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)})
		var e *limiterfile.Error
		if !errors.As(err, &e) || e.Error() != tt.want {
			t.Errorf("%s:\n got %v\nwant %s", tt.expr, err, tt.want)
		}
	}
}

// TestWordsAreSafeForConcurrentUse shares one file among callers whose answers
// would show if one saw another's values.
func TestWordsAreSafeForConcurrentUse(t *testing.T) {
	f := file(t, with("args: [rate, rate * 2, key + instance, now_ms % 1000]"))
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			key := fmt.Sprint("k", g)
			for i := range 500 {
				keys, args, err := f.Words(bucket.Limit{Rate: float64(i), Capacity: 1},
					bucket.Request{Key: key, Instance: "@", Cost: 1, Now: time.UnixMilli(int64(g))})
				want := []string{fmt.Sprint(i), fmt.Sprint(2 * i), key + "@", fmt.Sprint(g)}
				if err != nil || keys[0] != "rl:"+key || !cmp.Equal(want, args) {
					t.Errorf("got %v %v %v, want %v", keys, args, err, want)
					return
				}
			}
		})
	}
	wg.Wait()
}
