package check

import "time"

// windowLife judges existence and life where windows count. A sliding window's
// last grant counts for W, in a log as in a counter, which needs it longer still;
// where fixed windows lie is not known, so that of their keys only a life
// without an end, or much too long a one, is wrong here (one too short grants
// too much). Keys may be named after their windows: that one is absent says
// something only where all were searched for.
func (a *auditor) windowLife(sample *Sample, g glance, offsets int64, t *trail) {
	longest := a.longestOf(sample)
	need := max(0, time.Duration(g.life)-rounding-time.Duration(offsets)) // g is in it
	switch {
	case len(sample.Keys) > 0:
		a.looked, t.owed = true, true
		if need > 0 {
			a.owed++
		}
		if longest < need {
			a.violation(sample, kindEarly, "%s lives %s more, the last grant counts for %s", sample.Keys[0].Name, length(int64(longest)), length(int64(need)))
		}
	case need > 0 && sample.Complete:
		a.owed++
		t.owed = true
		a.violation(sample, kindLost, "nothing is stored, the last grant counts for %s more", length(int64(need)))
	}
}
