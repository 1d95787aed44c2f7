package check

import (
	"fmt"
	"math"
	"strconv"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// divergence is a decision that does not follow from the model.
type divergence struct {
	kind      divergenceKind
	of, ahead witnessed // the decision and the one ahead of it

	from    bucket.State // what the model decided from
	model   bucket.State // what should have been stored: after the decision, or by the one ahead
	found   bucket.State // of a broken link, what was stored before the decision
	allowed bool         // what the model decides
	now     float64      // at which time, in ticks

	around []int64 // operations: a few before it, it, a few after
}

type divergenceKind int

const (
	kindNone     divergenceKind = iota
	kindDecision                // yes for no
	kindStored                  // another level stored
	kindStamp                   // another time stored
	kindTime                    // decided at a time that is not the server's
	kindChanged                 // the state before is not what the decision ahead left
	kindGone                    // the key is gone before its time
	kindUnstored                // the decision ahead stored nothing
	kindAppeared                // a state that nobody stored
)

// say tells in words what the model says and what was found.
func (d *divergence) say(p *referee) string {
	w := &d.of
	switch d.kind {
	case kindDecision:
		has := d.had(p)
		if d.allowed {
			return fmt.Sprintf("it was denied, the model holds %s tokens and grants its %s", exactly(w.cost, has), tokens(w.cost))
		}
		return fmt.Sprintf("it was allowed, the model holds %s tokens and denies its %s", exactly(w.cost, has), tokens(w.cost))
	case kindStored:
		return fmt.Sprintf("%s tokens were stored, the model stores %s", exactly(d.model.Tokens, w.after.Tokens), exactly(w.after.Tokens, d.model.Tokens))
	case kindStamp:
		return fmt.Sprintf("the time %s was stored, the model stores %s", exactly(d.model.Time, w.after.Time), exactly(w.after.Time, d.model.Time))
	case kindTime:
		return fmt.Sprintf("it was decided at %s, the server's clock went from %d to %d µs meanwhile", ticks(d.now), w.began, w.ended)
	case kindChanged:
		if !alike(d.found.Tokens, d.model.Tokens) {
			return fmt.Sprintf("%s tokens were stored before it, the decision ahead of it left %s", exactly(d.model.Tokens, d.found.Tokens), exactly(d.found.Tokens, d.model.Tokens))
		}
		return fmt.Sprintf("the time %s was stored before it, the decision ahead of it left %s", exactly(d.model.Time, d.found.Time), exactly(d.found.Time, d.model.Time))
	case kindGone:
		return fmt.Sprintf("its key was gone %s after the decision ahead of it, a full refill takes %s", length((w.began-d.ahead.began)*1000), length(p.life*1000))
	case kindUnstored:
		return "the decision ahead of it stored nothing"
	}
	return fmt.Sprintf("%s tokens were stored before it, the decision ahead of it left no key", tokens(d.found.Tokens))
}

// had is the level that the model decided by.
func (d *divergence) had(p *referee) float64 {
	if d.allowed {
		full, _ := p.rule.Take(d.from, p.limit, d.now, math.Inf(1)) // denied, so that nothing is taken
		return full.Tokens
	}
	return d.model.Tokens
}

// exactly writes x for people, with all its 17 digits where it lies so close to
// y that fewer might not tell them apart.
func exactly(y, x float64) string {
	if math.Abs(x-y) < 1e-3*max(1, math.Abs(x)) || math.Abs(x) >= 1e6 {
		return strconv.FormatFloat(x, 'g', 17, 64)
	}
	return tokens(x)
}

func ticks(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// noted writes an operation as a line of evidence: its number, what was stored
// before it and after, and the decision.
func noted(op *history.Operation) string {
	w := &op.Witness
	clock := ""
	if op.Clock != history.NoClock {
		clock = fmt.Sprintf(", its clock at %.3f ms", float64(op.Clock)/1e6)
	}
	return fmt.Sprintf("decision %d at %d µs, %s%s: %s → %v %s → %s", w.Sequence, w.BeforeMicros, called(op.Instance), clock,
		stored(w.Before), op.Outcome, tokens(op.Cost), stored(w.After))
}

// stored writes a state with all its digits.
func stored(s bucket.State) string {
	if !s.Exists {
		return "no key"
	}
	return fmt.Sprintf("%s tokens at %s", strconv.FormatFloat(s.Tokens, 'g', 17, 64), ticks(s.Time))
}
