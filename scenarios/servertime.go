package scenarios

import (
	"context"
	"math"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/check"
	"bucketproof/bucket/history"
	"bucketproof/bucket/lua"
	"bucketproof/scenarios/clock"
)

// shifts reports whether the scenario shows the limiter another TIME than the
// server's own.
func (s *Scenario) shifts(sub *Subject) bool {
	return !s.own() && sub.Time == bucket.ServerTime && !s.ServerClock.model(0).Synchronized()
}

// serverTime is the TIME that a run's limiter is shown in place of the server's
// own. It is true time until the run begins.
type serverTime struct {
	model   clock.Model
	base    time.Time            // what the server's own clock says at the start
	elapsed func() time.Duration // since the start; nil: not begun
}

// openInstance opens the limiter for an instance, under the scenario's clock.
func (r *run) openInstance(ctx context.Context, name string) (bucket.Limiter, error) {
	switch sub := r.plan.Subject; {
	case r.own != nil:
		return r.own.OpenLimiter(ctx, sub, name)
	case r.shown != nil:
		return sub.OpenShifted(ctx, name, r.plan.Witness, r.shown.clock)
	default:
		return sub.Open(ctx, name, r.plan.Witness)
	}
}

// begin starts the clock. own is the server's own against this process's.
func (t *serverTime) begin(wall time.Time, own reading, elapsed func() time.Duration) {
	t.base, t.elapsed = wall.Round(0).Add(own.offset), elapsed
}

// clock is how the shown TIME is to be computed from the server's own now. The
// steps are told from the start on, so that each is one for all requests; drift
// and jitter are those of the instant of asking.
func (t *serverTime) clock() lua.ServerClock {
	if t.elapsed == nil {
		return lua.ServerClock{}
	}
	smooth := t.model
	smooth.Steps = nil
	c := lua.ServerClock{Offset: smooth.Skew(t.elapsed())}
	for _, s := range t.model.Steps {
		c.Steps = append(c.Steps, lua.ClockStep{At: t.base.Add(s.At), By: s.By})
	}
	return c
}

// bounds are the least and the most by which the shown TIME is ahead of the
// server's own in [from, to], ns since the start. length is the run's, and
// unsure how far the instants of the steps may be off.
func (t *serverTime) bounds(length, unsure time.Duration) func(from, to int64) (least, most int64) {
	// Each term of the shown TIME is cut to a whole microsecond.
	cut := time.Duration(1+len(t.model.Steps)) * time.Microsecond
	return func(from, to int64) (int64, int64) {
		if to == history.Forever {
			to = max(from, int64(length))
		}
		l, m := t.model.Bounds(time.Duration(from)-unsure, time.Duration(min(to, math.MaxInt64-int64(unsure)))+unsure)
		return int64(l - cut), int64(m + cut)
	}
}

// shift tells the checks of the shown TIME, or of what happened to the clock of a
// server of the run's own.
func (r *run) shift(spec *check.Spec, j judging) {
	if r.own != nil {
		moved := &serverTime{model: clock.Model{Steps: r.own.taken}}
		spec.ShiftedTime, spec.Shift = true, moved.bounds(r.driver.Elapsed(), r.own.slow+j.stray)
		spec.Leaps = r.own.leaps
	}
	if r.shown == nil {
		return
	}
	unsure := j.before.uncertainty + (j.after.offset - j.before.offset).Abs() + j.after.uncertainty + j.stray
	spec.ShiftedTime, spec.Shift = true, r.shown.bounds(r.driver.Elapsed(), unsure)
}
