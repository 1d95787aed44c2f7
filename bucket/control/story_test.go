package control

import (
	"time"

	"bucketproof/bucket"
)

// story is a provocation in virtual time. Stories are the scenarios of the
// standard suite at their shortest.
type story struct {
	name  string
	limit bucket.Limit
	tell  func(r *rig)
}

const ms = time.Millisecond

var stories = []story{
	{"overload", bucket.Limit{Rate: 10, Capacity: 5}, func(r *rig) {
		r.ask("a", 8)
		for range 50 { // at 2.5 times the rate
			r.wait(40 * ms)
			r.ask("a", 1)
		}
	}},
	{"polite", bucket.Limit{Rate: 10, Capacity: 2}, func(r *rig) {
		for range 40 { // at 0.87 of the rate
			r.wait(115 * ms)
			r.ask("a", 1)
		}
	}},
	{"short of a token", bucket.Limit{Rate: 20, Capacity: 1}, func(r *rig) {
		for range 20 {
			r.ask("a", 1)
			r.wait(30 * ms)
		}
	}},
	{"around a second's edge", bucket.Limit{Rate: 10, Capacity: 5}, func(r *rig) {
		r.wait(time.Second - time.Duration(epoch.Nanosecond()) - 50*ms)
		r.ask("a", 8)
		r.wait(100 * ms)
		r.ask("a", 8)
	}},
	{"idle", bucket.Limit{Rate: 2, Capacity: 6}, func(r *rig) {
		for _, idle := range []time.Duration{0, 500, 1500, 2500, 3500} {
			r.wait(idle * ms)
			r.ask("a", 8)
		}
	}},
	{"quickly full", bucket.Limit{Rate: 3, Capacity: 1}, func(r *rig) {
		for range 6 {
			r.ask("a", 3)
			r.wait(90 * ms)
		}
	}},
	{"slow", bucket.Limit{Rate: 0.5, Capacity: 3}, func(r *rig) {
		for range 6 {
			r.ask("a", 3)
			r.wait(700 * ms)
		}
	}},
	{"waits as told", bucket.Limit{Rate: 2, Capacity: 2}, func(r *rig) {
		for range 15 {
			r.ask("a", 1)
			r.wait(max(r.last.RetryAfter, 10*ms))
		}
	}},
	{"several instances", bucket.Limit{Rate: 10, Capacity: 30}, func(r *rig) {
		for range 20 {
			for _, instance := range []string{"a", "b", "c"} {
				r.ask(instance, 1)
				r.wait(1 * ms)
			}
		}
	}},
	{"late calls", bucket.Limit{Rate: 10, Capacity: 5}, func(r *rig) {
		r.ask("a", 5)
		for range 10 {
			r.wait(50 * ms)
			r.ask("a", 1)
			r.askLate("b", 400*ms)
			r.ask("a", 1)
		}
	}},
	{"step back", bucket.Limit{Rate: 10, Capacity: 5}, func(r *rig) {
		r.ask("a", 5)
		r.skew = -2 * time.Second
		for range 25 {
			r.wait(80 * ms)
			r.ask("a", 1)
		}
	}},
	{"years pass", bucket.Limit{Rate: 100, Capacity: 10}, func(r *rig) {
		for _, jump := range []time.Duration{8 * time.Hour, 30 * 24 * time.Hour, 10 * 365 * 24 * time.Hour} {
			r.ask("a", 12)
			r.skew += jump
			for range 10 {
				r.wait(20 * ms)
				r.ask("a", 1)
			}
		}
	}},
}
