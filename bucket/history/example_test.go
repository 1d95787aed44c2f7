package history_test

import (
	"fmt"
	"os"
	"strings"

	"bucketproof/bucket/history"
)

// A run records in one log per worker and reads everything once.
func ExampleRecorder() {
	recorder := history.NewRecorder()
	one, two := recorder.Worker(), recorder.Worker()
	one.Append(history.Operation{Call: 10, Return: 15, Outcome: history.Allowed})
	one.Append(history.Operation{Call: 30, Return: 35, Outcome: history.Denied})
	two.Append(history.Operation{Call: 20, Return: 25, Outcome: history.Allowed})
	for op := range history.All(recorder.Operations()) {
		fmt.Println(op.Call, op.Outcome)
	}
	// Output:
	// 10 allowed
	// 20 allowed
	// 30 denied
}

// A history of any program is read in the order of its calls.
func ExampleOpen() {
	stdin := strings.NewReader(`{"history":1,"limit":{"rate":10,"capacity":2}}
{"call_ns":2000,"return_ns":2500,"outcome":"denied","key":"user:1"}
{"call_ns":1000,"return_ns":1400,"outcome":"allowed","key":"user:1"}
`)
	file, err := history.Open("-", stdin, history.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	fmt.Println(file.Header().Limit)
	for op, err := range file.Operations() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(op.Call, op.Outcome, op.Key)
	}
	// Output:
	// 10/s, capacity 2
	// 1000 allowed user:1
	// 2000 denied user:1
}

// A bad line is found before anything is read.
func ExampleLineError() {
	stdin := strings.NewReader("call_ns,return_ns,outcome\n9,5,allowed\n")
	_, err := history.Open("-", stdin, history.Options{})
	fmt.Println(err)
	// Output: standard input:2: return_ns 5 is before call_ns 9
}

func ExampleAppendJSON() {
	op := history.Operation{
		Due: 900, Call: 1000, Return: 2000, Clock: 1767225600123456789,
		Key: "user:1", Cost: 1, Outcome: history.Denied, Remaining: 0.5, RetryAfter: 5_000_000,
	}
	fmt.Fprintf(os.Stdout, "%s\n", history.AppendJSON(nil, &op))
	// Output: {"call_ns":1000,"return_ns":2000,"outcome":"denied","key":"user:1","due_ns":900,"now_ms":1767225600123.456789,"remaining":0.5,"retry_after_s":0.005}
}
