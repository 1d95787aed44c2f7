package history_test

import (
	"bytes"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

var update = flag.Bool("update", false, "write the golden files")

// sameNaN makes an operation equal to its copy.
var sameNaN = cmpopts.EquateNaNs()

// decode reads all of text.
func decode(text string) (history.Header, []history.Operation, error) {
	d, err := history.NewDecoder(strings.NewReader(text), "history.jsonl")
	if err != nil {
		return history.Header{}, nil, err
	}
	defer d.Close()
	var ops []history.Operation
	for {
		var op history.Operation
		switch err := d.Decode(&op); {
		case err == io.EOF:
			return d.Header(), ops, nil
		case err != nil:
			return d.Header(), ops, err
		}
		ops = append(ops, op)
	}
}

// operations generates valid operations as a history can hold them.
func operations() *rapid.Generator[history.Operation] {
	times := rapid.OneOf(rapid.Int64Range(-5, 5), rapid.Int64Range(-history.Latest, history.Latest))
	names := rapid.OneOf(rapid.Just(""), rapid.SampledFrom([]string{"a", "b,c", `"`, "x\r\ny", " z ", "\u00e9\U0001f600", "\x00\x1f"}), rapid.String())
	return rapid.Custom(func(t *rapid.T) history.Operation {
		op := history.Operation{
			Call:       times.Draw(t, "call"),
			Clock:      rapid.OneOf(rapid.Just(history.NoClock), rapid.Int64Range(-math.MaxInt64, math.MaxInt64)).Draw(t, "clock"),
			Key:        names.Draw(t, "key"),
			Instance:   names.Draw(t, "instance"),
			Cost:       rapid.OneOf(rapid.Just(1.0), rapid.Float64Range(math.SmallestNonzeroFloat64, math.MaxFloat64)).Draw(t, "cost"),
			Outcome:    history.Outcome(rapid.IntRange(1, 4).Draw(t, "outcome")),
			Remaining:  rapid.OneOf(rapid.Just(math.NaN()), rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64)).Draw(t, "remaining"),
			RetryAfter: time.Duration(rapid.OneOf(rapid.Int64Range(-1, 5), rapid.Int64Range(-1, math.MaxInt64)).Draw(t, "retry")),
			Witness:    witnesses().Draw(t, "witness"),
		}
		op.Return = rapid.Int64Range(op.Call, history.Latest).Draw(t, "return")
		if op.Outcome == history.Unknown && rapid.Bool().Draw(t, "never") {
			op.Return = history.Forever
		}
		op.Due = rapid.OneOf(rapid.Just(op.Call), times).Draw(t, "due")
		return op
	})
}

func TestRoundTrip(t *testing.T) {
	csvHeader := string(history.AppendCSVHeader(nil)) + "\n"
	for _, format := range []struct {
		name, header string
		encode       func([]byte, *history.Operation) []byte
	}{
		{"json", "", history.AppendJSON},
		{"csv", csvHeader, history.AppendCSV},
	} {
		t.Run(format.name, rapid.MakeCheck(func(t *rapid.T) {
			want := rapid.SliceOfN(operations(), 1, 5).Draw(t, "operations")
			text := format.header
			for i := range want {
				if err := want[i].Validate(); err != nil {
					t.Fatalf("generated %+v: %v", want[i], err)
				}
				text += string(format.encode(nil, &want[i])) + "\n"
			}
			_, got, err := decode(text)
			if err != nil {
				t.Fatalf("decode %s: %v", text, err)
			}
			if diff := cmp.Diff(want, got, sameNaN); diff != "" {
				t.Fatalf("%s\n(-want +got)\n%s", text, diff)
			}
		}))
	}
}

func TestDecodeForeign(t *testing.T) {
	nan := math.NaN()
	type operation = history.Operation
	for _, test := range []struct {
		file   string
		header history.Header
		want   []operation
	}{
		{"foreign.jsonl", history.Header{Limit: &bucket.Limit{Rate: 100, Capacity: 50}}, []operation{
			{Due: 1000, Call: 1000, Return: 2000, Clock: history.NoClock, Cost: 1, Outcome: history.Allowed, Remaining: nan, RetryAfter: -1},
			{Due: 500, Call: 500, Return: 1500, Clock: history.NoClock, Key: "user:1", Cost: 1, Outcome: history.Denied, Remaining: nan, RetryAfter: 250 * time.Millisecond},
			{Due: 700, Call: 700, Return: history.Forever, Clock: history.NoClock, Key: "user:1", Instance: "web-2", Cost: 2.5, Outcome: history.Unknown, Remaining: nan, RetryAfter: -1},
			{Due: 600, Call: 600, Return: 600, Clock: history.NoClock, Cost: 1, Outcome: history.Unsent, Remaining: nan, RetryAfter: -1},
			{Due: 2900, Call: 3000, Return: 3000, Clock: 1767225600123456789, Cost: 1, Outcome: history.Allowed, Remaining: -0.5, RetryAfter: -1, Witness: bucket.Witness{
				Sequence: 7, BeforeMicros: 1767225600123456, AfterMicros: 1767225600123456, Before: bucket.Unseen(), After: bucket.Unseen(),
			}},
		}},
		{"foreign.csv", history.Header{}, []operation{
			{Due: 1000, Call: 1000, Return: 2000, Clock: history.NoClock, Key: `user "1", x`, Cost: 1, Outcome: history.Allowed, Remaining: nan, RetryAfter: -1},
			{Due: 500, Call: 500, Return: 1500, Clock: history.NoClock, Key: "user:2", Cost: 1, Outcome: history.Denied, Remaining: nan, RetryAfter: -1},
			{Due: 700, Call: 700, Return: history.Forever, Clock: history.NoClock, Key: "user:2", Cost: 0.5, Outcome: history.Unknown, Remaining: nan, RetryAfter: -1},
		}},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", test.file))
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"as it is":             string(text),
			"with carriage return": strings.ReplaceAll(string(text), "\n", "\r\n"),
			"with byte order mark": "\ufeff" + string(text),
			"with leading lines":   "\n \t\r\n" + string(text),
			"without last newline": strings.TrimSuffix(string(text), "\n"),
		} {
			t.Run(test.file+"/"+name, func(t *testing.T) {
				header, got, err := decode(text)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.header, header); diff != "" {
					t.Errorf("header (-want +got)\n%s", diff)
				}
				if diff := cmp.Diff(test.want, got, sameNaN); diff != "" {
					t.Errorf("operations (-want +got)\n%s", diff)
				}
			})
		}
	}
}

// TestGolden holds what is written byte by byte: other programs read it.
func TestGolden(t *testing.T) {
	ops := typical(3)
	ops[1].Outcome, ops[1].Return, ops[1].Remaining = history.Unknown, history.Forever, math.NaN()
	ops[2] = history.Operation{Due: 5, Call: 5, Return: 5, Clock: history.NoClock, Cost: 2.5, Outcome: history.Unsent, Key: "a,\"\n", Remaining: math.Inf(1), RetryAfter: -1}
	limit := history.Header{Limit: &bucket.Limit{Rate: 100, Capacity: 50}}
	for _, name := range []string{"written.jsonl", "written.csv"} {
		path := filepath.Join(t.TempDir(), name)
		if err := history.Save(path, limit, ops); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestEmptyHistories(t *testing.T) {
	for _, text := range []string{"", "\n\n", "\ufeff", `{"history":1}`, `{"history":1.0e0,"limit":null}`, "call_ns,return_ns,outcome\n"} {
		_, ops, err := decode(text)
		if err != nil || len(ops) != 0 {
			t.Errorf("%q: %d operations, %v, want none", text, len(ops), err)
		}
	}
}

func TestInvalidUTF8IsWrittenAsReplacement(t *testing.T) {
	op := typical(1)[0]
	op.Key = "a\xffb\xc3"
	text := history.AppendJSON(nil, &op)
	_, got, err := decode(string(text))
	if err != nil || got[0].Key != "a\ufffdb\ufffd" {
		t.Errorf("%q, %v", got[0].Key, err)
	}
	if _, got, _ := decode(string(bytes.Replace(text, []byte("\ufffd"), []byte("\xff"), 1))); got[0].Key != "a\xffb\ufffd" {
		t.Errorf("a name that is not UTF-8 is kept: got %q", got[0].Key)
	}
}

func TestAllYieldsPointers(t *testing.T) {
	ops := typical(3)
	for op, err := range history.All(ops) {
		if err != nil {
			t.Fatal(err)
		}
		op.Cost = 7
	}
	if slices.ContainsFunc(ops, func(op history.Operation) bool { return op.Cost != 7 }) {
		t.Error("All yields copies")
	}
}

func TestNamesInJSON(t *testing.T) {
	for text, want := range map[string]string{
		`""`:                       "",
		`"user:1"`:                 "user:1",
		`"\"\\\/\b\f\n\r\t"`:       "\"\\/\b\f\n\r\t",
		`"\u00e9\u20AC"`:           "\u00e9\u20ac",
		`"x\ud83d\ude00y"`:         "x\U0001f600y",
		`"\ud83d"`:                 "\ufffd",
		`"\ud83dx"`:                "\ufffdx",
		`"\ud83d\n"`:               "\ufffd\n",
		`"\ud83d\u0041"`:           "\ufffdA",
		`"\ude00\ud83d"`:           "\ufffd\ufffd",
		"\"\\u0000\x7f\"":          "\x00\x7f",
		`"` + long + `"`:           long,
		`"\t` + long + `\t"`:       "\t" + long + "\t",
		"\"caf\u00e9 \U0001f600\"": "caf\u00e9 \U0001f600",
	} {
		_, ops, err := decode(good + `{"ke\u0079":` + text + `,"call_ns":1,"return_ns":2,"outcome":"den\u0069ed"}` + "\n" + good)
		if err != nil || len(ops) != 3 || ops[1].Key != want || ops[1].Outcome != history.Denied {
			t.Errorf("%.40s: %d operations, %v, want key %.40q", text, len(ops), err, want)
		}
	}
}

// long does not fit into any buffer, and into a line.
var long = strings.Repeat("0123456789", 20_000)

func TestOutcomeString(t *testing.T) {
	for o, want := range map[history.Outcome]string{
		0: "outcome(0)", history.Allowed: "allowed", history.Denied: "denied", history.Unsent: "unsent", history.Unknown: "unknown", 9: "outcome(9)",
	} {
		if got := o.String(); got != want {
			t.Errorf("%d is %s, want %s", uint8(o), got, want)
		}
	}
}
