package check

import (
	"fmt"
	"math"

	"bucketproof/bucket"
)

// overshoot is what check 1 found on one key.
type overshoot struct {
	grants int64   // returned so far
	tokens float64 // their costs
	whole  bool    // all costs so far are whole numbers

	// The worst window: peak = granted − bound, bound = C + R·(1+ρ)·(end −
	// start), without slack. peak is −∞ before the first grant.
	peak       float64
	start, end int64
	granted    float64
	before     float64 // tokens of the bound that the window before counts for, see phases

	excess float64 // see strike
}

// note keeps the window if it is the worst so far.
func (o *overshoot) note(start, end int64, granted, bound float64) {
	if over := granted - bound; over > o.peak {
		o.peak, o.start, o.end, o.granted = over, start, end, granted
	}
}

// strike finds the least number of tokens that must be struck from the record
// to make it conform: the best sum over disjoint windows of what each is over.
// over is what the best window that ends now is over, after slack, and base
// the best sum over windows that ended before it began. Costs that are whole
// can only be struck as a whole number, so ⌈over⌉; with others it is a lower
// bound. (Restarting after each broken window instead finds 1 of 990: the best
// windows do not begin where the last one ended.)
func (o *overshoot) strike(base, over float64) {
	if over <= tolerance {
		return
	}
	if o.whole {
		over = math.Ceil(over - tolerance)
	}
	o.excess = max(o.excess, base+over)
}

func (o *overshoot) broken(slack float64) bool { return o.peak-slack > tolerance }

func (o *overshoot) verdict(slack float64) Verdict {
	if o.broken(slack) {
		return Fail
	}
	return Pass
}

// overAdmission is the result of check 1.
func (r *reading) overAdmission(again *recall) Result {
	res := Result{Name: OverAdmission, WithinPrediction: true, Value: map[string]float64{
		"peak_excess": 0, "excess": 0, "predicted_peak_excess": r.spec.predict(nil),
	}}
	if r.counts.Answered() == 0 {
		return res.unasked(r.counts.Offered)
	}
	fits := true
	explained := true // by expiries alone
	for _, s := range r.order {
		o := &s.over
		res.Keys = append(res.Keys, KeyResult{Key: s.key, Verdict: o.verdict(r.rules.slack), Figure: max(0, o.peak)})
		res.Value["excess"] += o.excess
		if !o.broken(r.rules.slack) {
			continue
		}
		l := again.outlooks[s]
		if !again.whole() || o.peak-r.spec.predict(l) > tolerance || r.rules.clock != bucket.CallerTime {
			fits = false
		}
		if l.expiries.count == 0 || l.skews.spread() > r.rules.grain {
			explained = false
		}
	}
	res.Keys = perKey(res.Keys)
	res.Verdict = overall(res.Keys)
	if f := r.rules.frame; f != nil && f.coarse() && res.Verdict == Pass {
		res.Verdict = Undecided
		defer func() {
			res.Detail = fmt.Sprintf("a window of %s is too short beside what the clock may be off, %s; %s",
				length(int64(f.window)), length(int64(f.grain)), res.Detail)
		}()
	}
	if worst := r.worst(); worst != nil {
		r.showWindow(&res, worst, again)
	}
	if res.Verdict == Fail {
		res.WithinPrediction = fits
		if fits && explained {
			res.Value["explained_by_expiry"] = 1
		}
	}
	return res
}

// showWindow puts the worst window into the result.
func (r *reading) showWindow(res *Result, s *sweep, again *recall) {
	o, l := &s.over, again.outlooks[s]
	bound := o.granted - o.peak
	res.Value["peak_excess"] = max(0, o.peak)
	res.Value["granted"], res.Value["bound"] = o.granted, bound
	if r.rules.clock == bucket.CallerTime && again.whole() {
		skew := l.skew(r.spec.step())
		res.Value["predicted_peak_excess"] = r.spec.predict(l)
		res.Value["spread_s"], res.Value["age_s"] = skew.Spread.Seconds(), skew.Age.Seconds()
		res.Value["expiries"] = float64(skew.Expiries)
		if len(r.spec.Leaps) > 0 {
			res.Value["leaps"] = float64(skew.Leaps)
		}
	}
	window := fmt.Sprintf("granted %s tokens in %s where at most %s fit", tokens(o.granted), length(o.end-o.start), tokens(bound))
	if o.before > 0 {
		window += fmt.Sprintf(", of %s and %s that the window before counts for", tokens(r.rules.capacity), tokens(o.before))
	}
	place := r.span(o.start, o.end) + onKey(s.key)
	switch {
	case res.Verdict == Fail:
		res.Detail = fmt.Sprintf("%s: %s too many (%s)", window, tokens(o.peak), place)
		res.Evidence = &Evidence{
			Key:        s.key,
			Window:     &Window{StartNS: o.start + r.origin, EndNS: o.end + r.origin, Granted: o.granted, Bound: bound},
			Operations: l.grants,
		}
	case o.peak > 0:
		res.Detail = fmt.Sprintf("no window is over by more than the clock's granularity; the fullest: %s (%s)", window, place)
	default:
		res.Detail = fmt.Sprintf("no window is over; the fullest: %s (%s)", window, place)
	}
}

// ExplainedByExpiry says of a failed over-admission check that all clocks were
// the same as far as their granularity tells (the spread in every broken window
// is at most g), and that on every broken key no more was granted than the
// expiry of an idle key with delayed readings explains. Where a pass was
// expected of a limiter on the caller's clock, such a run is undecided: the
// machine was too slow for the limit. It is false for any other result.
func (r Result) ExplainedByExpiry() bool {
	return r.Name == OverAdmission && r.Verdict == Fail && r.Value["explained_by_expiry"] == 1
}
