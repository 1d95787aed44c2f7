package load_test

import (
	"context"
	"fmt"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
	"bucketproof/scenarios/clock"
	"bucketproof/scenarios/load"
)

// Two instances, one of them a quarter of a second behind, ask a perfect
// bucket of 50 tokens for 200 at one instant.
func ExampleDriver_Burst() {
	still := func() time.Duration { return 0 } // a run would take time.Since(start)
	bucketed := bucket.NewMemory(still)
	d := &load.Driver{
		Elapsed: still,
		Base:    time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		Limit:   bucket.Limit{Rate: 100, Capacity: 50},
		Instances: []load.Instance{
			{Name: "slow", Limiter: bucketed, Clock: clock.Model{Offset: -250 * time.Millisecond}},
			{Name: "fast", Limiter: bucketed},
		},
		Recorder: history.NewRecorder(),
		Seed:     1,
	}
	if err := d.Burst(context.Background(), nil, load.Burst{Requests: 200}); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%+v\n", d.Counts())
	// Output: {Offered:200 Allowed:50 Denied:150 Unsent:0 Unknown:0}
}

// A schedule is fixed before the first request is sent.
func ExampleConstant() {
	for a := range load.Constant(3, time.Second, 2) {
		fmt.Println(a.Due, a.Instance)
	}
	// Output:
	// 0s 0
	// 333.333333ms 1
	// 666.666667ms 0
}

// Latency counts from the due time: the second request waited 40 ms for the
// generator and 10 ms for its reply.
func ExampleMeasure() {
	ms := int64(time.Millisecond)
	l := load.Measure([]history.Operation{
		{Due: 0, Call: 0, Return: 50 * ms, Outcome: history.Allowed},
		{Due: 10 * ms, Call: 50 * ms, Return: 60 * ms, Outcome: history.Denied},
	})
	fmt.Println(l.Response.Max(), l.Service.Mean(), l.Lag.Max())
	// Output: 50ms 30ms 40ms
}
