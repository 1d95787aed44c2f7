package capacity

import (
	"context"
	"fmt"
	"time"
)

// knees searches the knee of plain callers and, where the pace has time for it,
// that of pipelined ones.
func (m *Measurement) knees(ctx context.Context) error {
	defer m.tallied() // the best levels were measured again
	k, err := m.knee(ctx, Plain)
	m.result.Knee = k
	if err != nil || !m.Pace.pipeKnee {
		return err
	}
	k, err = m.knee(ctx, Pipelined)
	m.result.Pipelined = &k
	return err
}

// leastInFlight is the least callers that an open loop has: where few saturate a
// server, more of them hardly slow it down, and a burst has room.
const leastInFlight = 32

// knee searches the highest rate at which the callers' objective is met. The open
// loop has the callers of the closed loop's best level, no more: beyond them a
// backlog waits in the generator, as it does in a service with a connection pool,
// and saturated it is that closed loop. With more throughput falls again, and a
// rate below the peak never recovers from a hiccup (seen: with twice as many 43,000
// a second were carried in one step, and 31,000 of them in the next).
//
// Before each step the best level of the closed loop is measured once more. The
// best of several levels is the luckiest of them, too, until it is measured again;
// and a machine is not equally fast all the time.
func (m *Measurement) knee(ctx context.Context, mode Mode) (Knee, error) {
	best := m.best(mode)
	k := noKnee(m.SLO, "no throughput was measured to begin with")
	if best == nil || median(best.rounds) == 0 {
		return k, nil
	}
	n := max(best.level.N, leastInFlight)
	l, err := m.subject.Open(ctx, "knee-"+string(mode), mode)
	if err != nil {
		return k, fmt.Errorf("open it for %s callers: %w", mode, err)
	}
	defer closeLimiter(l)
	s := &search{peak: median(best.rounds), growth: m.Pace.growth, resolution: m.Pace.resolution, most: m.Pace.steps}
	past := m.progress.past
	s.beside = func(ctx context.Context) (now, peak float64, err error) {
		m.progress.now(fmt.Sprintf("closed loop again, %s", mode))
		now, err = m.round(ctx, m.best(mode), l)
		return now, median(m.best(mode).rounds), err
	}
	seen := view{direct: mode == Plain && !m.subject.Remote, local: m.Local}
	s.try = func(ctx context.Context, rate float64) (Step, error) {
		m.progress.now(fmt.Sprintf("knee: %s a second, %s", thousands(rate), mode))
		step, told, err := m.rig.open(ctx, l, mixedKeys(m.rig.keys(m.Pace.keys), m.Seed), rate, n, m.Pace.step)
		if err == nil {
			seen.told = told
			judgeStep(&step, m.SLO, seen)
		}
		if len(s.steps) < m.Pace.steps {
			m.progress.done(m.Pace.search())
		}
		return step, err
	}
	e, err := s.run(ctx)
	if e.above != nil {
		*e.above = pooled(*e.above, s.steps)
		judgeStep(e.above, m.SLO, seen)
	}
	k = kneeAt(e, m.SLO)
	if err != nil {
		k.RatePS, k.LimitedBy, k.Why = nil, "none", "the search did not end: "+err.Error()
	}
	if k.MetPS > 0 && err == nil {
		k.Why += fmt.Sprintf("; %s is %.0f %% of the closed loop's best", thousands(k.MetPS), 100*k.MetPS/s.peak)
	}
	k.PeakPS, k.InFlight, k.Steps = s.peak, n, append([]Step{}, s.steps...)
	m.progress.past = past + m.Pace.search()*time.Duration(m.Pace.steps)
	return k, err
}
