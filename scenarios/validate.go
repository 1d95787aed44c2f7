package scenarios

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"bucketproof/bucket/check"
)

// nameRule is what a scenario's, a group's and a limiter's name must be, since
// results are kept in folders of that name.
var nameRule = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

const nameHint = "want letters, digits, dots, dashes and underscores, not a dot or dash first"

// Limits on what a scenario may ask for, so that a slip of the pen is told and
// not run.
const (
	maxInstances = 1000
	maxBurst     = 100_000
	maxWorkers   = 10_000
	maxKeys      = 1_000_000
	maxRepeat    = 10_000
	maxOpenRate  = 1_000_000      // requests a second
	maxLasting   = 24 * time.Hour // of a phase, of all phases, and of a wait
	maxPlanned   = 50_000_000     // requests; each is held in memory until it is judged
)

// checkNames are the checks that an expectation may name.
var checkNames = []string{
	check.OverAdmission, check.SpuriousDenial, check.AcceptRate, check.StateAudit, check.Accounting,
	check.Replay, check.Linearizability, check.Fairness, check.ReplyContract,
}

// validate reports the first mistake, with its place.
func (s *Scenario) validate() error {
	switch {
	case s.Name == "":
		return wrong("$", "name is missing")
	case !nameRule.MatchString(s.Name):
		return wrong("$.name", "%q is no name, %s", s.Name, nameHint)
	case s.Limit.Rate == 0 && s.Limit.Capacity == 0:
		return wrong("$.limit", "limit is missing, write limit: {rate: 100, capacity: 50}")
	}
	if err := s.Limit.Countable(); err != nil {
		return wrong("$.limit", "%v", err)
	}
	if err := validateCost("$.cost", s.Cost); err != nil {
		return err
	}
	if s.cost() > s.Limit.Capacity {
		return wrong("$.limit", "capacity %v is below the cost of a request, %v: nothing could ever be granted", s.Limit.Capacity, s.cost())
	}
	if s.Keys.Count < 0 || s.Keys.Count > maxKeys {
		return wrong("$.keys.count", "count is %d, want 1 to %d", s.Keys.Count, maxKeys)
	}
	if p := s.Keys.Pick; !slices.Contains([]string{"", "uniform", "zipf", "round-robin"}, p) {
		return wrong("$.keys.pick", "%q is unknown, want uniform, zipf or round-robin", p)
	}
	if err := s.validateInstances(); err != nil {
		return err
	}
	if err := s.validateServer(); err != nil {
		return err
	}
	if len(s.Phases) == 0 {
		return wrong("$", "phases are missing, write at least one, such as - {burst: 100}")
	}
	if err := s.validatePhases("$.phases", s.Phases); err != nil {
		return err
	}
	if s.InFlight < 0 {
		return wrong("$.in_flight", "in_flight is %d, want 0 or more", s.InFlight)
	}
	if err := s.validateSweep(); err != nil {
		return err
	}
	if err := s.validateSize(); err != nil {
		return err
	}
	if err := s.validateDisturbance(); err != nil {
		return err
	}
	if err := s.validatePredict(); err != nil {
		return err
	}
	return s.validateExpect()
}

// validateCost takes 0 for a cost that was left out.
func validateCost(path string, cost float64) error {
	if !(cost >= 0) || math.IsInf(cost, 1) {
		return wrong(path, "cost is %v, want a finite number above 0", cost)
	}
	return nil
}

// validateSize reports a point of the sweep that takes too long or asks for more
// than a machine can hold.
func (s *Scenario) validateSize() error {
	for i, p := range s.Points() {
		path := "$.phases"
		if s.Sweep.Load != nil {
			path = fmt.Sprintf("$.sweep.load[%d]", i)
		} else if s.Sweep.For != nil {
			path = fmt.Sprintf("$.sweep.for[%d]", i)
		}
		if d := length(p.Phases); d > maxLasting {
			return wrong(path, "the phases take %v in all, want at most %gh", d, maxLasting.Hours())
		}
		if p.scaled { // what another limit makes of it is skipped where it is too much
			continue
		}
		if n := planned(p.Phases); n > maxPlanned {
			return wrong(path, "about %.0f requests in all, want at most %d: make it shorter or the load lower", n, maxPlanned)
		}
		var err error
		p.eachLoad(func(load *Phase) {
			if load.Open != nil && load.Open.Rate > maxOpenRate && err == nil {
				err = wrong(path, "an open loop offers %v requests a second, want at most %d", float64(load.Open.Rate), maxOpenRate)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Scenario) validateInstances() error {
	if len(s.Instances) == 0 {
		return wrong("$", "instances are missing, write at least one, such as - {name: app}")
	}
	total, seen := 0, map[string]bool{}
	for i, g := range s.Instances {
		path := fmt.Sprintf("$.instances[%d]", i)
		switch {
		case !nameRule.MatchString(g.Name):
			return wrong(path+".name", "%q is no name, %s", g.Name, nameHint)
		case g.Count < 0 || g.Count > maxInstances:
			return wrong(path+".count", "count is %d, want 1 to %d", g.Count, maxInstances)
		case g.Clock.Jitter < 0:
			return wrong(path+".clock.jitter", "jitter is %v, want 0 or more", g.Clock.Jitter)
		}
		total += max(g.Count, 1)
	}
	if total > maxInstances {
		return wrong("$.instances", "%d instances in all, want at most %d", total, maxInstances)
	}
	for i, in := range s.instances() {
		if seen[in.name] {
			return wrong("$.instances", "two instances are named %s", in.name)
		}
		seen[in.name] = true
		if err := in.clock.model(0).Validate(); err != nil {
			return wrong(fmt.Sprintf("$.instances[%d].clock", min(i, len(s.Instances)-1)), "%v", err)
		}
	}
	return nil
}

func (s *Scenario) validatePhases(path string, phases []Phase) error {
	for i := range phases {
		if err := s.validatePhase(fmt.Sprintf("%s[%d]", path, i), &phases[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Scenario) validatePhase(path string, p *Phase) error {
	var kinds []string
	for name, set := range map[string]bool{
		"burst": p.Burst != 0, "open": p.Open != nil, "closed": p.Closed != nil,
		"parallel": p.Parallel != nil, "repeat": p.Repeat != 0,
	} {
		if set {
			kinds = append(kinds, name)
		}
	}
	slices.Sort(kinds)
	switch {
	case len(kinds) > 1:
		return wrong(path, "a phase has one of burst, open, closed, parallel, repeat; here are %s", strings.Join(kinds, " and "))
	case p.Phases != nil && p.Repeat == 0:
		return wrong(path+".phases", "phases inside a phase want repeat: how often")
	case p.For < 0:
		return wrong(path+".for", "for is %v, want a time above 0", p.For)
	case time.Duration(p.For) > maxLasting:
		return wrong(path+".for", "for is %v, want at most %gh", p.For, maxLasting.Hours())
	}
	if err := s.validateFrom(path, p); err != nil {
		return err
	}
	switch {
	case p.Parallel != nil:
		return s.validatePhases(path+".parallel", p.Parallel)
	case p.Repeat != 0:
		if p.Repeat < 0 || p.Repeat > maxRepeat {
			return wrong(path+".repeat", "repeat is %d, want 1 to %d", p.Repeat, maxRepeat)
		}
		if len(p.Phases) == 0 {
			return wrong(path, "repeat wants phases: a list of what is repeated")
		}
		return s.validatePhases(path+".phases", p.Phases)
	}
	return validateLoad(path, p)
}

func validateLoad(path string, p *Phase) error {
	if h := p.Hold; h != nil {
		switch {
		case !(h.Share >= 0 && h.Share <= 1):
			return wrong(path+".hold", "share is %v, want 0 to 1", h.Share)
		case h.From < 0 || h.To < h.From:
			return wrong(path+".hold", "holds from %v to %v, want 0 or more and from no larger than to", h.From, h.To)
		case time.Duration(h.To) > maxLasting:
			return wrong(path+".hold", "holds up to %v, want at most %gh", h.To, maxLasting.Hours())
		}
	}
	if err := validateCost(path+".cost", p.Cost); err != nil {
		return err
	}
	switch {
	case p.Burst < 0 || p.Burst > maxBurst:
		return wrong(path+".burst", "burst is %d, want 1 to %d requests", p.Burst, maxBurst)
	case p.Burst > 0:
		return nil
	case p.For == 0:
		return wrong(path, "for is missing: how long this phase lasts")
	case p.Open != nil:
		if p.Open.Rate <= 0 {
			return wrong(path+".open", "rate is missing: requests a second")
		}
		if p.Open.Rate > maxOpenRate {
			return wrong(path+".open.rate", "rate is %v requests a second, want at most %d", float64(p.Open.Rate), maxOpenRate)
		}
		if a := p.Open.Arrivals; !slices.Contains([]string{"", "constant", "poisson"}, a) {
			return wrong(path+".open.arrivals", "%q is unknown, want constant or poisson", a)
		}
	case p.Closed != nil:
		if p.Closed.Workers < 1 || p.Closed.Workers > maxWorkers {
			return wrong(path+".closed", "workers is %d, want 1 to %d", p.Closed.Workers, maxWorkers)
		}
		if p.Closed.Think < 0 || time.Duration(p.Closed.Think) > maxLasting {
			return wrong(path+".closed.think", "think is %v, want 0 to %gh", p.Closed.Think, maxLasting.Hours())
		}
	case p.Hold != nil:
		return wrong(path+".hold", "hold wants a load: burst, open or closed")
	}
	return nil
}

func (s *Scenario) validateFrom(path string, p *Phase) error {
	for i, name := range p.From {
		if len(s.callers([]string{name})) == 0 {
			return wrong(fmt.Sprintf("%s.from[%d]", path, i), "no instance is named %s, there are %s", name, strings.Join(s.groupNames(), ", "))
		}
	}
	return nil
}

func (s *Scenario) groupNames() []string {
	var names []string
	for _, g := range s.Instances {
		names = append(names, g.Name)
	}
	return names
}

// callers are the indices of the instances that names (of groups or of
// instances) mean; none means all.
func (s *Scenario) callers(names []string) []int {
	var from []int
	for i, in := range s.instances() {
		if len(names) == 0 || slices.Contains(names, in.group) || slices.Contains(names, in.name) {
			from = append(from, i)
		}
	}
	return from
}

func (s *Scenario) validateSweep() error {
	over := 0
	for _, n := range []int{len(s.Sweep.Spread), len(s.Sweep.Limit), len(s.Sweep.Load)} {
		over += min(n, 1)
	}
	for _, k := range s.sweeps() {
		over += min(len(k.points), 1)
	}
	if over > 1 {
		return wrong("$.sweep", "a sweep is over one figure: spread, drift, jitter, step, strobe, for, limit or load")
	}
	if err := s.validateSwept(); err != nil {
		return err
	}
	for i, d := range s.Sweep.Spread {
		if d < 0 {
			return wrong(fmt.Sprintf("$.sweep.spread[%d]", i), "spread is %v, want 0 or more", d)
		}
	}
	if s.Sweep.Spread != nil && s.spread() == 0 {
		return wrong("$.sweep.spread", "all clocks have the same offset: there is no spread to sweep")
	}
	for i, l := range s.Sweep.Limit {
		if err := l.Countable(); err != nil {
			return wrong(fmt.Sprintf("$.sweep.limit[%d]", i), "%v", err)
		}
	}
	for i, f := range s.Sweep.Load {
		if !(f > 0) || math.IsInf(f, 1) {
			return wrong(fmt.Sprintf("$.sweep.load[%d]", i), "load is %v, want a factor above 0", f)
		}
	}
	points := s.Points()
	seen := map[string]bool{}
	for _, p := range points {
		if seen[p.Name] {
			return wrong("$.sweep", "the point %s is named twice", strings.TrimPrefix(p.Name, s.Name+"/"))
		}
		seen[p.Name] = true
	}
	for _, name := range s.Quick.Names {
		if !slices.ContainsFunc(points, func(p Scenario) bool { return p.Name == s.Name+"/"+name }) {
			return wrong("$.quick", "no point of the sweep is named %s", name)
		}
	}
	return nil
}

// validateSwept looks at the sweeps over a figure of clocks or phases.
func (s *Scenario) validateSwept() error {
	for _, k := range s.sweeps() {
		path := "$.sweep." + k.field
		if k.points != nil && k.largest(s) == 0 {
			return wrong(path, "there is no %s to sweep: the point sets the largest one, and all are 0", k.field)
		}
		for i, v := range k.points {
			if v < 0 || v == 0 && k.field == "for" {
				return wrong(fmt.Sprintf("%s[%d]", path, i), "%s is %s, want %s", k.field, k.name(v), map[bool]string{true: "a time above 0", false: "0 or more"}[k.field == "for"])
			}
		}
	}
	return nil
}

func (s *Scenario) validateExpect() error {
	for limiter, expect := range s.Expect {
		for name, want := range expect {
			path := fmt.Sprintf("$.expect.'%s'", limiter)
			if !slices.Contains(checkNames, name) {
				return wrong(path, "no check is named %s, there are %s", name, strings.Join(checkNames, ", "))
			}
			if !slices.Contains([]Expectation{ExpectPass, ExpectFail, ExpectAny}, want) {
				return wrong(path, "%s: %q is no expectation, want pass, fail or any", name, string(want))
			}
		}
	}
	return nil
}
