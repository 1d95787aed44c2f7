package check

import (
	"fmt"
	"math"
	"time"

	"bucketproof/bucket"
)

// denials is what check 2 found on one key.
type denials struct {
	judged      int64             // denials of no more than C tokens
	spurious    int64             // no placement of the other requests explains them
	unexplained int64             // nor does the limiter's clock rule
	hidden      int64             // the bucket held the cost, but R·g ≥ C − cost, so that no denial could be shown spurious
	blind       int64             // none could be shown spurious for what unknown requests may have charged
	unknown     int64             // unknown requests
	longest     int64             // the longest lock-out of an instance, ns
	first       []int64           // operations: the first few spurious ones
	runs        map[int32]lockout // by instance, under way
}

// lockout is an unbroken run of spurious denials of one instance on one key:
// from the call of the first to the return of the last, with no grant returned
// to the instance between them. A denial that is justified neither extends a
// run nor breaks it: an instance that asks a dry bucket now and then has still
// got nothing. Unknown and unsent requests do neither, too.
type lockout struct{ first, last int64 } // ns

// evidenceMost is how many operations stand as evidence for a failure.
const evidenceMost = 20

// justify judges a denial at its return, least being the smallest pessimistic
// level in its interval. It is justified iff least < cost + R·g: the bucket
// may have held too little at one instant of it. (least is up to C + R·g for a
// bucket that nobody touched, see deny; alone says that it stayed so.)
//
// A limiter on the caller's clock explains up to R·(g + ahead + age) more on
// that call, age being the call's own return − call and ahead by how much the
// fastest clock that called on the key so far is ahead of this call's. For let
// o be (what the clock said) − (the instant the script ran), and level T; then
// U = T − R·o is a bucket in true time with capacity C − R·o, so at the denial
//
//	T ≥ min over writes s ≤ t of  C + R·(t − s) − grants in [s, t] − R·(o_s − o),
//
// and o_s ≤ the largest skew of a call before the return, o ≥ own skew − age −
// g. That covers a slow instance starved by fast ones, an only clock that
// stepped back (its own earlier calls are the fast ones), and one that has
// left: what its last call stored stands until the key expires, so the largest
// skew is never forgotten. An expiry fills the bucket, which explains no
// denial.
func (s *sweep) justify(place int, q *request, least float64, alone bool, c *crowd) {
	d, r := &s.denials, s.rules
	if q.cost > r.capacity {
		return // can never be granted
	}
	d.judged++
	if ceiling := r.capacity - q.cost - r.slack; ceiling-s.level.lost <= tolerance && !alone {
		switch {
		case s.level.lost > 0:
			d.blind++
		case least >= q.cost-tolerance:
			d.hidden++
		}
		return
	}
	over := least - q.cost - r.slack
	if over <= tolerance {
		return
	}
	d.spurious++
	if late := r.rate * float64(s.skews.ahead(q)+q.ret-q.call); max(over, s.beyond(place, q)) > late+tolerance {
		d.unexplained++
	}
	if len(d.first) < evidenceMost {
		d.first = append(d.first, q.index)
	}
	d.deny(q, c)
}

// beyond is by how much the level is over what would justify a denial, as far as
// the prediction goes, where no grant was under way beside it: -∞ where one was.
// Of the writes s that justify speaks of, only those count at which the bucket
// was full, and at a denial it was not: it held less than the cost. So what a
// bucket earns is held against C again only when somebody takes from it. (A
// bucket of one token that never refills denies for ever, and lateness, which is
// worth little, explains the first moments only.)
func (s *sweep) beyond(place int, q *request) float64 {
	if s.free.flying > 0 || s.denials.unknown > 0 || s.taken > place || s.landed >= q.call {
		return math.Inf(-1)
	}
	return s.free.loose(q.call) - q.cost - s.rules.slack
}

// deny extends the instance's lock-out or begins one.
func (d *denials) deny(q *request, c *crowd) {
	run, ok := d.runs[q.instance]
	if !ok {
		run = lockout{q.call, q.ret}
	}
	run.first, run.last = min(run.first, q.call), max(run.last, q.ret)
	if d.runs == nil {
		d.runs = make(map[int32]lockout)
	}
	d.runs[q.instance] = run
	length := run.last - run.first
	d.longest = max(d.longest, length)
	who := &c.members[q.instance]
	who.SpuriousDenials++
	who.LongestLockout = max(who.LongestLockout, time.Duration(length))
}

// relieve ends an instance's lock-out with a grant.
func (d *denials) relieve(instance int32) {
	if len(d.runs) > 0 {
		delete(d.runs, instance)
	}
}

// verdict is fail when a spurious denial was found; undecided when denials came
// after unknown requests may have taken all, or when most are excused by nothing
// but a granularity that is worth as much as the bucket holds.
func (d *denials) verdict() Verdict {
	switch {
	case d.spurious > 0:
		return Fail
	case d.blind > 0, 2*d.hidden > d.judged:
		return Undecided
	}
	return Pass
}

// spuriousDenial is the result of check 2.
func (r *reading) spuriousDenial(again *recall) Result {
	res := Result{Name: SpuriousDenial, WithinPrediction: true, Value: map[string]float64{"count": 0, "longest_s": 0}}
	if r.counts.Answered() == 0 {
		return res.unasked(r.counts.Offered)
	}
	var sum denials
	for _, s := range r.order {
		d := &s.denials
		res.Keys = append(res.Keys, KeyResult{Key: s.key, Verdict: d.verdict(), Figure: float64(d.spurious)})
		sum.add(d)
	}
	res.Keys = perKey(res.Keys)
	res.Verdict = overall(res.Keys)
	res.Value["count"] = float64(sum.spurious)
	res.Value["longest_s"] = time.Duration(sum.longest).Seconds()
	res.Value["denied"] = float64(r.counts.Denied)
	switch res.Verdict {
	case Fail:
		res.WithinPrediction = r.rules.clock == bucket.CallerTime && sum.unexplained == 0
		r.showDenials(&res, &sum, again)
	case Undecided:
		res.Detail = fmt.Sprintf("%s came after unknown requests that may have taken every token", many(sum.blind, "denial"))
		if sum.blind == 0 {
			res.Detail = fmt.Sprintf("%s cannot be told right from wrong: the granularity of the clock is worth %s tokens, the bucket holds %s",
				many(sum.hidden, "denial"), tokens(r.rules.slack), tokens(r.rules.capacity))
		}
	default:
		res.Detail = fmt.Sprintf("each of %s is justified", many(r.counts.Denied, "denial"))
		if r.counts.Denied == 0 {
			res.Detail = "nothing was denied"
		}
	}
	return res
}

// add sums what two keys show.
func (d *denials) add(e *denials) {
	d.judged += e.judged
	d.spurious += e.spurious
	d.unexplained += e.unexplained
	d.hidden += e.hidden
	d.blind += e.blind
	d.longest = max(d.longest, e.longest)
}

// showDenials puts the spurious denials into the result.
func (r *reading) showDenials(res *Result, sum *denials, again *recall) {
	res.Value["unexplained"] = float64(sum.unexplained)
	res.Evidence = &Evidence{Key: r.mostDenied().key, Operations: again.shown, Lockouts: make(map[string]float64)}
	var worst *InstanceSummary
	for i := range r.crowd.members {
		m := &r.crowd.members[i]
		if m.SpuriousDenials == 0 {
			continue
		}
		res.Evidence.Lockouts[m.Name] = m.LongestLockout.Seconds()
		if worst == nil || m.LongestLockout > worst.LongestLockout || m.LongestLockout == worst.LongestLockout && m.Name < worst.Name {
			worst = m
		}
	}
	res.Detail = fmt.Sprintf("%s was locked out for %s: %d of its denials are explained by no placement of the other requests",
		called(worst.Name), length(int64(worst.LongestLockout)), worst.SpuriousDenials)
	if others := len(res.Evidence.Lockouts) - 1; others > 0 {
		res.Detail += fmt.Sprintf("; %s too, %d denials in all", many(int64(others), "other instance"), sum.spurious)
	}
}
