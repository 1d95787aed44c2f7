package check_test

import (
	"fmt"
	"math"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/check"
	"bucketproof/bucket/history"
)

// Seven grants within 20 ms of a bucket that holds five and earns ten a second:
// at most 5.2 fit. Then the bucket fills up again, and instance b is denied all
// the same.
func ExampleJudge() {
	at := func(ms int64) int64 { return ms * int64(time.Millisecond) }
	request := func(instance string, outcome history.Outcome, call, ret int64) history.Operation {
		return history.Operation{
			Due: at(call), Call: at(call), Return: at(ret), Clock: history.NoClock,
			Key: "tenant-1", Instance: instance, Cost: 1, Outcome: outcome,
			Remaining: math.NaN(), RetryAfter: -1, // not told
		}
	}
	var ops []history.Operation
	for range 7 {
		ops = append(ops, request("a", history.Allowed, 0, 20))
	}
	for _, call := range []int64{1000, 1400, 1800} {
		ops = append(ops, request("b", history.Denied, call, call+2))
	}
	spec := check.Spec{Limit: bucket.Limit{Rate: 10, Capacity: 5}, Granularity: time.Millisecond}
	report, err := check.Judge(spec, history.All(ops), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range report.Results {
		fmt.Printf("%s: %s: %s\n", r.Name, r.Verdict, r.Detail)
	}
	// Output:
	// over-admission: fail: granted 7 tokens in 20 ms where at most 5.2 fit: 1.8 too many (0.000 s to 0.020 s, key tenant-1)
	// spurious-denial: fail: instance b was locked out for 802 ms: 3 of its denials are explained by no placement of the other requests
	// accept-rate: pass: granted 7 where an ideal bucket grants 8: 7 to 8 are right with the delays seen
	// state-audit: skipped: no key was looked at
	// accounting: pass: 10 requests, one outcome each: 7 allowed, 3 denied, 0 unsent, 0 unknown
	// replay: skipped: no model of the reference family is named for the limiter
	// linearizability: skipped: no model of the reference family is named for the limiter
	// fairness: skipped: arrivals were not random
	// reply-contract: skipped: the limiter tells neither what remains nor when to retry
}

// On the caller's clock a slow instance that drains the bucket lets a fast one
// take again: the ideal verdict is a failure, and the spread of the clocks
// explains it.
func ExampleResult_withinPrediction() {
	const skew = 500 * time.Millisecond
	var ops []history.Operation
	for i := range int64(100) {
		op := history.Operation{
			Call: i * 1e5, Return: i*1e5 + 1e5, Key: "k", Instance: "slow", Cost: 1, Outcome: history.Allowed, Clock: i * 1e5,
			Remaining: math.NaN(), RetryAfter: -1,
		}
		if i >= 50 {
			op.Instance, op.Clock = "fast", op.Clock+int64(skew)
		}
		ops = append(ops, op)
	}
	spec := check.Spec{
		Limit: bucket.Limit{Rate: 100, Capacity: 50}, Granularity: time.Millisecond, Time: bucket.CallerTime,
	}
	report, err := check.Judge(spec, history.All(ops), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	over := report.Results[0]
	fmt.Println(over.Verdict, over.WithinPrediction)
	fmt.Printf("%.1f too many, %.1f explained\n", over.Value["peak_excess"], over.Value["predicted_peak_excess"])
	// Output:
	// fail true
	// 49.0 too many, 50.1 explained
}

// With a witness every decision is replayed from what was stored before it. Here
// the limiter rounds its level to a tenth, which changes no decision in this run,
// and the replay finds the first one that stores another number than the model.
func ExampleJudge_replay() {
	limit := bucket.Limit{Rate: 3, Capacity: 2}
	model := bucket.RuleRedisTime
	var ops []history.Operation
	var stored bucket.State
	for i := range int64(4) {
		call := i * int64(100*time.Millisecond)
		micros := 1_764_547_200_000_000 + call/1000
		before := stored
		after, allowed := model.Take(before, limit, float64(micros), 1)
		after.Tokens = math.Round(after.Tokens*10) / 10
		stored = after
		op := history.Operation{
			Call: call, Return: call + 1e6, Clock: history.NoClock, Key: "tenant-1", Instance: "a", Cost: 1,
			Outcome: history.Denied, Remaining: math.NaN(), RetryAfter: -1,
			Witness: bucket.Witness{Sequence: i + 1, BeforeMicros: micros, AfterMicros: micros, Before: before, After: after},
		}
		if allowed {
			op.Outcome = history.Allowed
		}
		ops = append(ops, op)
	}
	spec := check.Spec{
		Limit: limit, Granularity: time.Microsecond, Time: bucket.ServerTime, Model: &model, Witnessed: true,
	}
	report, err := check.Judge(spec, history.All(ops), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range report.Results {
		if r.Name == check.Replay {
			fmt.Println(r.Verdict)
			fmt.Println(r.Detail)
		}
	}
	// Output:
	// fail
	// decision 2 of instance a, key tenant-1: 0.29999999999999999 tokens were stored, the model stores 0.30000000000000004; the first of 2 divergences in 4 decisions
}
