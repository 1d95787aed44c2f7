package scenarios

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/check"
	"bucketproof/bucket/history"
	"bucketproof/scenarios/clock"
	"bucketproof/scenarios/load"
)

// requestTimeout is how long a request may take once it is sent: far more than
// any Redis takes that is still there.
const requestTimeout = 5 * time.Second

// Runner runs plans against one place where buckets live.
type Runner struct {
	Store  Store       // where the state audit looks; nil: no audit
	Server ServerClock // the clock of limiters that use the server's; nil: there is none

	// OpenOwn starts a server for one run alone, for scenarios whose Server is
	// ServerOwn or ServerFailover; nil: there is none to be had, and no plan may want
	// one. It is called concurrently.
	OpenOwn func(ctx context.Context, kind ServerKind) (OwnServer, error)

	ID string // of the whole command; in every key

	// Sleep is the last wait before a send that has a due time; nil is
	// time.Sleep. In real time load.Alarm's is more exact.
	Sleep func(time.Duration)

	mu   sync.Mutex
	runs int
}

// Plan is one run to make: a point of a scenario, scaled to its limit, for one
// subject. Everything random in it comes from Seed.
type Plan struct {
	Scenario Scenario
	Subject  *Subject
	Seed     uint64
	Witness  bool // ask with a witness
}

// Run makes one run and judges it. When ctx ends early the load stops, what
// was recorded is judged, and the result is undecided. An error means that
// nothing was recorded: the limiter could not be opened, or nobody answers at
// all. A limiter that answers nothing but errors of its own under this limit has
// its run: it says so.
func (r *Runner) Run(ctx context.Context, p Plan) (*Result, error) {
	run, err := r.open(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("run %s for %s: %w", p.Scenario.Name, p.Subject.Name, err)
	}
	defer run.close()
	if err := run.warm(ctx); err != nil {
		return nil, fmt.Errorf("run %s for %s: %w", p.Scenario.Name, p.Subject.Name, err)
	}
	before, clockErr := run.readClock(ctx, r.Server)
	run.start(before)
	watch := watchWallClock(run.wall)
	phaseErr := run.drive(ctx)
	length, stray := run.driver.Elapsed(), watch.end()
	after, err := run.readClock(ctx, r.Server)
	clockErr = errors.Join(clockErr, err)

	res := &Result{
		Scenario: p.Scenario, Limiter: p.Subject.Name, Source: p.Subject.Source, Time: p.Subject.Time, Limit: p.Scenario.Limit,
		Seed: p.Seed, Witness: p.Witness, Duration: length,
		Operations: run.driver.Recorder.Operations(),
		Errors:     run.driver.Failures(),
		Clocks:     map[string]clock.Model{},
	}
	for _, in := range run.driver.Instances {
		res.Clocks[in.Name] = in.Clock
	}
	if run.shown != nil {
		res.ServerClock = &run.shown.model
	}
	if run.own != nil {
		after.offset -= run.own.moved()
		res.ServerClock = &clock.Model{Steps: run.own.taken}
	}
	res.Latency = load.Measure(res.Operations)
	return res, run.judge(ctx, res, judging{
		phase: phaseErr, clock: clockErr, before: before, after: after, stray: stray,
	})
}

// open makes the instances and everything that drives them.
func (r *Runner) open(ctx context.Context, p Plan) (*run, error) {
	r.mu.Lock()
	r.runs++
	prefix := fmt.Sprintf("%s:%d:", r.ID, r.runs)
	r.mu.Unlock()
	s := &p.Scenario
	ru := &run{plan: p, prefix: prefix, store: r.Store}
	ru.driver = &load.Driver{
		Limit: s.Limit, Cost: s.cost(), Recorder: history.NewRecorder(), Timeout: requestTimeout, Seed: p.Seed,
		Sleep: r.Sleep,
	}
	for i := range max(s.Keys.Count, 1) {
		ru.buckets = append(ru.buckets, prefix+strconv.Itoa(i))
	}
	ru.driver.Keys = s.Keys.picker(ru.buckets, p.Seed)
	if s.shifts(p.Subject) {
		ru.shown = &serverTime{model: s.ServerClock.model(p.Seed)}
	}
	if s.own() {
		var err error
		if ru.own, err = r.openOwn(ctx, s); err != nil {
			return nil, err
		}
		ru.store = nil // lives are told by a clock that is set
	}
	for i, in := range s.instances() {
		l, err := ru.openInstance(ctx, in.name)
		if err != nil {
			ru.close()
			return nil, fmt.Errorf("open instance %s: %w", in.name, err)
		}
		ru.driver.Instances = append(ru.driver.Instances, load.Instance{
			Name: in.name, Clock: in.clock.model(p.Seed + uint64(i) + 1), Limiter: l,
		})
	}
	return ru, nil
}

// picker chooses a request's bucket.
func (k Keys) picker(buckets []string, seed uint64) load.KeyPicker {
	switch {
	case len(buckets) == 1:
		return load.OneKey(buckets[0])
	case k.Pick == "zipf":
		return load.ZipfKeys(buckets, 1, seed)
	case k.Pick == "round-robin":
		return load.KeysInTurn(buckets)
	}
	return load.UniformKeys(buckets, seed)
}

// run is one run under way.
type run struct {
	plan    Plan
	prefix  string
	buckets []string
	store   Store
	driver  *load.Driver
	audit   *auditor
	wall    time.Time   // both clocks at the start
	shown   *serverTime // in place of the server's own; nil: that
	own     *ownServer  // that the run has to itself; nil: it shares one
	sated   atomic.Bool // flat out callers met no denial for a whole phase
}

func (r *run) close() {
	for _, in := range r.driver.Instances {
		if c, ok := in.Limiter.(io.Closer); ok {
			_ = c.Close() // nothing was written that could be lost
		}
	}
	if r.own != nil {
		_ = r.own.Close()
	}
}

// start sets the run's clock to 0. own is the server's.
func (r *run) start(own reading) {
	r.wall = time.Now()
	r.driver.Base = r.wall.Round(0)
	r.driver.Elapsed = func() time.Duration { return time.Since(r.wall) }
	if r.shown != nil {
		r.shown.begin(r.wall, own, r.driver.Elapsed)
	}
	if r.store == nil || !r.plan.Subject.Stored {
		return
	}
	lister, _ := r.driver.Instances[0].Limiter.(bucket.KeyLister)
	r.audit = &auditor{
		store: r.store, elapsed: r.driver.Elapsed, base: r.driver.Base, prefix: r.prefix, buckets: r.buckets,
		lister: lister, limit: r.driver.Limit, cost: r.driver.Cost, tokens: r.plan.Subject.Tokens,
	}
}

// drive runs the phases, with the audit, or what is done to a server of the run's
// own, beside them.
func (r *run) drive(ctx context.Context) error {
	if r.own != nil {
		return r.driveOwn(ctx)
	}
	if r.audit == nil {
		return r.phases(ctx, r.plan.Scenario.Phases, 0)
	}
	watching, stop := context.WithCancel(ctx)
	watched := make(chan error, 1)
	go func() {
		if r.plan.Scenario.Latency {
			watched <- nil // an audit beside it would be measured too
			return
		}
		watched <- r.audit.watch(watching)
	}()
	err := r.phases(ctx, r.plan.Scenario.Phases, 0)
	stop()
	if auditErr := <-watched; auditErr != nil {
		return errors.Join(err, fmt.Errorf("audit keys: %w", auditErr))
	}
	if ctx.Err() != nil {
		return err
	}
	if auditErr := r.audit.final(ctx); auditErr != nil {
		return errors.Join(err, fmt.Errorf("audit keys: %w", auditErr))
	}
	return err
}

func (r *run) driveOwn(ctx context.Context) error {
	stepping, stop := context.WithCancel(ctx)
	stepped := make(chan error, 1)
	go func() { stepped <- r.own.drive(stepping, r.driver.Elapsed) }()
	err := r.phases(ctx, r.plan.Scenario.Phases, 0)
	stop()
	return errors.Join(err, <-stepped)
}

// phases runs phases one after another. stream tells the place in the scenario,
// so that each phase draws random numbers of its own and the same seed draws
// the same ones.
func (r *run) phases(ctx context.Context, phases []Phase, stream uint64) error {
	for i := range phases {
		if err := r.phase(ctx, &phases[i], substream(stream, i)); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// substream numbers the i-th part of a part.
func substream(stream uint64, i int) uint64 { return stream*1_000_003 + uint64(i) + 1 }

func (r *run) phase(ctx context.Context, p *Phase, stream uint64) error {
	from := r.plan.Scenario.callers(p.From)
	switch {
	case p.Parallel != nil:
		return r.parallel(ctx, p.Parallel, stream)
	case p.Repeat > 0:
		for i := range p.Repeat {
			if err := r.phases(ctx, p.Phases, substream(stream, i)); err != nil {
				return err
			}
		}
		return nil
	case p.Burst > 0:
		return r.driver.Burst(ctx, from, load.Burst{Requests: p.Burst, Hold: p.hold(), Cost: p.Cost, Stream: stream})
	case p.Open != nil:
		return r.driver.Open(ctx, from, load.Open{
			Rate: float64(p.Open.Rate), Arrivals: load.Arrivals(p.Open.Arrivals), For: time.Duration(p.For),
			Hold: p.hold(), Cost: p.Cost, Stream: stream,
		})
	case p.Closed != nil:
		denied := r.driver.Counts().Denied
		err := r.driver.Closed(ctx, from, load.Closed{
			Workers: p.Closed.Workers, Think: time.Duration(p.Closed.Think), RandomThink: p.Closed.Random,
			Obey: p.Closed.Obey, For: time.Duration(p.For), Hold: p.hold(), Cost: p.Cost, Stream: stream,
		})
		if p.Closed.Think == 0 && r.driver.Counts().Denied == denied {
			r.sated.Store(true)
		}
		return err
	}
	return idle(ctx, time.Duration(p.For))
}

func (r *run) parallel(ctx context.Context, phases []Phase, stream uint64) error {
	errs := make([]error, len(phases))
	var wg sync.WaitGroup
	for i := range phases {
		wg.Go(func() { errs[i] = r.phase(ctx, &phases[i], substream(stream, i)) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (p *Phase) hold() load.Hold {
	if p.Hold == nil {
		return load.Hold{}
	}
	return load.Hold{Share: p.Hold.Share, From: time.Duration(p.Hold.From), To: time.Duration(p.Hold.To)}
}

func idle(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// spec is what the run's history is judged against.
func (r *run) spec() check.Spec {
	sub := r.plan.Subject
	return check.Spec{
		Limit:          r.plan.Scenario.Limit,
		Contract:       sub.Contract,
		Granularity:    sub.Granularity,
		RateTolerance:  check.DefaultRateTolerance,
		Retries:        sub.Retries,
		Time:           sub.Time,
		Model:          sub.Model,
		Witnessed:      r.plan.Witness,
		RandomArrivals: r.plan.Scenario.randomArrivals(),
	}
}
