package capacity

import (
	"context"
	"fmt"
	"math"
)

// search looks for the highest rate that meets an objective: up from a share of
// the closed loop's peak in equal factors, then by bisection. Where a rate is not
// met it is tried again, and the majority of three counts, so that a hiccup of a
// shared machine does not make the knee.
type search struct {
	peak       float64 // closed loop, decisions a second, as far as known
	growth     float64 // from a step to the next, above 1
	resolution float64 // hi/lo at which the bisection ends, above 1
	most       int     // steps; then the edge stays as wide as it is
	try        func(ctx context.Context, rate float64) (Step, error)

	// beside measures the closed loop before a step: what it carries now, and its
	// peak by now; nil: the peak is known.
	beside func(ctx context.Context) (now, peak float64, err error)

	steps []Step
}

// Where the search begins and ends, as shares of the closed loop's peak.
const (
	firstShare = 0.7
	lastShare  = 2.0
	leastShare = 0.01
	wayDown    = 0.5 // from a first rate that is not met to the next
)

// edge is what was found: the highest rate met (0: none) and the verdict over
// the lowest that was not (nil: all were met).
type edge struct {
	met   float64
	above *Step
}

// run searches until the edge is known or ctx ends.
func (s *search) run(ctx context.Context) (edge, error) {
	var e edge
	for {
		for _, part := range []func(context.Context, *edge) error{s.up, s.down, s.bisect} {
			if err := part(ctx, &e); err != nil {
				return e, err
			}
		}
		again, err := s.doubt(ctx, &e)
		if err != nil {
			return e, err
		}
		if !again {
			return e, s.sober(ctx, &e)
		}
	}
}

// up goes from what is met, or the first rate, to one that is not.
func (s *search) up(ctx context.Context, e *edge) error {
	rate := firstShare * s.peak
	if e.met > 0 {
		rate = e.met * s.growth
	}
	for ; e.above == nil && rate <= lastShare*s.peak; rate *= s.growth {
		if err := s.place(ctx, e, rate); err != nil {
			return err
		}
	}
	return nil
}

// down goes from a first rate that is not met to one that is.
func (s *search) down(ctx context.Context, e *edge) error {
	for e.met == 0 && e.above != nil && e.above.RatePS*wayDown >= leastShare*s.peak {
		if err := s.place(ctx, e, e.above.RatePS*wayDown); err != nil {
			return err
		}
	}
	return nil
}

func (s *search) bisect(ctx context.Context, e *edge) error {
	for e.met > 0 && e.above != nil && e.above.RatePS/e.met > s.resolution && len(s.steps) < s.most {
		if err := s.place(ctx, e, math.Sqrt(e.met*e.above.RatePS)); err != nil {
			return err
		}
	}
	return nil
}

// doubt tries the rate above the edge once more, and a second time if it is met
// now: then a hiccup made the edge, and the search goes on.
func (s *search) doubt(ctx context.Context, e *edge) (again bool, err error) {
	if e.met == 0 || e.above == nil || len(s.steps) >= s.most {
		return false, nil
	}
	for range 2 {
		step, err := s.step(ctx, e.above.RatePS)
		if err != nil {
			return false, err
		}
		if step.Verdict != stepMet {
			return false, nil
		}
	}
	e.met, e.above = e.above.RatePS, nil
	return true, nil
}

// sober tries a rate again that was met though the closed loop, as it is known by now,
// never carries it: a fast moment made the edge if it is not met now.
func (s *search) sober(ctx context.Context, e *edge) error {
	for ctx.Err() == nil && s.beside != nil && e.met > s.peak/carried {
		step, err := s.settle(ctx, e.met)
		if err != nil || step.Verdict == stepMet {
			return err
		}
		e.above, e.met = &step, 0
		for _, other := range s.steps {
			if other.Verdict == stepMet && other.RatePS < step.RatePS {
				e.met = max(e.met, other.RatePS)
			}
		}
	}
	return nil
}

// place puts a rate on its side of the edge.
func (s *search) place(ctx context.Context, e *edge, rate float64) error {
	step, err := s.settle(ctx, rate)
	switch {
	case err != nil:
		return err
	case step.Verdict == stepMet:
		e.met = rate
	default:
		e.above = &step
	}
	return nil
}

// slowTurns is how often the closed loop is measured at most before a step, while it
// carries clearly less than its peak.
const slowTurns = 4

// step tries a rate. Where the moment decides it waits a while for one that is not
// slow.
func (s *search) step(ctx context.Context, rate float64) (step Step, err error) {
	now := 0.0
	for turn := 0; s.beside != nil && turn < slowTurns; turn++ {
		if now, s.peak, err = s.beside(ctx); err != nil {
			return step, err
		}
		if now >= carried*s.peak || !s.close(rate) {
			break
		}
	}
	if step, err = s.try(ctx, rate); err != nil {
		return step, err
	}
	step.ClosedPS = now
	s.steps = append(s.steps, step)
	return step, nil
}

// settle is the verdict over a rate: met at once, unless it is close to the closed
// loop's peak, or the majority of three. Of several steps with the verdict it is the
// last. A step that others disturbed, or that a slow or a fast moment decided, does
// not count, up to three times.
func (s *search) settle(ctx context.Context, rate float64) (Step, error) {
	met, not, spare := 0, 0, 3
	for {
		step, err := s.step(ctx, rate)
		if err != nil {
			return step, err
		}
		switch {
		case (step.disturbed() || s.hiccup(&step) || s.fluke(&step)) && spare > 0 && len(s.steps) < s.most:
			spare--
		case step.Verdict == stepMet:
			met++
		default:
			not++
		}
		if not == 2 || met == 2 || met == 1 && not == 0 && !s.close(rate) {
			return step, nil
		}
	}
}

// carried is the share of the closed loop's peak that surely is carried; and where
// the closed loop carries less than that of its peak, the machine is slower for the
// moment.
const carried = 0.95

// atEase is the share of the closed loop's peak up to which the generator has time to
// spare.
const atEase = 0.5

// hiccup says that a step fell behind at a rate that was seen to be carried, or while
// the machine was slower, or that it was refused at a rate that asks little of the
// generator.
func (s *search) hiccup(step *Step) bool {
	if step.Verdict == stepRefused && step.RatePS < atEase*s.peak {
		return true
	}
	slow := s.close(step.RatePS) && step.ClosedPS < carried*s.peak
	return step.AchievedPS < keptUp*step.RatePS && (step.RatePS < carried*s.peak || slow)
}

// fluke says that a step was met close to the peak while the machine was faster.
func (s *search) fluke(step *Step) bool {
	return step.Verdict == stepMet && s.close(step.RatePS) && step.ClosedPS > s.peak/carried
}

// close says that a rate is about the peak or above it, where the moment decides.
func (s *search) close(rate float64) bool { return s.beside != nil && rate > carried*s.peak }

// noKnee is the knee of a search that found nothing.
func noKnee(slo SLO, why string) Knee {
	return Knee{SLO: slo.String(), LimitedBy: "none", Why: why, Steps: []Step{}}
}

// kneeAt says what an edge means.
func kneeAt(e edge, slo SLO) Knee {
	k := Knee{SLO: slo.String(), MetPS: e.met, LimitedBy: "none"}
	switch {
	case e.above == nil && e.met == 0:
		k.Why = "no rate was tried"
	case e.above == nil:
		k.RatePS = &e.met
		k.Why = fmt.Sprintf("the objective was met at every rate tried, up to %s a second", thousands(e.met))
	case e.above.Verdict == stepRefused:
		k.LimitedBy = "generator"
		k.Why = fmt.Sprintf("at %s a second %s", thousands(e.above.RatePS), e.above.Why)
	case e.met == 0:
		k.LimitedBy = "redis"
		k.Why = fmt.Sprintf("no rate met the objective, down to %s a second: %s", thousands(e.above.RatePS), e.above.Why)
	default:
		k.RatePS, k.LimitedBy = &e.met, "redis"
		k.Why = fmt.Sprintf("at %s a second %s", thousands(e.above.RatePS), e.above.Why)
	}
	return k
}
