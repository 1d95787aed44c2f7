package capacity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
	"bucketproof/scenarios/load"
)

// requestTimeout is how long a request may take once it is sent.
const requestTimeout = 5 * time.Second

// longestTail is how long load goes on at most after what counts, so that the
// meters are read under load.
const longestTail = 30 * time.Millisecond

// rig drives load against one limiter, a step at a time. Each step has a driver,
// a recorder and buckets of its own; all steps are on one clock.
type rig struct {
	meters
	subject *Subject
	limit   bucket.Limit
	prefix  string // of every key
	base    time.Time
	seed    uint64
	sleep   func(time.Duration)
	taken   func(ops []history.Operation, offered int64) error // gets every step's operations

	steps  int
	onTime counter // over all open-loop sends
	lags   *load.Distribution
}

// stretch is how long a step takes: load to warm up, which is recorded but not
// counted, and load that is counted.
type stretch struct{ warm, counted time.Duration }

func (s stretch) length() time.Duration { return s.warm + s.counted }

// load is the length with the tail.
func (s stretch) load() time.Duration { return s.length() + min(longestTail, s.length()/4) }

// loaded is what one step showed.
type loaded struct {
	ops     []history.Operation // that count
	usage   usage
	decided float64 // usable answers a second while counted
}

// keys names a number of new buckets.
func (r *rig) keys(n int) []string {
	r.steps++
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("%s%d:%d", r.prefix, r.steps, i)
	}
	return keys
}

func (r *rig) driver(l bucket.Limiter, keys load.KeyPicker) *load.Driver {
	return &load.Driver{
		Elapsed: r.elapsed, Base: r.base, Limit: r.limit, Keys: keys, Recorder: history.NewRecorder(),
		Instances: []load.Instance{{Name: "generator", Limiter: l}},
		Timeout:   requestTimeout, Seed: r.seed + uint64(r.steps), Sleep: r.sleep,
	}
}

// closed asks from n workers that each wait for their reply.
func (r *rig) closed(ctx context.Context, l bucket.Limiter, keys load.KeyPicker, n int, s stretch) (loaded, error) {
	d := r.driver(l, keys)
	var out loaded
	from, to, err := r.metered(ctx, s, d, func(ctx context.Context) error {
		return d.Closed(ctx, nil, load.Closed{Workers: n, For: s.load()})
	})
	ops := d.Recorder.Operations()
	if err = errors.Join(err, r.taken(ops, d.Counts().Offered)); err != nil {
		return out, fmt.Errorf("%d callers: %w", n, err)
	}
	out.usage = r.between(from, to)
	answered := 0
	for i := range ops {
		if op := &ops[i]; op.Return > int64(from.at) && op.Return <= int64(to.at) {
			out.ops = append(out.ops, *op)
			if usable(op) {
				answered++
			}
		}
	}
	if out.usage.seconds > 0 {
		out.decided = float64(answered) / out.usage.seconds
	}
	return out, nil
}

// open asks on a schedule that waits for nobody, with at most inFlight requests
// under way; what is due beyond them waits, and its latency runs. told says that the
// server told how busy it was.
func (r *rig) open(ctx context.Context, l bucket.Limiter, keys load.KeyPicker, rate float64, inFlight int, s stretch) (step Step, told bool, err error) {
	d := r.driver(l, keys)
	start := r.elapsed()
	from, to, err := r.metered(ctx, s, d, func(ctx context.Context) error {
		return d.Open(ctx, nil, load.Open{
			Rate: rate, Arrivals: load.ArrivePoisson, For: s.load(), MaxInFlight: inFlight, Stream: uint64(r.steps),
		})
	})
	ops := d.Recorder.Operations()
	if err = errors.Join(err, r.taken(ops, d.Counts().Offered)); err != nil {
		return Step{RatePS: rate}, false, fmt.Errorf("%.0f requests a second: %w", rate, err)
	}
	u := r.between(from, to)
	first := start + s.warm
	step = r.measure(ops, rate, inFlight, first, first+s.counted)
	step.RedisCPU, step.Idle, step.Others = u.redisCPU, u.idle, u.others
	if n := step.AchievedPS * u.seconds; n > 0 {
		step.RedisUS, step.OwnUS = u.cpuUS/n, u.ownUS/n
	}
	return step, u.told, nil
}

// metered runs load and reads the meters at the beginning and the end of what
// counts.
func (r *rig) metered(ctx context.Context, s stretch, d *load.Driver, run func(context.Context) error) (from, to reading, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	read := make(chan error, 1)
	start := r.elapsed()
	go func() {
		err := func() (err error) {
			if err = r.wait(ctx, start+s.warm); err != nil {
				return err
			}
			if from, err = r.read(ctx); err != nil {
				return err
			}
			if err = r.wait(ctx, start+s.length()); err != nil {
				return err
			}
			to, err = r.read(ctx)
			return err
		}()
		if err != nil {
			cancel() // the load is for nothing
		}
		read <- err
	}()
	err = run(ctx)
	if readErr := <-read; readErr != nil && !(errors.Is(readErr, context.Canceled) && err != nil) {
		return from, to, readErr
	}
	return from, to, err
}

func (r *rig) wait(ctx context.Context, until time.Duration) error {
	t := time.NewTimer(until - r.elapsed())
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func usable(op *history.Operation) bool {
	return op.Outcome == history.Allowed || op.Outcome == history.Denied
}

// counter counts how often something held.
type counter struct{ yes, all float64 }

func (c *counter) add(yes bool) {
	c.all++
	if yes {
		c.yes++
	}
}

func (c *counter) share() float64 {
	if c.all == 0 {
		return 0
	}
	return c.yes / c.all
}

// measure sums up the operations of an open loop that were due in [from, to). A
// send that was late while all callers had a request under way waited for the
// server; only the lag of the others is the generator's own.
//
// Answered are those whose replies came as long after from and to as half of them
// take at most: where nothing piles up these are the requests that were due, however
// long a reply takes, and where something does it is what the server can do, whatever
// had piled up before.
func (r *rig) measure(ops []history.Operation, rate float64, inFlight int, from, to time.Duration) Step {
	var (
		lat     = load.NewLatency()
		own     = load.NewDistribution()
		onTime  counter
		errors  counter
		queued  counter
		due     float64
		returns = make([]int64, len(ops))
	)
	for i := range ops {
		returns[i] = ops[i].Return
	}
	slices.Sort(returns)
	done := 0
	for i := range ops { // in the order of their calls
		op := &ops[i]
		for done < len(returns) && returns[done] < op.Call {
			done++
		}
		if op.Due < int64(from) || op.Due >= int64(to) {
			continue
		}
		lat.Add(op)
		due++
		errors.add(!usable(op))
		lag := time.Duration(op.Call - op.Due)
		waited := i-done+1 >= inFlight && lag > 0
		queued.add(waited)
		if waited {
			continue
		}
		own.Add(lag)
		r.lags.Add(lag)
		onTime.add(lag <= load.Punctual)
		r.onTime.add(lag <= load.Punctual)
	}
	sum := lat.Response.Summary()
	shift := int64(lat.Response.Quantile(0.5))
	answered := 0.0
	for i := range ops {
		if at := ops[i].Return - shift; at >= int64(from) && at < int64(to) && usable(&ops[i]) {
			answered++
		}
	}
	step := Step{
		RatePS: rate, P50US: sum.P50, P90US: sum.P90, P99US: sum.P99, P999US: sum.P999,
		MaxUS: sum.Max, MeanUS: sum.Mean, ServiceP99: lat.Service.Summary().P99, LagP99US: own.Summary().P99,
		OnTime: onTime.share(), Queued: queued.share(), Errors: errors.share(),
	}
	if onTime.all == 0 {
		step.OnTime = 1 // all of them waited for the server
	}
	if due > 0 {
		step.AchievedPS = rate * answered / due // the schedule is random: of what was due, not of its mean
	}
	return step
}
