package capacity

import (
	"fmt"
	"runtime"
)

// The verdicts over a step.
const (
	stepMet     = "met"     // the objective was met, and the server kept up
	stepMissed  = "missed"  // it was not, and that was the server's doing
	stepRefused = "refused" // it was not, and that says nothing of the server
)

// From where on one side counts as the bottleneck.
const (
	keptUp      = 0.97 // of the rate asked; below it a backlog grows
	busyServer  = 0.85 // of the one processor that the server's main thread can have; a better generator could bring no more than a sixth on top
	freeEnough  = 0.25 // of the generator's processors, idle: then nobody waits for one
	leastOnTime = 0.9  // of sends within a millisecond of their due time
	lagShare    = 0.2  // of the tightest latency of the objective, for the lag's p99
	mostOthers  = 0.25 // processors that other programs may take
	clearlyMore = 1.25 // of one side's demand over the other's
)

// view is what is known of where the two sides of a step stand.
type view struct {
	told   bool // the server tells how busy it is
	direct bool // callers have connections of their own to it
	local  bool // it has the generator's processors
}

// judgeStep decides over a step whose figures are filled in.
//
// The latency counts from the due time, so a generator that was late only makes
// a step look worse: what is met is met. What is missed is the server's doing
// where its main thread was saturated; or where processors were short and it is
// the server that needs them most; or where the generator kept its schedule, apart
// from waiting for a caller that the server still held, and had processors to
// spare: then the server waits for something, or the way to it is slow. Otherwise
// nobody knows, and the step is refused. Callers that are not direct wait for
// others as well, for the batch before theirs or for a gateway, so that being on
// time proves nothing there.
func judgeStep(s *Step, slo SLO, v view) {
	why := slo.missed(s)
	if s.AchievedPS < keptUp*s.RatePS {
		if why != "" {
			why += ", and "
		}
		why += fmt.Sprintf("%s of %s requests a second were answered", thousands(s.AchievedPS), thousands(s.RatePS))
	}
	if why == "" {
		s.Verdict, s.Why = stepMet, ""
		return
	}
	late := s.OnTime < leastOnTime || s.LagP99US > lagShare*slo.tightest()
	s.Verdict = stepRefused
	switch {
	case !v.told:
		why += "; the server does not tell how busy it was"
	case s.RedisCPU >= busyServer:
		s.Verdict = stepMissed
		why += "; " + s.whoIsBusy()
		if more := 1/s.RedisCPU - 1; more >= 0.05 {
			why += fmt.Sprintf(": a better generator could bring %.0f %% more at most", 100*more)
		}
	case s.Idle < freeEnough && s.serverNeedsMore(v.local):
		s.Verdict = stepMissed
		why += fmt.Sprintf("; processors were short, and Redis is the bottleneck: a decision takes %.3g µs of its one thread and %.3g µs of the generator's %d processors; %s", s.RedisUS, s.OwnUS, runtime.GOMAXPROCS(0), s.whoIsBusy())
	case s.Idle < freeEnough:
		why += "; the generator had no processor to spare: " + s.whoIsBusy()
	case late:
		why += fmt.Sprintf("; the generator was late: %.0f %% of its sends were on time, lag p99 %s; %s", 100*s.OnTime, latency(s.LagP99US), s.whoIsBusy())
	case !v.direct:
		why += "; neither side was saturated, so what is between them may be the limit: " + s.whoIsBusy()
	default:
		s.Verdict = stepMissed
		why += fmt.Sprintf("; the generator kept its schedule and waited for Redis, service p99 %s: %s", latency(s.ServiceP99), s.whoIsBusy())
	}
	s.Why = why
}

// serverNeedsMore says that the server's thread is the bottleneck whoever else
// takes processors. By the service demand law (Denning, Buzen, The Operational
// Analysis of Queueing Network Models, 1978) a resource of which each decision
// takes D allows at most 1/D a second, and the largest D is the bottleneck: that
// of one thread, of the processors that the generator may use, or of those that
// both share.
func (s *Step) serverNeedsMore(local bool) bool {
	generator := s.OwnUS / float64(runtime.GOMAXPROCS(0))
	shared := s.OwnUS
	if local {
		shared += s.RedisUS
	}
	shared /= float64(runtime.NumCPU())
	return s.RedisUS > clearlyMore*max(generator, shared) && s.OwnUS > 0
}

// pooled is a step that was not met with the mean of what the meters said at it and
// beyond: the figures of one step are those of a moment. Steps that others disturbed
// are left out, unless all were.
func pooled(above Step, steps []Step) Step {
	sum, n := above, 0.0
	sum.RedisCPU, sum.Idle, sum.Others, sum.RedisUS, sum.OwnUS, sum.OnTime = 0, 0, 0, 0, 0, 0
	for i := range steps {
		s := &steps[i]
		if s.Verdict == stepMet || s.RatePS < above.RatePS || s.disturbed() && !above.disturbed() {
			continue
		}
		n++
		sum.RedisCPU += s.RedisCPU
		sum.Idle += s.Idle
		sum.Others += s.Others
		sum.RedisUS += s.RedisUS
		sum.OwnUS += s.OwnUS
		sum.OnTime += s.OnTime
	}
	for _, v := range []*float64{&sum.RedisCPU, &sum.Idle, &sum.Others, &sum.RedisUS, &sum.OwnUS, &sum.OnTime} {
		*v /= n
	}
	return sum
}

// disturbed says that a step that was not met shows other programs rather than
// either side.
func (s *Step) disturbed() bool { return s.Verdict != stepMet && s.Others > mostOthers }
