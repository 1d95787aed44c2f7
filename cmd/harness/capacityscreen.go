package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"
)

// remainder is the progress of all measurements of a command: a bar on standard
// error with what is measured and how long it still takes; without a terminal a
// line a limiter.
type remainder struct {
	screen   *screen
	limiters int
	began    time.Time
	told     int // limiter that was told last, from 1
}

func newRemainder(s *screen, limiters int) *remainder {
	if s.bar != nil {
		s.bar = progressbar.NewOptions(1000*limiters,
			progressbar.OptionSetWriter(s.err), progressbar.OptionSetWidth(24), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false))
	}
	return &remainder{screen: s, limiters: limiters, began: time.Now()}
}

// tell shows how far limiter i, from 0, is.
func (r *remainder) tell(i int, limiter, what string, done, all time.Duration) {
	s := r.screen
	if r.told <= i {
		r.told = i + 1
		left := all * time.Duration(r.limiters-i)
		s.note(fmt.Sprintf("measuring %s (%d of %d), about %v left", limiter, i+1, r.limiters, left.Round(time.Second)))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bar == nil {
		return
	}
	share := (float64(i) + float64(done)/float64(all)) / float64(r.limiters)
	s.bar.Describe(fmt.Sprintf("%-46.46s %6s left", limiter+": "+what, r.left(share, all).Round(time.Second)))
	_ = s.bar.Set(int(share * float64(1000*r.limiters)))
}

// left is how long the rest takes: at first as planned, then as fast as so far.
func (r *remainder) left(share float64, all time.Duration) time.Duration {
	planned := time.Duration((1 - share) * float64(all) * float64(r.limiters))
	if share < 0.1 {
		return planned
	}
	return time.Duration((1 - share) / share * float64(time.Since(r.began)))
}

// end removes the bar.
func (r *remainder) end() {
	r.screen.mu.Lock()
	defer r.screen.mu.Unlock()
	r.screen.wipe()
}
