package scenarios

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Suite makes many runs: those that do not want the machine for themselves side by
// side, each on keys of its own, as many at once as leave the machine room to be on
// time; the others alone, after them. A run that ends undecided is repeated once,
// alone, at the end.
type Suite struct {
	Runner *Runner
	Plans  []Plan

	// RepeatUntil is how long after the start a repetition may still begin.
	RepeatUntil time.Duration

	// Done takes each run's final result, or the error that kept it from
	// running. It is called from one goroutine at a time, in order of ending.
	// An error it returns ends the suite.
	Done func(*Result, Plan, error) error
}

// What may be under way at once: runs, and the requests a second that they
// offer together. Two busy cores would make every run late.
const (
	maxRunsAtOnce = 16
	maxRateAtOnce = 3000
)

// Run makes all the runs. It returns early when ctx ends, after what is under
// way has stopped and been handed to Done, and with the first error of Done.
func (s *Suite) Run(ctx context.Context) error {
	started := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &conductor{suite: s, stop: cancel, begun: map[int]bool{}}
	c.room = sync.NewCond(&c.mu)

	var wg sync.WaitGroup
	for {
		i, ok := c.next(ctx)
		if !ok {
			break
		}
		wg.Go(func() { c.run(ctx, i) })
	}
	wg.Wait()
	c.repeat(ctx, started)
	return c.failed
}

// conductor decides what runs when.
type conductor struct {
	suite *Suite
	stop  context.CancelCauseFunc

	mu        sync.Mutex
	room      *sync.Cond
	begun     map[int]bool
	runs      int
	rate      float64
	alone     bool // a run that wants the machine for itself is under way
	undecided []pending
	failed    error
}

type pending struct {
	plan   Plan
	result *Result
}

// next waits until some run fits and claims it; false when none is left.
func (c *conductor) next(ctx context.Context) (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	wake := context.AfterFunc(ctx, c.room.Broadcast)
	defer wake()
	for {
		if ctx.Err() != nil || len(c.begun) == len(c.suite.Plans) {
			return 0, false
		}
		for i := range c.suite.Plans {
			if !c.begun[i] && c.fits(&c.suite.Plans[i].Scenario) {
				c.begun[i] = true
				c.claim(&c.suite.Plans[i].Scenario, 1)
				return i, true
			}
		}
		c.room.Wait()
	}
}

// fits reports whether a run may begin beside those under way. One that
// wants the machine for itself waits until all others have begun and ended.
func (c *conductor) fits(s *Scenario) bool {
	if c.alone {
		return false
	}
	if s.alone() {
		return c.runs == 0 && !slices.ContainsFunc(c.suite.Plans, func(p Plan) bool {
			return !p.Scenario.alone() && !c.begunPlan(p)
		})
	}
	return c.runs == 0 || c.runs < maxRunsAtOnce && c.rate+s.rate() <= maxRateAtOnce
}

func (c *conductor) begunPlan(p Plan) bool {
	for i := range c.suite.Plans {
		if q := &c.suite.Plans[i]; q.Subject == p.Subject && q.Scenario.Name == p.Scenario.Name {
			return c.begun[i]
		}
	}
	return true
}

// claim takes or (sign −1) gives back what a run needs.
func (c *conductor) claim(s *Scenario, sign int) {
	c.runs += sign
	c.rate += float64(sign) * s.rate()
	if s.alone() {
		c.alone = sign > 0
	}
}

// run makes one run and hands its result on.
func (c *conductor) run(ctx context.Context, i int) {
	p := c.suite.Plans[i]
	res, err := c.suite.Runner.Run(ctx, p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.claim(&p.Scenario, -1)
	defer c.room.Broadcast()
	if err == nil && (res.Outcome == Undecided || res.Hazy) && ctx.Err() == nil {
		c.undecided = append(c.undecided, pending{p, res})
		return
	}
	c.done(res, p, err)
}

// done hands a result to the suite's owner, with mu held.
func (c *conductor) done(res *Result, p Plan, err error) {
	if err := c.suite.Done(res, p, err); err != nil && c.failed == nil {
		c.failed = err
		c.stop(errFailed)
	}
}

// errFailed is why the runs are stopped that are under way when Done fails.
var errFailed = errors.New("the suite failed")

// repeat runs what was undecided once more, alone, while time allows. Where it
// does not, the first result stands.
func (c *conductor) repeat(ctx context.Context, started time.Time) {
	for _, u := range c.undecided {
		res, err := u.result, error(nil)
		if ctx.Err() == nil && time.Since(started)+length(u.plan.Scenario.Phases) < c.suite.RepeatUntil {
			again, againErr := c.suite.Runner.Run(ctx, u.plan)
			if againErr == nil && ctx.Err() == nil {
				res = again
				res.Repeated = true
			}
		}
		c.mu.Lock()
		c.done(res, u.plan, err)
		c.mu.Unlock()
	}
}

// alone reports whether a run of the scenario wants the machine for itself.
func (s *Scenario) alone() bool { return s.Latency || s.Alone }

// rate is about how many requests a second the scenario offers.
func (s *Scenario) rate() float64 {
	return requests(s.Phases) / max(length(s.Phases), time.Second).Seconds()
}
