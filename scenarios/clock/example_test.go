package clock_test

import (
	"fmt"
	"time"

	"bucketproof/scenarios/clock"
)

// An instance whose clock is a quarter of a second ahead, gains 200 ppm and is
// put back by a second three seconds into the run.
func ExampleModel() {
	m := clock.Model{
		Offset: 250 * time.Millisecond,
		Drift:  200,
		Steps:  []clock.Step{{At: 3 * time.Second, By: -time.Second}},
	}
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, elapsed := range []time.Duration{0, 2 * time.Second, 3 * time.Second} {
		fmt.Println(m.Skew(elapsed), m.Reading(start, elapsed).Format("15:04:05.0000"))
	}
	fmt.Println(clock.Spread([]clock.Model{{}, m}, 0, 3*time.Second))
	// Output:
	// 250ms 12:00:00.2500
	// 250.4ms 12:00:02.2504
	// -749.4ms 12:00:02.2506
	// 1s
}
