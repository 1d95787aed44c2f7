package reports

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"bucketproof/bucket/check"
)

// The figures of a Prediction.
const (
	peakExcess      = "peak_excess"
	excessPerSecond = "excess_per_s"
	lockout         = "lockout_s"
	spuriousDenials = "spurious_denials"
	slowShare       = "slow_share"
)

// The clocks that a Disturbance is of.
const (
	ofCaller = "caller"
	ofServer = "server"
)

// Kinds of disturbance that are told of in a way of their own.
const (
	kindGrowth   = "growth"
	kindHeld     = "held"
	kindExpiry   = "held-past-expiry"
	kindPolite   = "mixed-polite"
	kindOverload = "mixed-overload"
)

// study is all runs with a disturbance: each limiter under each.
type study struct {
	limiters []string // in the order of the report
	ordeals  []ordeal // those of the callers' clocks first
}

// ordeal is one disturbance as one scenario provokes it, at one size or more.
type ordeal struct {
	kind, of, unit string
	scenario       string // without a point
	shared         bool   // another scenario provokes the same kind
	points         []ordealPoint
}

// ordealPoint is a size of an ordeal.
type ordealPoint struct {
	size float64
	name string         // of the point in a sweep, told where sizes are the same
	runs map[string]int // limiter → index in Report.Runs
}

// newStudy collects the runs with a disturbance; nil when there are none. Left out
// is a run with a fault whose cause is known, for that is in the limiter's source
// and not in what was done to the clocks.
func newStudy(r *Report) *study {
	groups := groupScenarios(r)
	s := new(study)
	for i, run := range r.Runs {
		d := run.Disturbance
		if d == nil || slices.ContainsFunc(run.Checks, knownFault) {
			continue
		}
		if !slices.Contains(s.limiters, run.Limiter) {
			s.limiters = append(s.limiters, run.Limiter)
		}
		g := groups[run.Scenario]
		s.ordeal(named(*d, g.base), g.base).add(d.Size, g.point, run.Limiter, i)
	}
	if len(s.ordeals) == 0 {
		return nil
	}
	for i := range s.ordeals {
		o := &s.ordeals[i]
		slices.SortStableFunc(o.points, func(a, b ordealPoint) int {
			return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(duration(a.name), duration(b.name)))
		})
		o.shared = slices.ContainsFunc(s.ordeals, func(other ordeal) bool {
			return other.kind == o.kind && other.of == o.of && other.scenario != o.scenario
		})
	}
	slices.SortStableFunc(s.ordeals, func(a, b ordeal) int { return cmp.Compare(sideRank(a.of), sideRank(b.of)) })
	return s
}

// knownFault reports whether a check failed for a cause that is known.
func knownFault(c Check) bool { return c.Known != "" && c.Verdict == string(check.Fail) }

// named gives a disturbance the kind that its scenario is named for, which tells
// more: calls held past an expiry are more than calls held, and clocks apart
// under polite load are not those of a drained bucket.
func named(d Disturbance, scenario string) Disturbance {
	name := strings.TrimPrefix(scenario, "clocks-")
	for _, kind := range []string{name, "mixed-" + name} {
		if _, known := ordealWords[kind]; known {
			d.Kind = kind
		}
	}
	return d
}

// duration is the name of a point as one, 0 when it is none.
func duration(name string) time.Duration {
	d, _ := time.ParseDuration(name) // a name may be anything
	return d
}

// sideRank puts the callers' clocks before the server's, and both before what
// is not known here.
func sideRank(of string) int {
	switch of {
	case ofCaller:
		return 0
	case ofServer:
		return 1
	}
	return 2
}

func (s *study) ordeal(d Disturbance, scenario string) *ordeal {
	for i := range s.ordeals {
		o := &s.ordeals[i]
		if o.kind == d.Kind && o.of == d.Of && o.unit == d.Unit && o.scenario == scenario {
			return o
		}
	}
	s.ordeals = append(s.ordeals, ordeal{kind: d.Kind, of: d.Of, unit: d.Unit, scenario: scenario})
	return &s.ordeals[len(s.ordeals)-1]
}

// add notes a run; of two of one limiter at one point the first counts.
func (o *ordeal) add(size float64, name, limiter string, run int) {
	for _, p := range o.points {
		if p.size == size && p.name == name {
			if _, known := p.runs[limiter]; !known {
				p.runs[limiter] = run
			}
			return
		}
	}
	o.points = append(o.points, ordealPoint{size: size, name: name, runs: map[string]int{limiter: run}})
}
