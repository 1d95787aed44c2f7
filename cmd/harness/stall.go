package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"bucketproof/bucket/backend"
)

// stalled is a server that does not answer for a while.
type stalled interface {
	Pause(ctx context.Context, d time.Duration) error
	Suspend(ctx context.Context, d time.Duration) error
}

// longestStall is the longest that a server may be held up, and still answer
// what it was asked before callers give up.
const longestStall = 2 * time.Second

// checkStall refuses stalls that would hurt others, or show nothing.
func checkStall(longest time.Duration, redis string) error {
	if longest < 0 || longest > longestStall {
		return usagef("--stall %v: want a duration up to %v", longest, longestStall)
	}
	if longest > 0 && isURL(redis) {
		return usagef("--stall holds up a server that others may use: take it with a Redis that is started here")
	}
	return nil
}

// stall holds the server up again and again, for up to longest each time and
// with as much time between: now and then the whole process, if there is one,
// else its commands. The returned function ends it and says how often it did.
func stall(ctx context.Context, server stalled, kind backend.Kind, longest time.Duration, seed uint64) (end func() string) {
	ctx, stop := context.WithCancel(ctx)
	rng := rand.New(rand.NewPCG(seed, 1))
	var stalls int
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			d := time.Duration(rng.Int64N(int64(longest))) + 1
			if kind == backend.Process && rng.IntN(2) == 0 {
				failed = server.Suspend(ctx, d)
			} else if failed = server.Pause(ctx, d); failed == nil {
				rest(ctx, d)
			}
			if failed != nil {
				return
			}
			stalls++
			rest(ctx, time.Duration(rng.Int64N(int64(longest))))
		}
	}()
	return func() string {
		stop()
		<-done
		text := fmt.Sprintf("the server was held up %d times, for up to %v each", stalls, longest)
		if failed != nil && !errors.Is(failed, context.Canceled) {
			text += "; then it could not be: " + oneLine(failed.Error())
		}
		return text
	}
}

// rest waits for d or until ctx ends.
func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
