package capacity

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"bucketproof/bucket"
	"bucketproof/scenarios/load"
)

// tally sums up the rounds of one level.
type tally struct {
	level   Level
	rounds  []float64 // decisions a second
	latency *load.Distribution
	cpu     float64
	idle    float64
	others  float64
	cpuUS   float64 // of the server's main thread, and so on: over all rounds
	us      float64
	bytes   float64
	decided float64
}

// sweep measures all levels, round after round: up, down, and up again, so that
// a machine that gets slower meanwhile does not look like a bend.
func (m *Measurement) sweep(ctx context.Context) error {
	m.tallies = m.levels()
	limiters := map[Mode]bucket.Limiter{}
	for _, mode := range []Mode{Plain, Pipelined} {
		l, err := m.subject.Open(ctx, "sweep-"+string(mode), mode)
		switch {
		case errors.Is(err, ErrMode):
			m.note("pipelined callers were not measured: %v", err)
			m.tallies = slices.DeleteFunc(m.tallies, func(t *tally) bool { return t.level.Pipelined })
			continue
		case err != nil:
			return fmt.Errorf("open it for %s callers: %w", mode, err)
		}
		defer closeLimiter(l)
		limiters[mode] = l
	}
	defer m.swept()
	for round := range m.Pace.rounds {
		order := slices.Clone(m.tallies)
		if round%2 == 1 {
			slices.Reverse(order)
		}
		for _, t := range order {
			m.progress.now(fmt.Sprintf("%d %s callers", t.level.N, t.mode()))
			if _, err := m.round(ctx, t, limiters[t.mode()]); err != nil {
				return err
			}
			m.progress.done(m.Pace.level.length())
		}
	}
	return nil
}

// round measures a level once more and returns the decisions a second.
func (m *Measurement) round(ctx context.Context, t *tally, l bucket.Limiter) (float64, error) {
	out, err := m.rig.closed(ctx, l, mixedKeys(m.rig.keys(m.Pace.keys), m.Seed), t.level.N, m.Pace.level)
	if err == nil {
		t.add(out)
	}
	return out.decided, err
}

func (t *tally) mode() Mode {
	if t.level.Pipelined {
		return Pipelined
	}
	return Plain
}

// best is the level of such callers with the highest throughput; nil: none was
// measured.
func (m *Measurement) best(mode Mode) *tally {
	var best *tally
	for _, t := range m.tallies {
		if t.mode() == mode && len(t.rounds) > 0 && (best == nil || median(t.rounds) > median(best.rounds)) {
			best = t
		}
	}
	return best
}

func (m *Measurement) levels() []*tally {
	var all []*tally
	for _, n := range m.Pace.plain {
		all = append(all, &tally{level: Level{N: n}, latency: load.NewDistribution()})
	}
	for _, n := range m.Pace.pipelined {
		all = append(all, &tally{level: Level{N: n, Pipelined: true, Depth: n}, latency: load.NewDistribution()})
	}
	return all
}

func (t *tally) add(l loaded) {
	t.rounds = append(t.rounds, l.decided)
	for i := range l.ops {
		t.latency.Add(duration(l.ops[i].Return - l.ops[i].Call))
	}
	t.cpu += l.usage.redisCPU
	t.idle += l.usage.idle
	t.others += l.usage.others
	t.cpuUS += l.usage.cpuUS
	t.us += l.usage.scriptUS
	t.bytes += l.usage.bytes
	t.decided += l.decided * l.usage.seconds
}

// median of an even number is the mean of the two in the middle.
func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	if n == 0 {
		return 0
	}
	return (s[(n-1)/2] + s[n/2]) / 2
}

// tallied puts the levels that were measured into the result, and what a decision
// costs at the best plain one.
func (m *Measurement) tallied() {
	m.result.Connections = []Level{}
	for _, t := range m.tallies {
		n := float64(len(t.rounds))
		if n == 0 {
			continue
		}
		l := &t.level
		l.ThroughputPS, l.RedisCPU, l.GeneratorIdle = median(t.rounds), t.cpu/n, t.idle/n
		sum := t.latency.Summary()
		l.P50US, l.P99US = sum.P50, sum.P99
		m.result.Connections = append(m.result.Connections, *l)
	}
	if best := m.best(Plain); best != nil && best.decided > 0 && m.rig.server != nil {
		m.result.Cost = Cost{RedisUSPerCall: best.cpuUS / best.decided, CommandUS: best.us / best.decided, NetBytesPerCall: best.bytes / best.decided}
	}
	m.result.USL = Fit(m.result.Connections)
}

// swept ends the sweep.
func (m *Measurement) swept() {
	m.tallied()
	others, rounds := 0.0, 0.0
	for _, t := range m.tallies {
		others, rounds = others+t.others, rounds+float64(len(t.rounds))
	}
	if rounds > 0 && others/rounds > mostOthers {
		m.note("other programs took %.1f of this machine's %d processors during the sweep: without them the figures would be better, and steadier", others/rounds, runtime.NumCPU())
	}
}
