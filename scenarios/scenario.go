package scenarios

import (
	"fmt"
	"math"
	"slices"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/check"
	"bucketproof/scenarios/clock"
)

// Scenario says how limiters are provoked: callers with clocks of their own,
// what they send, and what each limiter is expected to make of it. It is data:
// a YAML file is all it takes to add one.
type Scenario struct {
	Name  string `yaml:"name"`
	About string `yaml:"about"` // one sentence for people

	// Limit is the limit that the figures below are written for. Another limit
	// scales them, see Scaled.
	Limit bucket.Limit `yaml:"limit"`
	Keys  Keys         `yaml:"keys"`
	Cost  float64      `yaml:"cost"` // tokens a request; 0 is 1

	Limiters  []string `yaml:"limiters"`  // whom to provoke unless the user names others
	Instances []Group  `yaml:"instances"` // who calls
	Phases    []Phase  `yaml:"phases"`    // what they do, one after another

	// ServerClock is how the server's clock differs from true time, and Server says
	// what that means.
	ServerClock Clock      `yaml:"server_clock"`
	Server      ServerKind `yaml:"server"`

	Sweep Sweep `yaml:"sweep"`

	// Disturbance names what the scenario is about, where that is a clock; how much
	// of it there is is told by the clocks, or by the point of the sweep.
	Disturbance Disturbance `yaml:"disturbance"`

	// Predict maps limiter to figure to the formula that theory has for it.
	Predict map[string]Formulas `yaml:"predict"`

	// Latency says that latencies are judged: runs go alone, without a witness.
	Latency bool `yaml:"latency"`

	// Alone says that nothing else may run beside the scenario: what it shows is
	// worth as many tokens as its bursts take time.
	Alone bool `yaml:"alone"`

	// InFlight is the least number of requests that must have been in flight
	// at once for a pass to mean anything; 0 asks for none.
	InFlight int `yaml:"in_flight"`

	// Quick says which points of the scenario the shortened suite runs: none,
	// all ("true"), or those named.
	Quick Points `yaml:"quick"`

	// Expect maps limiter to check to verdict; for a limiter named here, a
	// check that is not named must pass.
	Expect map[string]Expectations `yaml:"expect"`

	scaled bool // to another limit than the one as written
}

// Expectations maps a check's name to the verdict expected of it.
type Expectations map[string]Expectation

// Expectation is the verdict that a check is expected to give.
type Expectation string

// What can be expected. Any is content with every verdict, undecided too.
const (
	ExpectPass Expectation = "pass"
	ExpectFail Expectation = "fail"
	ExpectAny  Expectation = "any"
)

// Of returns what is expected of a check: pass when nothing is said.
func (e Expectations) Of(name string) Expectation {
	if x, ok := e[name]; ok {
		return x
	}
	return ExpectPass
}

// met reports whether a verdict is the one expected. A skipped check fits any
// expectation; an undecided one only ExpectAny.
func (e Expectation) met(v check.Verdict) bool {
	return e == ExpectAny || v == check.Skipped || string(e) == string(v)
}

// Keys says how many buckets a scenario uses and how requests choose one.
type Keys struct {
	Count int    `yaml:"count"` // 0 is 1
	Pick  string `yaml:"pick"`  // uniform (default) | zipf | round-robin
}

// Group is a number of alike instances. Count 2 of "a" are "a-1" and "a-2".
type Group struct {
	Name  string `yaml:"name"`
	Count int    `yaml:"count"` // 0 is 1
	Clock Clock  `yaml:"clock"`
}

// Clock says how an instance's clock, or the server's, differs from true time;
// the zero Clock is synchronized.
type Clock struct {
	Offset Duration `yaml:"offset"`
	Drift  PPM      `yaml:"drift"`  // 200ppm gains 200 µs a second
	Jitter Duration `yaml:"jitter"` // each reading is off by up to this, both ways
	Steps  []Step   `yaml:"steps"`
	Strobe Strobe   `yaml:"strobe"`
	Freeze Freeze   `yaml:"freeze"`
}

// Strobe is a clock that goes to and fro: true for Every, By ahead for as long,
// and again from the start of the run on.
type Strobe struct {
	By    Duration `yaml:"by"`
	Every Duration `yaml:"every"`
}

// Freeze is a clock that stands still at a time from the start of the run and
// goes on from there.
type Freeze struct {
	At  Duration `yaml:"at"`
	For Duration `yaml:"for"`
}

// Step is a jump of a clock at a time from the start of the run.
type Step struct {
	At Duration `yaml:"at"`
	By Duration `yaml:"by"`
}

// model is the clock as package clock computes it.
func (c Clock) model(seed uint64) clock.Model {
	m := clock.Model{
		Offset: time.Duration(c.Offset),
		Drift:  float64(c.Drift),
		Jitter: time.Duration(c.Jitter),
		Strobe: clock.Strobe{By: time.Duration(c.Strobe.By), Every: time.Duration(c.Strobe.Every)},
		Freeze: clock.Freeze{At: time.Duration(c.Freeze.At), For: time.Duration(c.Freeze.For)},
		Seed:   seed,
	}
	for _, s := range c.Steps {
		m.Steps = append(m.Steps, clock.Step{At: time.Duration(s.At), By: time.Duration(s.By)})
	}
	return m
}

// Phase is one thing that callers do. Exactly one of Burst, Open, Closed,
// Parallel and Repeat is set, or none for an idle stretch of length For.
type Phase struct {
	From []string `yaml:"from"` // group or instance names; none: all
	For  Duration `yaml:"for"`
	Hold *Hold    `yaml:"hold"`
	Cost float64  `yaml:"cost"` // tokens a request; 0: the scenario's

	Burst    int     `yaml:"burst"`    // requests in all, released together; ends with the last reply
	Open     *Open   `yaml:"open"`     // by a schedule, whatever comes back
	Closed   *Closed `yaml:"closed"`   // each worker waits for its reply
	Parallel []Phase `yaml:"parallel"` // at the same time; ends with the last of them
	Repeat   int     `yaml:"repeat"`   // times that Phases are run, in order
	Phases   []Phase `yaml:"phases"`
}

// Hold is a wait between reading the clock and sending: of every call for a
// fixed time, or of a share of the calls for a random one.
type Hold struct {
	Share float64  // of the calls, 0..1
	From  Duration // shortest wait
	To    Duration // longest wait
}

// Open is an open loop.
type Open struct {
	Rate     Rate   `yaml:"rate"`     // requests a second in all
	Arrivals string `yaml:"arrivals"` // constant (default) | poisson
}

// Closed is a closed loop.
type Closed struct {
	Workers int      `yaml:"workers"` // in all
	Think   Duration `yaml:"think"`   // wait between a reply and the next call
	Random  bool     `yaml:"random"`  // think times are exponential with mean Think
	Obey    bool     `yaml:"obey"`    // wait as long as retry_after says
}

// Sweep makes a run of each point of one figure. At most one is set. Where the
// scenario has several of what is swept, a point sets the largest and scales the
// others with it.
type Sweep struct {
	Spread []Duration     `yaml:"spread"` // largest minus smallest clock offset
	Drift  []PPM          `yaml:"drift"`  // of clocks, either way
	Jitter []Duration     `yaml:"jitter"` // of clocks
	Step   []Duration     `yaml:"step"`   // of clocks, either way; told without a sign
	Strobe []Duration     `yaml:"strobe"` // by which clocks go to and fro, the period stays
	For    []Duration     `yaml:"for"`    // length of loaded phases
	Limit  []bucket.Limit `yaml:"limit"`  // everything else scales with it
	Load   []float64      `yaml:"load"`   // factors for the rates of open loops
}

// Synchronized reports whether the clocks of all instances show true time.
func (s *Scenario) Synchronized() bool {
	return !slices.ContainsFunc(s.instances(), func(in instance) bool { return !in.clock.model(0).Synchronized() })
}

// Length is how long the scenario takes at most, but for what the machine adds:
// bursts are counted as nothing, and the longest hold as if it came last.
func (s *Scenario) Length() time.Duration {
	var hold Duration
	s.eachLoad(func(p *Phase) {
		if p.Hold != nil {
			hold = max(hold, p.Hold.To)
		}
	})
	return length(s.Phases) + time.Duration(hold)
}

// instances lists the names of all instances in order, group by group.
func (s *Scenario) instances() []instance {
	var all []instance
	for _, g := range s.Instances {
		n := max(g.Count, 1)
		for i := range n {
			name := g.Name
			if g.Count > 1 {
				name = fmt.Sprintf("%s-%d", g.Name, i+1)
			}
			all = append(all, instance{name: name, group: g.Name, clock: g.Clock})
		}
	}
	return all
}

type instance struct {
	name, group string
	clock       Clock
}

// cost is what a request costs, in tokens.
func (s *Scenario) cost() float64 {
	if s.Cost == 0 {
		return 1
	}
	return s.Cost
}

// costs reports whether some request costs other than one token.
func (s *Scenario) costs() bool {
	costs := s.cost() != 1
	s.eachLoad(func(p *Phase) { costs = costs || p.Cost != 0 && p.Cost != 1 })
	return costs
}

// fractions reports whether some request costs a part of a token.
func (s *Scenario) fractions() bool {
	parts := s.cost() != math.Trunc(s.cost())
	s.eachLoad(func(p *Phase) { parts = parts || p.Cost != math.Trunc(p.Cost) })
	return parts
}

// randomArrivals reports whether all load of the scenario is by Poisson
// arrivals or random think times, so that fairness may be judged.
func (s *Scenario) randomArrivals() bool {
	random, loads := true, 0
	s.eachLoad(func(p *Phase) {
		loads++
		switch {
		case p.Open != nil:
			random = random && p.Open.Arrivals == "poisson"
		case p.Closed != nil:
			random = random && p.Closed.Random
		default:
			random = false
		}
	})
	return random && loads > 0
}

// eachLoad calls f for every phase that sends requests.
func (s *Scenario) eachLoad(f func(*Phase)) { eachPhase(s.Phases, f) }

func eachPhase(phases []Phase, f func(*Phase)) {
	for i := range phases {
		p := &phases[i]
		switch {
		case p.Parallel != nil:
			eachPhase(p.Parallel, f)
		case p.Repeat > 0:
			eachPhase(p.Phases, f)
		case p.Burst > 0 || p.Open != nil || p.Closed != nil:
			f(p)
		}
	}
}
