package scenarios

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/check"
)

// Selection is what a command was asked to run.
type Selection struct {
	Scenarios []*Scenario
	Subjects  []*Subject                             // every scenario runs for these; none: for its own limiters
	Resolve   func(limiter string) (*Subject, error) // finds a scenario's own limiters
	Rate      float64                                // replaces the scenarios' rates; 0: does not
	Capacity  float64                                // replaces the scenarios' capacities; 0: does not
	Quick     bool                                   // only what the shortened suite runs
	Seed      uint64
	Witness   Witness

	// NoOwn says why no run can have a server to itself; "": it can.
	NoOwn string
}

// Witness says which runs ask their limiter with a witness, if it can be.
type Witness string

// WitnessAuto is all runs but those that judge latency.
const (
	WitnessAuto Witness = "auto"
	WitnessOn   Witness = "on"
	WitnessOff  Witness = "off"
)

func (w Witness) wanted(s *Scenario) bool {
	return w == WitnessOn || w == WitnessAuto && !s.Latency
}

// Skip is a run that will not take place.
type Skip struct {
	Scenario, Limiter, Reason string
}

// Plans lists the runs to make: for each scenario each point of its sweep for
// each limiter, and what is left out and why.
func (c Selection) Plans() ([]Plan, []Skip, error) {
	var plans []Plan
	var skips []Skip
	for _, s := range c.Scenarios {
		subjects, err := c.subjects(s)
		if err != nil {
			return nil, nil, err
		}
		for _, sub := range subjects {
			points, err := c.points(s, sub)
			if err != nil {
				return nil, nil, err
			}
			for _, p := range points {
				if why := c.unfit(&p, s, sub); why != "" {
					skips = append(skips, Skip{p.Name, sub.Name, why})
					continue
				}
				plans = append(plans, Plan{
					Scenario: p, Subject: sub, Seed: seedOf(c.Seed, p.Name, sub.Name),
					Witness: sub.Witnessed && !p.own() && c.Witness.wanted(&p), // whose TIME is set tells no order
				})
			}
		}
	}
	return plans, skips, nil
}

func (c Selection) subjects(s *Scenario) ([]*Subject, error) {
	if len(c.Subjects) > 0 {
		return c.Subjects, nil
	}
	if len(s.Limiters) == 0 {
		return nil, fmt.Errorf("scenario %s names no limiters: add `limiters: [app-clock]`, or --limiter NAME", s.Name)
	}
	var subjects []*Subject
	for _, name := range s.Limiters {
		sub, err := c.Resolve(name)
		if err != nil {
			return nil, fmt.Errorf("scenario %s: %w", s.Name, err)
		}
		subjects = append(subjects, sub)
	}
	return subjects, nil
}

// points expands a scenario for one limiter under the limits asked for.
func (c Selection) points(s *Scenario, sub *Subject) ([]Scenario, error) {
	limits := []bucket.Limit{s.Limit}
	if s.Sweep.Limit != nil {
		limits = s.Sweep.Limit
	}
	var used []bucket.Limit
	for _, l := range limits {
		if l = c.limit(l, sub); !slices.Contains(used, l) {
			used = append(used, l)
		}
	}
	for _, l := range used {
		if l.Capacity < s.cost() {
			return nil, fmt.Errorf("limit of %s in scenario %s: capacity %v is below the cost of a request, %v: nothing could ever be granted, raise it", sub.Name, s.Name, l.Capacity, s.cost())
		}
	}
	base := s.copy()
	switch {
	case s.Sweep.Limit == nil:
		base = base.Scaled(used[0])
	case len(used) == 1:
		base = base.Scaled(used[0])
		base.Sweep = Sweep{}
	default:
		base.Sweep.Limit = used
	}
	points := base.Points()
	if !c.Quick {
		return points, nil
	}
	return s.shortened(points), nil
}

// limit is what a limiter is asked to keep where the scenario wants l.
func (c Selection) limit(l bucket.Limit, sub *Subject) bucket.Limit {
	if sub.Limit != nil {
		return *sub.Limit
	}
	if sub.Contract.Windowed() && c.Rate == 0 && c.Capacity == 0 {
		return windowLimit(l)
	}
	if c.Rate > 0 {
		l.Rate = c.Rate
	}
	if c.Capacity > 0 {
		l.Capacity = c.Capacity
	}
	return l
}

// shortened keeps the points that the shortened suite runs. They are told by
// their place in the sweep, since another limit changes their names.
func (s *Scenario) shortened(points []Scenario) []Scenario {
	if s.Quick.All {
		return points
	}
	written := s.Points()
	var kept []Scenario
	for i, p := range points {
		_, name, _ := strings.Cut(written[min(i, len(written)-1)].Name, "/")
		if slices.Contains(s.Quick.Names, name) {
			kept = append(kept, p)
		}
	}
	return kept
}

// What a scenario may ask for once it is scaled to another limit.
const (
	maxLength   = time.Minute
	maxRequests = 200_000
	minRequests = 2 * minAnswered
)

// unfit says why a point of a scenario is not run, or "": the limiter cannot
// express the limit or the costs, or cannot be shown the server's clock, or has no
// server, or, scaled to a limit far from the one it was written for, it takes too
// long, too many requests, or too few to judge by.
func (c Selection) unfit(s, written *Scenario, sub *Subject) string {
	if sub.Fits != nil {
		if err := sub.Fits(s.Limit); err != nil {
			return err.Error()
		}
	}
	if s.costs() && !sub.Costs {
		return "the limiter takes no cost, and requests of this scenario cost more than a token"
	}
	if sub.WholeCosts && s.fractions() {
		return "the limiter takes whole costs, and requests of this scenario cost a part of a token"
	}
	if w := s.Limit.FillTime(); sub.Contract.Windowed() && w < check.ShortestWindow(sub.Granularity) {
		return fmt.Sprintf("in a window of %v, beside a clock's step of %v, nothing can be told of a limiter that counts in windows", w, sub.Granularity)
	}
	if s.shifts(sub) && sub.OpenShifted == nil {
		return "the server's clock is changed in this scenario, and only a limiter that is one script can be shown another TIME"
	}
	switch {
	case s.own() && (!sub.Stored || sub.OwnClock):
		return "the server's clock is set in this scenario, and the limiter keeps nothing on it"
	case s.own() && c.NoOwn != "":
		return "the run needs a server of its own: " + c.NoOwn
	}
	if s.Limit == written.Limit {
		return ""
	}
	if d := length(s.Phases); d > maxLength {
		return fmt.Sprintf("scaled to %v it takes %v, more than %v", s.Limit, d.Round(time.Second), maxLength)
	}
	if n := requests(s.Phases); n > maxRequests {
		return fmt.Sprintf("scaled to %v it takes %.0f requests, more than %d", s.Limit, n, maxRequests)
	} else if n < minRequests {
		return fmt.Sprintf("scaled to %v it makes about %.0f requests, fewer than %d", s.Limit, n, minRequests)
	}
	return ""
}

// seedOf gives each run a seed of its own that does not depend on what else is
// run beside it.
func seedOf(seed uint64, scenario, limiter string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d\x00%s\x00%s", seed, scenario, limiter)
	return h.Sum64()
}
