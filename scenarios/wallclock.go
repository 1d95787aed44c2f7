package scenarios

import (
	"context"
	"time"
)

// wallClock watches how far this machine's wall clock strays from its
// monotonic one: time daemons and hypervisors set wall clocks while a run is
// under way, and a server on this machine goes by them.
type wallClock struct {
	start       time.Time // both clocks
	least, most time.Duration
	stop        context.CancelFunc
	done        chan struct{}
}

// How often the two clocks are compared, and how close together they must be
// read for the comparison to count: a process may be suspended between.
const (
	wallClockEvery = 20 * time.Millisecond
	wallClockTries = 10
	wallClockClose = 5 * time.Microsecond
)

// watchWallClock begins to compare the clocks, from start on.
func watchWallClock(start time.Time) *wallClock {
	ctx, stop := context.WithCancel(context.Background())
	w := &wallClock{start: start, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		tick := time.NewTicker(wallClockEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				w.compare()
				return
			case <-tick.C:
				w.compare()
			}
		}
	}()
	return w
}

// compare reads both clocks. Of several readings the one counts that was made
// in the shortest time, since that is how far it may be wrong.
func (w *wallClock) compare() {
	var best, stray time.Duration
	for i := range wallClockTries {
		before := time.Since(w.start)
		now := time.Now()
		took := time.Since(w.start) - before
		if i == 0 || took < best {
			best, stray = took, now.Round(0).Sub(w.start.Round(0))-now.Sub(w.start)
		}
		if best <= wallClockClose {
			break
		}
	}
	if best <= wallClockClose {
		w.least, w.most = min(w.least, stray), max(w.most, stray)
	}
}

// end stops watching and returns how far the clocks strayed from each other:
// the largest minus the smallest difference.
func (w *wallClock) end() time.Duration {
	w.stop()
	<-w.done
	return w.most - w.least
}
