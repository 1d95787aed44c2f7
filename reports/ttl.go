package reports

import (
	"fmt"
	"slices"
	"strings"

	"bucketproof/bucket"
	"bucketproof/bucket/check"
	"bucketproof/reports/quantity"
)

// claim is something that is said of limiters: for whom it held and for whom
// not, with what was found.
type claim struct{ fell, held, open []string }

func (c claim) any() bool { return len(c.fell)+len(c.held)+len(c.open) > 0 }

// words are the claim's outcome: "false for a (found); true for b".
func (c claim) words() string {
	var parts []string
	for _, part := range []struct {
		verdict string
		names   []string
	}{{"false for", c.fell}, {"true for", c.held}, {"undecided for", c.open}} {
		if len(part.names) > 0 {
			parts = append(parts, part.verdict+" "+strings.Join(slices.Compact(part.names), ", "))
		}
	}
	return strings.Join(parts, "; ")
}

// ttlWords say which claim about the TTL held and which did not, from runs in
// which a key expired while calls were held on their way; none without such.
func ttlWords(r *Report, s *study) []string {
	var lives, lossless, alive claim
	callers := false
	for _, limiter := range s.limiters {
		for _, o := range s.ordeals {
			g := rule(r, o, limiter)
			switch o.kind {
			case kindExpiry:
				worst, over := lossless.note(r, g, limiter)
				callers = callers || over && r.Runs[worst.runs[limiter]].Time == string(bucket.CallerTime)
				lives.audit(r, o, limiter)
			case kindHeld:
				alive.note(r, g, limiter)
			}
		}
	}
	if !lossless.any() {
		return nil
	}
	list := []string{"Two things are claimed of a TTL of one full refill."}
	if lives.any() {
		list = append(list, "That a key lives until its bucket would be full: "+lives.words()+".")
	}
	list = append(list, "That nothing is lost with it, for a missing key means a full bucket: "+lossless.words()+".")
	if callers {
		list = append(list, "A key's life runs by the server's clock, the time that is forgotten with it was a caller's: "+
			"a reading from before the expiry lets the same stretch of time be earned twice.")
	}
	if len(alive.held) > 0 {
		list = append(list, "Calls held while the key lived made "+strings.Join(slices.Compact(alive.held), ", ")+" grant nothing too many.")
	}
	return list
}

// note adds a limiter by what it granted beyond the limit.
func (c *claim) note(r *Report, g ruling, limiter string) (worst ruled, over bool) {
	worst, _, over = g.worst(func(h harm) float64 { return h.excess }, func(h harm) bool { return h.over })
	switch {
	case over:
		c.fell = append(c.fell, fmt.Sprintf("%s (%s%s)", limiter, overWords(worst.excess), foretold(r.Runs[worst.runs[limiter]])))
	case g.state() == absent:
	case len(g.undecided) > 0:
		c.open = append(c.open, limiter)
	default:
		c.held = append(c.held, limiter+longLife(r.Runs[g.telling(limiter)]))
	}
	return worst, over
}

// longLife tells how long the keys of a run were seen to live, where that is
// clearly more than a refill.
func longLife(run Run) string {
	for _, c := range run.Checks {
		life := c.Value["longest_ttl_s"]
		if c.Name == check.StateAudit && life > 2*run.Limit.Capacity/run.Limit.Rate {
			return " (its keys live up to " + quantity.Seconds(life) + ")"
		}
	}
	return ""
}

// audit adds a limiter by what the state audit found of its keys.
func (c *claim) audit(r *Report, o ordeal, limiter string) {
	for _, p := range o.points {
		i, ran := p.runs[limiter]
		if !ran {
			continue
		}
		switch verdictOf(r.Runs[i], check.StateAudit) {
		case check.Pass:
			c.held = append(c.held, limiter)
		case check.Fail:
			c.fell = append(c.fell, limiter)
		case check.Undecided:
			c.open = append(c.open, limiter)
		}
	}
}

// foretold is the predicted excess of a run.
func foretold(run Run) string {
	if f, _ := figureOf(run, peakExcess); f.told {
		return ", predicted " + amount(f.Predicted, f.Unit)
	}
	return ""
}
