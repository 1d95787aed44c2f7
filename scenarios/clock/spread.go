package clock

import "time"

// Bounds are the smallest and the largest skew that m can show at the whole
// nanoseconds of the stretch from … to (true time since the start of the run,
// both included, from ≤ to).
func (m Model) Bounds(from, to time.Duration) (least, most time.Duration) {
	least, most = m.steady(from), m.steady(from)
	take := func(at time.Duration) {
		if from <= at && at <= to {
			skew := m.steady(at)
			least, most = min(least, skew), max(most, skew)
		}
	}
	// Between two steps the skew is monotone in time, so its ends decide.
	take(to)
	for _, s := range m.Steps {
		take(s.At)
		take(s.At - 1)
	}
	return least - m.Jitter, most + m.Jitter
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
