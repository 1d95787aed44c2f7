package check

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"bucketproof/bucket"
)

// Thresholds of check 7. An instance is starved when it got less than half of
// what its share of the requests calls for, and so little by chance happens
// less than once in a million runs.
const (
	starvedRatio  = 0.5
	starvedChance = 1e-6
)

// FewestGrants is how many grants must be due to an instance for [Fairness] to
// be judged: below it half as many are no rare event.
const FewestGrants = 60

// fairness judges how the grants were shared out. p is an instance's share of
// the answered requests and G the number of grants, both over all keys, on the
// understanding that instances draw their keys and times alike. With random
// arrivals each grant falls to an instance with probability p, so its grants
// are Bin(G, p). With constant arrivals they are not: the phases lock, and a
// perfect bucket starves one of two callers.
//
// Callers' clocks explain a starved instance once the fastest clock is a token
// ahead, R·(S + g) ≥ 1: what it leaves in the bucket is then less than a token
// for the slowest.
func (r *reading) fairness(members []InstanceSummary) Result {
	res := Result{Name: Fairness, WithinPrediction: true, Value: map[string]float64{}}
	var requests, grants int64
	for _, m := range members {
		requests += m.Answered()
		grants += m.Allowed
	}
	res.Value["grants"], res.Value["instances"] = float64(grants), float64(len(members))
	switch {
	case !r.spec.RandomArrivals:
		return res.skip("arrivals were not random")
	case len(members) < 2:
		return res.skip("one instance has nobody to share with")
	case grants == 0:
		res.Verdict = Undecided
		res.Detail = "nothing was granted"
		return res
	}
	s := shares{grants: grants, requests: requests}
	for _, m := range members {
		s.weigh(m, len(members))
	}
	s.result(&res)
	if res.Verdict == Fail {
		res.WithinPrediction = r.rules.clock == bucket.CallerTime && r.rules.rate*float64(r.spread())+r.rules.slack >= 1
	}
	return res
}

// spread is the largest spread of skews on any key, in ns.
func (r *reading) spread() (s int64) {
	for _, k := range r.order {
		s = max(s, k.skews.spread())
	}
	return s
}

// shares is how the grants were shared out.
type shares struct {
	grants, requests int64
	least, most      portion // by ratio
	starved          []portion
	few              int // instances with too few grants due to judge
}

// portion is one instance's part.
type portion struct {
	InstanceSummary
	due   float64 // grants that its share of requests calls for, G·p
	ratio float64 // grants over due
}

func (s *shares) weigh(m InstanceSummary, instances int) {
	if m.Answered() == 0 {
		return
	}
	p := float64(m.Answered()) / float64(s.requests)
	q := portion{InstanceSummary: m, due: float64(s.grants) * p}
	q.ratio = float64(m.Allowed) / q.due
	if s.least.due == 0 || q.ratio < s.least.ratio {
		s.least = q
	}
	if s.most.due == 0 || q.ratio > s.most.ratio {
		s.most = q
	}
	chance := distuv.Binomial{N: float64(s.grants), P: p}.CDF(float64(m.Allowed))
	rare := chance < starvedChance/float64(instances)
	switch {
	case rare && q.ratio < starvedRatio && (q.due >= FewestGrants || m.Allowed == 0):
		s.starved = append(s.starved, q)
	case q.due < FewestGrants:
		s.few++
	}
}

func (s *shares) result(res *Result) {
	res.Value["smallest_ratio"], res.Value["largest_ratio"] = s.least.ratio, s.most.ratio
	switch {
	case len(s.starved) > 0:
		res.Verdict = Fail
		worst := slices.MinFunc(s.starved, func(a, b portion) int { return cmp.Compare(a.ratio, b.ratio) })
		res.Detail = fmt.Sprintf("%s was starved: %d of the %s grants that its share of the requests calls for; %s got %s of its share",
			called(worst.Name), worst.Allowed, tokens(worst.due), called(s.most.Name), percent(s.most.ratio))
		res.Evidence = &Evidence{}
		for _, q := range s.starved[:min(len(s.starved), notesMost)] {
			res.Evidence.Notes = append(res.Evidence.Notes, fmt.Sprintf("%s: %d of %d requests granted, %s called for",
				called(q.Name), q.Allowed, q.Answered(), tokens(q.due)))
		}
	case s.few > 0:
		res.Verdict = Undecided
		res.Detail = fmt.Sprintf("too few grants to judge %s: fewer than %d fell to its share", many(int64(s.few), "instance"), FewestGrants)
	default:
		res.Verdict = Pass
		res.Detail = fmt.Sprintf("every instance got its share: from %s (%s) to %s (%s) of what its requests call for",
			percent(s.least.ratio), s.least.Name, percent(s.most.ratio), s.most.Name)
	}
}

func percent(x float64) string { return tokens(x*100) + " %" }
