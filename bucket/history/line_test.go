package history_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"bucketproof/bucket/history"
)

const good = `{"call_ns":1,"return_ns":2,"outcome":"allowed"}` + "\n"

// TestWrongLines holds what users are told, word by word.
func TestWrongLines(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		// JSON that is none.
		{`{"call_ns":1`, "1: the line ends where , or } should be"},
		{good + `{"call_ns":1,}`, `2: '}' at byte 14, want a name in quotes`},
		{good + `{"call_ns" 1}`, `2: '1' at byte 12, want :`},
		{good + `{"call_ns":}`, `2: '}' at byte 12, want a number`},
		{good + `{"key":"a}`, `2: the line ends where a closing " should be`},
		{good + `{"key":"\x"}`, `2: 'x' at byte 10, want an escape`},
		{good + `{"key":"\u12g4"}`, `2: 'u' at byte 10, want four hexadecimal digits after \u`},
		{good + "{\"key\":\"a\tb\"}", `2: '\t' at byte 10, want no control character in a string`},
		{good + `{"other":tru}`, `2: 't' at byte 10, want null, true or false`},
		{good + `{"other":[1,]}`, `2: ']' at byte 13, want a value`},
		{good + `{"other":01}`, `2: 01 is no number`},
		{good + `{"other":` + strings.Repeat("[", 200) + `}`, `2: nested deeper than 100`},
		{strings.TrimSpace(good) + ` x`, `1: 'x' at byte 49, want the end of the line`},
		{strings.TrimSpace(good) + good, `1: '{' at byte 48, want the end of the line`},
		{good + `42`, `2: want one JSON object on each line`},
		{`[` + good + `]`, `1: want one JSON object on each line`},
		{"{\n  \"call_ns\": 1\n}", `1: want one JSON object on each line`},

		// Fields that are missing or of the wrong kind.
		{good + `{}`, `2: call_ns and outcome are missing`},
		{good + `{"call_ns":1,"return_ns":2}`, `2: outcome is missing`},
		{good + `{"return_ns":2,"outcome":"allowed"}`, `2: call_ns is missing`},
		{good + `{"call_ns":null,"return_ns":2,"outcome":"allowed"}`, `2: call_ns is missing`},
		{good + `{"call_ns":1,"outcome":"allowed"}`, `2: return_ns is missing, which only an unknown or an unsent request may do, not one that was allowed`},
		{good + `{"call_ns":1,"return_ns":null,"outcome":"denied"}`, `2: return_ns is missing, which only an unknown or an unsent request may do, not one that was denied`},
		{good + `{"call_ns":"1","return_ns":2,"outcome":"allowed"}`, `2: call_ns is a string, want a number`},
		{good + `{"call_ns":1,"return_ns":2,"outcome":true}`, `2: outcome is true or false, want a string`},
		{good + `{"call_ns":1,"return_ns":2,"outcome":"allowed","key":7}`, `2: key is a number, want a string`},
		{good + `{"call_ns":1,"return_ns":2,"outcome":"allowed","instance":{}}`, `2: instance is an object, want a string`},
		{good + `{"call_ns":1,"call_ns":1,"return_ns":2,"outcome":"allowed"}`, `2: call_ns is there twice`},

		// Values that cannot be.
		{good + `{"call_ns":9,"return_ns":5,"outcome":"allowed"}`, `2: return_ns 5 is before call_ns 9`},
		{good + `{"call_ns":9,"return_ns":5,"outcome":"unknown"}`, `2: return_ns 5 is before call_ns 9`},
		{good + `{"call_ns":1,"return_ns":2,"outcome":"Allowed"}`, `2: outcome is "Allowed", want allowed, denied, unsent or unknown`},
		{good + `{"call_ns":1,"return_ns":2,"outcome":""}`, `2: outcome is "", want allowed, denied, unsent or unknown`},
		{good + `{"call_ns":1.5,"return_ns":2,"outcome":"allowed"}`, `2: call_ns is 1.5, want a whole number`},
		{good + `{"call_ns":-,"return_ns":2,"outcome":"allowed"}`, `2: call_ns is -, want a number`},
		{good + `{"call_ns":1e19,"return_ns":2,"outcome":"allowed"}`, `2: call_ns is 1e19, out of range`},
		{good + `{"call_ns":5e18,"return_ns":6e18,"outcome":"allowed"}`, `2: call_ns is 5000000000000000000, want at most 4611686018427387903 either way`},
		{good + `{"call_ns":1,"return_ns":9223372036854775807,"outcome":"unknown"}`, `2: return_ns is 9223372036854775807, want at most 4611686018427387903 either way`},
		{good + `{"call_ns":1,"return_ns":2,"outcome":"allowed","due_ns":-5e18}`, `2: due_ns is -5000000000000000000, want at most 4611686018427387903 either way`},
		{good + `{"call_ns":1,"return_ns":2,"outcome":"allowed","cost":0}`, `2: cost is 0, want a finite number above 0`},
		{good + `{"call_ns":1,"return_ns":2,"outcome":"allowed","cost":-1}`, `2: cost is -1, want a finite number above 0`},
		{good + `{"call_ns":1,"return_ns":2,"outcome":"allowed","cost":1e999}`, `2: cost is 1e999, out of range`},
		{good + `{"call_ns":1,"return_ns":2,"outcome":"allowed","cost":1e-999}`, `2: cost is 0, want a finite number above 0`},
		{good + `{"call_ns":1,"return_ns":2,"outcome":"allowed","cost":NaN}`, `2: cost is NaN, want a number`},
		{good + `{"call_ns":1,"return_ns":2,"outcome":"allowed","remaining":-Infinity}`, `2: remaining is -Infinity, want a number`},
		{good + `{"call_ns":1,"return_ns":2,"outcome":"allowed","now_ms":1e13}`, `2: now_ms is 1e13, out of range`},
		{good + `{"call_ns":1,"return_ns":2,"outcome":"allowed","sequence":-1}`, `2: sequence is -1, want 0 or more`},
		{good + `{"call_ns":1,"return_ns":2,"outcome":"allowed","server_us":-1}`, `2: server_us is -1, want 0 or more`},
		{good + `{"call_ns":1,"return_ns":2,"outcome":"allowed","server_end_us":-1}`, `2: server_end_us is -1, want 0 or more`},
		{good + `{"call_ns":1,"return_ns":2,"outcome":"allowed","tokens_before":"gone"}`, `2: tokens_before is "gone", want a number, "inf", "-inf", or "none" for a key that was not there`},
		{good + `{"call_ns":1,"return_ns":2,"outcome":"allowed","time_after":"none"}`, `2: time_after is "none", want a number, "inf" or "-inf"`},
		{good + `{"call_ns":1,"return_ns":2,"outcome":"allowed","time_after":"12"}`, `2: time_after is "12", want a number, "inf" or "-inf"`},
		{good + `{"call_ns":1,"return_ns":2,"outcome":"allowed","tokens_after":true}`, `2: tokens_after is true or false, want a number`},
		{good + `{"call_ns":1,"return_ns":2,"outcome":"allowed","tokens_after":"none","time_after":7}`, `2: tokens_after is "none", and there is a time_after`},
		{good + `{"call_ns":` + strings.Repeat("1", 99) + `}`, `2: call_ns is ` + strings.Repeat("1", 40) + `…, out of range`},
		{good + `{"key":"` + strings.Repeat("x", history.MaxLine) + `"}`, `2: the line is longer than 1048576 bytes`},

		// Headers.
		{`{"history":2}`, `1: history is "2", and only version 1 is known`},
		{`{"history":1,"limit":{"rate":0,"capacity":1}}`, `1: limit: rate is 0, want a finite number above 0`},
		{`{"history":1,"limit":{"rate":1}}`, `1: limit: capacity is 0, want a finite number above 0`},
		{`{"history":1,"limit":7}`, `1: header: json: cannot unmarshal number into Go struct field headerLine.limit of type bucket.Limit`},
		{good + `{"history":1}`, `2: a header may only be the first line: histories cannot be joined as they are`},

		// CSV.
		{"key,return_ns\n", `1: call_ns and outcome are missing from the row of column names (a history is one JSON object a line, or CSV with its column names first)`},
		{"call_ns,outcome,call_ns\n", `1: column call_ns is there twice`},
		{"call_ns,return_ns,outcome\n1,2\n", `2: the row has 2 cells and the first one 3`},
		{"call_ns,return_ns,outcome\n1,2,allowed,\n", `2: the row has 4 cells and the first one 3`},
		{"call_ns,return_ns,outcome\n1,2,\n", `2: outcome is missing`},
		{"call_ns,return_ns,outcome\n1,,allowed\n", `2: return_ns is missing, which only an unknown or an unsent request may do, not one that was allowed`},
		{"call_ns,return_ns,outcome\n\n1,NaN,allowed\n", `3: return_ns is NaN, want a number`},
		{"call_ns,return_ns,outcome,cost\n1,2,allowed,+Inf\n", `2: cost is +Inf, want a number`},
		{"call_ns,return_ns,outcome,tokens_before\n1,2,allowed,NaN\n", `2: tokens_before is NaN, want a number`},
		{"call_ns,return_ns,outcome,time_before\n1,2,allowed,none\n", `2: time_before is "none", want a number, "inf" or "-inf"`},
		{"call_ns,return_ns,outcome,key\n1,2,allowed,a\"b\"\n", `2: a " within a cell that does not begin with one`},
		{"call_ns,return_ns,outcome,key\n1,2,allowed,\"a\"b\n", `2: want a comma after a closing "`},
		{"call_ns,return_ns,outcome,key\n1,2,allowed,\"a\n1,2,allowed,b\n", `2: a " is not closed`},
		{"call_ns,outcome,key\n1,unknown,\"" + strings.Repeat("x\n", history.MaxLine) + "\"\n", `2: a " is not closed`},
		{"call_ns,return_ns,outcome,key\n1,2,allowed,\"a\nb\"\n9,5,allowed,\n", `4: return_ns 5 is before call_ns 9`},
	} {
		t.Run(fmt.Sprintf("%.60s", strings.TrimPrefix(test.text, good)), func(t *testing.T) {
			_, _, err := decode(test.text)
			var wrong *history.LineError
			if !errors.As(err, &wrong) {
				t.Fatalf("error %v, want a LineError", err)
			}
			if got, want := err.Error(), "history.jsonl:"+test.want; got != want {
				t.Errorf("error\n%s\nwant\n%s", got, want)
			}
		})
	}
}
