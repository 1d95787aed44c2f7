package history_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bucketproof/bucket/history"
)

// FuzzDecode: whatever the text, decoding ends, without a panic, in operations
// that are valid or in an error; and what was decoded survives being written
// and read again, in both formats.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{"history":1,"limit":{"rate":1,"capacity":2}}` + "\n" + good))
	f.Add([]byte("call_ns,return_ns,outcome,key\n1,2,denied,\"a\"\"\nb\"\n"))
	f.Add([]byte("\x1f\x8b\b\x00"))
	f.Add([]byte("\x28\xb5\x2f\xfd\x04\x00"))
	f.Add([]byte(`{"call_ns":1.5e3,"outcome":"unknown","now_ms":-0.0000005,"key":"\ud83d\ude00\ud83d"}`))
	f.Add([]byte(`{"call_ns":1,"return_ns":2,"outcome":"denied","sequence":3,"server_us":4,"server_end_us":0,"tokens_before":"none","tokens_after":"-inf","time_after":1e-9}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, ops, err := decode(string(text))
		var wrong *history.LineError
		if errors.As(err, &wrong) && (wrong.Line < 1 || wrong.Line > 1+bytes.Count(text, []byte("\n")) && !packed(text)) {
			t.Errorf("line %d does not exist", wrong.Line)
		}
		for i := range ops {
			again(t, &ops[i])
		}
	})
}

func packed(text []byte) bool {
	return bytes.HasPrefix(text, []byte{0x1f, 0x8b}) || len(text) > 3 && (text[0] == 0x28 || text[0]&0xf0 == 0x50)
}

func again(t *testing.T, op *history.Operation) {
	t.Helper()
	if err := op.Validate(); err != nil {
		t.Fatalf("decoded %+v: %v", op, err)
	}
	csv := append(append(history.AppendCSVHeader(nil), '\n'), history.AppendCSV(nil, op)...)
	if _, got, err := decode(string(csv)); err != nil || !cmp.Equal(got, []history.Operation{*op}, sameNaN) {
		t.Fatalf("%s is %+v, %v, want %+v", csv, got, err, *op)
	}
	text := history.AppendJSON(nil, op)
	if !json.Valid(text) {
		t.Fatalf("%s is not JSON", text)
	}
	want := *op
	want.Key, want.Instance = strings.ToValidUTF8(op.Key, "\ufffd"), strings.ToValidUTF8(op.Instance, "\ufffd")
	_, got, err := decode(string(text))
	if err != nil || len(got) != 1 {
		t.Fatalf("%s is %+v, %v", text, got, err)
	}
	got[0].Key, got[0].Instance = squeeze(got[0].Key), squeeze(got[0].Instance)
	want.Key, want.Instance = squeeze(want.Key), squeeze(want.Instance)
	if !cmp.Equal(got[0], want, sameNaN) {
		t.Fatalf("%s is %+v, want %+v", text, got, want)
	}
}

// squeeze makes one replacement of several in a row: ToValidUTF8 writes one
// for a run of bytes, we write one for each.
func squeeze(s string) string {
	for strings.Contains(s, "\ufffd\ufffd") {
		s = strings.ReplaceAll(s, "\ufffd\ufffd", "\ufffd")
	}
	return s
}

// FuzzSyntax: what encoding/json does not take for a JSON object is a bad
// line, and names and strings mean what they mean there.
func FuzzSyntax(f *testing.F) {
	for _, line := range []string{
		`{}`, `{"a":[1,{"b":null}],"c":"\u00e9\n"}`, `{"a":-0.5e+7}`, `{"a":1}{}`, `{"a":.5}`, `{"a":tru}`, `{"key":"\ud800\u0041"}`, "{\"a\":\"\x7f\xff\"}",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.Contains(line, "\n") || !strings.HasPrefix(line, "{") {
			return
		}
		whole := strings.TrimSuffix(line, "}")
		if whole == line {
			return
		}
		comma := ","
		if strings.TrimSpace(whole) == "{" {
			comma = ""
		}
		whole += comma + `"call_ns":1,"return_ns":2,"outcome":"denied"}`
		_, ops, err := decode(good + whole)
		valid := json.Valid([]byte(whole))
		if err == nil && !valid {
			t.Fatalf("%s was taken, and is not JSON", whole)
		}
		var theirs map[string]any
		if err == nil && json.Unmarshal([]byte(whole), &theirs) == nil {
			want, _ := theirs["key"].(string)
			if got := strings.ToValidUTF8(ops[len(ops)-1].Key, "\ufffd"); squeeze(got) != squeeze(want) {
				t.Fatalf("%s: key %q, want %q", whole, got, want)
			}
		}
		if err != nil && valid && isSyntax(err) {
			t.Fatalf("%s is JSON: %v", whole, err)
		}
	})
}

// isSyntax reports whether err is about the line's syntax and not about what
// a field says.
func isSyntax(err error) bool {
	text := err.Error()
	for _, s := range []string{" at byte ", "the line ends", "is no number"} {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// failing fails after its text was read, as a network file may.
type failing struct{ r io.Reader }

var errLost = errors.New("connection lost")

func (f failing) Read(b []byte) (int, error) {
	n, err := f.r.Read(b)
	if err == io.EOF {
		err = errLost
	}
	return n, err
}

func TestReadErrorsNameFileAndLine(t *testing.T) {
	d, err := history.NewDecoder(failing{strings.NewReader(good + good + `{"ca`)}, "a.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var op history.Operation
	for err == nil {
		err = d.Decode(&op)
	}
	if want := "read history a.jsonl: line 3: connection lost"; !errors.Is(err, errLost) || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
