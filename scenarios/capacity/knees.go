package capacity

import (
	"context"
	"fmt"
	"time"
)

// knees searches the knee of plain callers and, where the pace has time for it,
// that of pipelined ones.
func (m *Measurement) knees(ctx context.Context) error {
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
func (m *Measurement) knee(ctx context.Context, mode Mode) (Knee, error) {
	peak, n := m.result.peak(mode == Pipelined)
	k := noKnee(m.SLO, "no throughput was measured to begin with")
	if peak == 0 {
		return k, nil
	}
	n = max(n, leastInFlight)
	l, err := m.subject.Open(ctx, "knee-"+string(mode), mode)
	if err != nil {
		return k, fmt.Errorf("open it for %s callers: %w", mode, err)
	}
	defer closeLimiter(l)
	s := &search{peak: peak, growth: m.Pace.growth, resolution: m.Pace.resolution, most: m.Pace.steps}
	past := m.progress.past
	s.try = func(ctx context.Context, rate float64) (Step, error) {
		m.progress.now(fmt.Sprintf("knee: %s a second, %s", thousands(rate), mode))
		step, needs, err := m.rig.open(ctx, l, mixedKeys(m.rig.keys(m.Pace.keys), m.Seed), rate, n, m.Pace.step)
		if err == nil {
			judgeStep(&step, m.SLO, view{demand: needs, direct: mode == Plain && !m.subject.Remote, local: m.Local})
		}
		if len(s.steps) < m.Pace.steps {
			m.progress.done(m.Pace.step.length())
		}
		return step, err
	}
	e, err := s.run(ctx)
	k = kneeAt(e, m.SLO)
	if err != nil {
		k.RatePS, k.LimitedBy, k.Why = nil, "none", "the search did not end: "+err.Error()
	}
	k.PeakPS, k.InFlight, k.Steps = peak, n, append([]Step{}, s.steps...)
	m.progress.past = past + m.Pace.step.length()*time.Duration(m.Pace.steps)
	return k, err
}
