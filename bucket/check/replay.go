package check

import (
	"fmt"
	"slices"
)

// replay is the result of check 5: every decision that was witnessed, and every
// state that was stored, equals the sequential model's.
func (r *reading) replay(again *recall) Result {
	res := Result{Name: Replay, WithinPrediction: true, Value: map[string]float64{"compared": 0, "divergences": 0, "gaps": 0, "expiries": 0}}
	v := r.server
	switch {
	case r.spec.Model == nil:
		return res.skip("no model of the reference family is named for the limiter")
	case v == nil:
		return res.skip("nobody saw what was stored: there is no witness")
	}
	var sum chain
	for _, s := range r.order {
		if s.track == nil {
			continue
		}
		c := &s.track.chain
		sum.add(c)
		k := KeyResult{Key: s.key, Verdict: Pass, Figure: float64(c.divergences)}
		switch {
		case c.divergences > 0:
			k.Verdict = Fail
		case c.compared < fewestReplayed:
			k.Verdict = Undecided
		}
		res.Keys = append(res.Keys, k)
	}
	res.Keys = perKey(res.Keys)
	res.Value["compared"], res.Value["divergences"] = float64(sum.compared), float64(sum.divergences)
	res.Value["gaps"], res.Value["expiries"] = float64(sum.gaps), float64(sum.expiries)
	res.Value["restarts"], res.Value["unseen"] = float64(sum.restarts), float64(sum.unseen)
	decisions := many(sum.compared, "decision")
	switch {
	case sum.divergences > 0:
		res.Verdict, res.WithinPrediction = Fail, false
		r.showDivergence(&res, again)
		if sum.divergences > 1 {
			res.Detail += fmt.Sprintf("; the first of %d divergences in %s", sum.divergences, decisions)
		}
	case sum.compared == 0 && sum.unseen > 0:
		return res.skip("the witness does not tell what was stored")
	case sum.compared < fewestReplayed:
		res.Verdict = Undecided
		res.Detail = fmt.Sprintf("only %s was witnessed", decisions)
	default:
		res.Verdict = Pass
		res.Detail = fmt.Sprintf("%s and every stored state equal the model's, bit for bit", decisions)
	}
	res.Detail += sum.bridged()
	return res
}

// fewestReplayed is how many decisions must be compared to say anything.
const fewestReplayed = 2

func (c *chain) add(d *chain) {
	c.compared += d.compared
	c.divergences += d.divergences
	c.gaps += d.gaps
	c.restarts += d.restarts
	c.expiries += d.expiries
	c.unseen += d.unseen
}

// bridged says what the replay had to step over.
func (c *chain) bridged() string {
	words := ""
	for _, b := range []struct {
		n    int64
		what string
	}{{c.gaps, "gap"}, {c.restarts, "restart of the numbers"}, {c.expiries, "expiry"}} {
		switch {
		case b.n == 0:
		case b.what == "expiry" && b.n > 1:
			words += fmt.Sprintf("; %d expiries", b.n)
		case b.what == "restart of the numbers" && b.n > 1:
			words += fmt.Sprintf("; %d restarts of the numbers", b.n)
		default:
			words += "; " + many(b.n, b.what)
		}
	}
	return words
}

// diverged is the key with the earliest divergence; nil when there is none.
func (r *reading) diverged() *sweep {
	var first *sweep
	for _, s := range r.order {
		if s.track == nil || s.track.chain.first == nil {
			continue
		}
		if first == nil || s.track.chain.first.of.began < first.track.chain.first.of.began {
			first = s
		}
	}
	return first
}

// showDivergence puts the first divergence into the result.
func (r *reading) showDivergence(res *Result, again *recall) {
	s := r.diverged()
	d := s.track.chain.first
	ops := again.album.shown[ofReplay]
	slices.SortStableFunc(ops, inServersOrder)
	res.Evidence = &Evidence{Key: s.key, Operations: ops}
	for i := range ops {
		res.Evidence.Notes = append(res.Evidence.Notes, noted(&ops[i]))
	}
	p := r.server.referee
	who := r.crowd.members[d.of.instance].Name
	words := d.say(p)
	res.Detail = fmt.Sprintf("decision %d of %s%s: %s", d.of.sequence, called(who), onKey(s.key), words)
	verdict := "denies"
	if d.allowed {
		verdict = "grants"
	}
	switch d.kind {
	case kindDecision, kindStored, kindStamp, kindTime:
		res.Evidence.Notes = append(res.Evidence.Notes, fmt.Sprintf("model at decision %d: %s → %s %s at %s → %s",
			d.of.sequence, stored(d.from), verdict, tokens(d.of.cost), ticks(d.now), stored(d.model)))
	default:
		res.Evidence.Notes = append(res.Evidence.Notes, fmt.Sprintf("model at decision %d: %s before it, found %s", d.of.sequence, stored(d.model), stored(d.found)))
	}
}
