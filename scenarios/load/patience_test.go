package load_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"bucketproof/bucket"
	"bucketproof/scenarios/load"
)

// TestTimeoutIsEveryRequestsOwn: the requests of one caller, of which each has
// taken a part of the time, have all of it, in this phase and in the next.
func TestTimeoutIsEveryRequestsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = 64 * time.Millisecond
		var shortest, longest time.Duration = math.MaxInt64, 0
		d := newDriver(1, limiterFunc(func(ctx context.Context, _ bucket.Request) (bucket.Decision, error) {
			deadline, ok := ctx.Deadline()
			if !ok || ctx.Err() != nil {
				t.Errorf("deadline %v, %v", ok, ctx.Err())
			}
			shortest, longest = min(shortest, time.Until(deadline)), max(longest, time.Until(deadline))
			time.Sleep(300 * time.Microsecond)
			return bucket.Untold(true), nil
		}))
		d.Timeout = timeout
		for range 2 {
			if err := d.Closed(t.Context(), nil, load.Closed{Workers: 1, For: time.Second}); err != nil {
				t.Fatal(err)
			}
		}
		checkAccounts(t, d)
		if shortest < timeout || longest > timeout+timeout/64 {
			t.Errorf("requests have %v to %v, want %v to %v", shortest, longest, timeout, timeout+timeout/64)
		}
		if shortest == longest {
			t.Error("no two requests shared a timer: the test shows nothing")
		}
	})
}
