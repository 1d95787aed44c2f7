package check

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// rounding is what a key's life may fall short of the exact one because it is
// counted in whole milliseconds: one for a limiter that rounds down, one for
// Redis, which counts from the millisecond in which the write happened (a write
// at 0.9 ms that asks for 100 ms is gone at 100.0 ms, not at 100.9).
const rounding = 2 * time.Millisecond

// trail is what check 4 keeps of one key while the history goes by.
type trail struct {
	last int64 // the latest call of a grant that has returned, ns

	// At the call of the first grant after a quiet moment, from, so many tokens
	// were still missing. A limiter whose key lives only as long as tokens are
	// missing may have forgotten them by then.
	from     int64
	forgiven float64

	seen bool // a sample showed one of the key's names

	samples, violations int
	owed                bool // at one sample the key had to exist
}

// quiet is called before the window of a grant called at t begins. The fewest
// tokens that can be missing from the bucket are max value − R·t over the
// windows; where that is no more than what the clocks' disagreement is worth
// and no grant is under way, a GCRA on callers' clocks may have let its key
// expire. What was missing then is not asked for later.
func (a *trail) quiet(s *sweep, t int64) {
	offsets := s.skews.offsets(s.rules.clock)
	if offsets == 0 || s.level.flying > 0 {
		return
	}
	missing := max(0, s.missing(t))
	if missing <= s.rules.rate*float64(offsets)+s.rules.slack {
		a.from, a.forgiven = t, missing
	}
}

// missing is the fewest tokens that can be missing from the bucket at t, as
// far as the windows tell: at most 0 when it may be full.
func (s *sweep) missing(t int64) float64 {
	start, granted, _, ok := s.windows.worst(&s.line)
	if !ok {
		return 0
	}
	return granted - s.rules.fast*float64(t-start)
}

// owed is how many tokens must be missing at time t by the grants that have
// returned so far. A bucket is never below empty, and empty at the earliest at
// the last grant's call: a limiter that gave out more than C (which check 1
// reports) still gives its key no longer life than one full refill.
func (s *sweep) owed(t int64) float64 {
	owed := s.missing(t)
	if start, _, _, ok := s.windows.worst(&s.line); ok && start < s.audit.from {
		owed -= s.audit.forgiven
	}
	return min(owed, s.rules.capacity-s.rules.fast*float64(t-s.audit.last))
}

// glance is what a sample must be judged by, noted when the history has come
// to the sample's call; zero where the key had seen no request by then.
type glance struct {
	owed  float64 // tokens missing at the sample's return, at least
	life  float64 // ns that a window has yet to count at the sample's return, at least
	known bool    // a name of the key was seen before
}

func (s *sweep) glance(sample *Sample, ret int64) glance {
	g := glance{known: s.audit.seen}
	if f := s.rules.frame; f == nil {
		g.owed = s.owed(ret)
	} else if s.windowed.log != nil && s.over.grants > 0 {
		g.life = f.short() - float64(ret-s.audit.last)
	}
	if len(sample.Keys) > 0 {
		s.audit.seen = true
	}
	return g
}

// auditor judges the samples when the whole history is known.
type auditor struct {
	spec     *Spec
	rules    *rules
	notes    []string
	evidence string // the key that the notes are about
	kinds    map[string]int
	longest  time.Duration
	samples  int
	found    int
	owed     int
	looked   bool // a key was seen whose life could be judged, if only for being too long
}

// The kinds of violation, as they stand in sentences after a number.
const (
	kindAbsent = "key missing though the bucket cannot be full"
	kindNoTTL  = "key without an expiry"
	kindShort  = "TTL too short for the refill"
	kindLost   = "key missing though what it counts still counts"
	kindEarly  = "TTL too short for the window"
	kindLong   = "TTL absurdly long"
	kindLevel  = "stored level out of range"
)

// judge judges one sample of the key that s is about; nil when nobody asked for
// it. A look that began before the key's first request may have seen its bucket
// all the same, so the clocks' disagreement is that of the whole history.
func (a *auditor) judge(sample *Sample, g glance, s *sweep) {
	a.samples++
	t := &trail{}
	var offsets int64
	if s != nil {
		t = &s.audit
		offsets = s.skews.offsets(a.rules.clock)
		if a.rules.frame != nil {
			offsets = s.skews.offsets(a.spec.Time)
		}
	}
	t.samples++
	before := a.found
	if a.rules.frame != nil {
		a.windowLife(sample, g, offsets, t)
	} else {
		a.life(sample, g, offsets, t)
	}
	for i := range sample.Keys {
		a.state(sample, &sample.Keys[i], offsets)
	}
	t.violations += a.found - before
}

// life judges existence and the longest TTL: the bucket is full at the earliest
// when the missing tokens are earned, (C − level)/R from now, and no life
// shorter than that is right. The clocks' disagreement is taken off, for a GCRA
// on the caller's clock counts its life from what the caller says.
func (a *auditor) life(sample *Sample, g glance, offsets int64, t *trail) {
	need := time.Duration(g.owed/a.rules.fast) - rounding - time.Duration(a.rules.grain) - time.Duration(offsets)
	need = max(0, need)
	if need > 0 && (len(sample.Keys) > 0 || sample.Complete || g.known) {
		a.owed++
		t.owed = true
		if len(sample.Keys) == 0 {
			a.violation(sample, kindAbsent, "nothing is stored, %s tokens are missing", tokens(g.owed))
		}
	}
	if longest := a.longestOf(sample); len(sample.Keys) > 0 && longest < need {
		a.violation(sample, kindShort, "%s lives %s more, %s tokens are missing and take %s",
			sample.Keys[0].Name, length(int64(longest)), tokens(g.owed), length(int64(g.owed/a.rules.fast)))
	}
}

// longestOf is the longest life among a sample's keys.
func (a *auditor) longestOf(sample *Sample) time.Duration {
	longest := time.Duration(0)
	for _, k := range sample.Keys {
		if k.TTL == NoExpiry {
			longest = math.MaxInt64
			continue
		}
		longest = max(longest, k.TTL)
		a.longest = max(a.longest, k.TTL)
	}
	return longest
}

// state judges what one Redis key shows by itself. Stored tokens may be below 0
// by what the clocks disagree: a call whose reading is older than the stored
// one takes back what was earned in between. (The reference on one synchronized
// clock with 16 callers stores −0.1 at R = 100, C = 1.)
func (a *auditor) state(sample *Sample, k *KeyState, offsets int64) {
	fill := a.spec.Limit.Capacity / a.spec.Limit.Rate // seconds
	most := 10*fill + 60
	switch {
	case k.TTL == NoExpiry:
		a.violation(sample, kindNoTTL, "%s never expires", k.Name)
	case k.TTL.Seconds() > most:
		a.violation(sample, kindLong, "%s lives %s, a full %s takes %s", k.Name, length(int64(k.TTL)), a.rules.span(), length(int64(fill*1e9)))
	}
	if a.rules.frame != nil {
		return // it may store anything
	}
	least := -tolerance - a.rules.slack - a.rules.fast*float64(offsets)
	if k.Tokens < least || k.Tokens > a.rules.capacity+tolerance { // NaN: not read
		a.violation(sample, kindLevel, "%s stores %s tokens", k.Name, tokens(k.Tokens))
	}
}

// notesMost is how many violations are told one by one.
const notesMost = 8

func (a *auditor) violation(sample *Sample, kind, format string, args ...any) {
	a.found++
	if a.kinds == nil {
		a.kinds = make(map[string]int)
		a.evidence = sample.Key
	}
	a.kinds[kind]++
	if sample.Key == a.evidence && len(a.notes) < notesMost {
		a.notes = append(a.notes, kind+": "+fmt.Sprintf(format, args...))
	}
}

// stateAudit is the result of check 4.
func (r *reading) stateAudit() Result {
	res := Result{Name: StateAudit, WithinPrediction: true, Value: map[string]float64{}}
	if len(r.samples) == 0 {
		return res.skip("no key was looked at")
	}
	a := &auditor{spec: r.spec, rules: &r.rules}
	for i := range r.samples {
		a.judge(&r.samples[i], r.glances[i], r.known(r.samples[i].Key))
	}
	res.Value["samples"], res.Value["violations"] = float64(a.samples), float64(a.found)
	res.Value["owed"], res.Value["longest_ttl_s"] = float64(a.owed), a.longest.Seconds()
	for _, s := range r.order {
		if t := &s.audit; t.samples > 0 {
			res.Keys = append(res.Keys, KeyResult{Key: s.key, Verdict: t.verdict(), Figure: float64(t.violations)})
		}
	}
	res.Keys = perKey(res.Keys)
	looks := many(int64(a.samples), "look")
	switch {
	case a.found > 0:
		res.Verdict, res.WithinPrediction = Fail, false
		res.Detail = "in " + looks + ": " + a.sentence()
		res.Evidence = &Evidence{Key: a.evidence, Notes: a.notes}
	case a.owed == 0 && !a.looked:
		return res.skip("at none of " + looks + " did a key have to exist")
	default:
		res.Verdict = Pass
		res.Detail = fmt.Sprintf("every key seen in %s has a right life; the longest: %s", looks, length(int64(a.longest)))
	}
	return res
}

func (t *trail) verdict() Verdict {
	switch {
	case t.violations > 0:
		return Fail
	case !t.owed:
		return Skipped
	}
	return Pass
}

// sentence tells how often each kind was found.
func (a *auditor) sentence() string {
	var parts []string
	for _, kind := range []string{kindNoTTL, kindAbsent, kindLost, kindShort, kindEarly, kindLong, kindLevel} {
		if n := a.kinds[kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s (%d times)", kind, n))
		}
	}
	return strings.Join(parts, "; ") + onKey(a.evidence)
}
