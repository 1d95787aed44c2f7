package clock

import "time"

// Bounds are the smallest and the largest skew that m can show at the whole
// nanoseconds of the stretch from … to (true time since the start of the run,
// both included, from ≤ to). A strobe that changes in the stretch counts as if
// it did at every instant of it: together with drift, steps or a freeze the
// bounds may then be wider than what m shows, and never narrower.
func (m Model) Bounds(from, to time.Duration) (least, most time.Duration) {
	if low, high, changes := m.Strobe.bounds(from, to); changes {
		m.Strobe = Strobe{}
		least, most = m.Bounds(from, to)
		return least + low, most + high
	}
	least, most = m.steady(from), m.steady(from)
	take := func(at time.Duration) {
		if from <= at && at <= to {
			skew := m.steady(at)
			least, most = min(least, skew), max(most, skew)
		}
	}
	// Between two steps, and the ends of a freeze, the skew is monotone in time, so
	// its ends decide.
	take(to)
	take(m.Freeze.At)
	take(m.Freeze.At + m.Freeze.For)
	for _, s := range m.Steps {
		take(s.At)
		take(s.At - 1)
	}
	return least - m.Jitter, most + m.Jitter
}

// bounds are the least and the most that s adds in a stretch, and whether it
// changes there.
func (s Strobe) bounds(from, to time.Duration) (least, most time.Duration, changes bool) {
	if s.By == 0 || s.Every <= 0 || to < 0 || max(from, 0)/s.Every == to/s.Every {
		return 0, 0, false
	}
	return min(s.By, 0), max(s.By, 0), true
}

// Spread is S of the predicted bound: the largest minus the smallest skew that
// any of models can show in the stretch from … to. No model: 0.
func Spread(models []Model, from, to time.Duration) time.Duration {
	if len(models) == 0 {
		return 0
	}
	least, most := models[0].Bounds(from, to)
	for _, m := range models[1:] {
		l, h := m.Bounds(from, to)
		least, most = min(least, l), max(most, h)
	}
	return most - least
}
