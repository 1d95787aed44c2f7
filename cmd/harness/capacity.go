package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bucketproof/bucket/backend"
	"bucketproof/reports"
	"bucketproof/scenarios"
	"bucketproof/scenarios/capacity"
	"bucketproof/scenarios/load"
)

// capacityFlags are the flags of `harness capacity`.
type capacityFlags struct {
	runFlags
	slo, target, keys, headroom string
}

// capacityLimiters are measured where none is named.
var capacityLimiters = []string{"app-clock", "redis-time"}

// newCapacity is `harness capacity`.
func newCapacity(s streams) *cobra.Command {
	var f capacityFlags
	c := &cobra.Command{
		Use:   "capacity",
		Short: "Find what one Redis can carry, fit, plan",
		Long: `Capacity measures what one Redis carries with a limiter on it: a closed loop with
more and more callers, plain and pipelined, and the Universal Scalability Law
fitted to it; the highest rate of an open loop that meets an objective, and who
was the bottleneck there; what a bucket costs in memory and a decision in time and
bytes. With --target it plans shards, memory, connections and instances, with every
formula. Where the generator, not Redis, was the limit, the rate is refused.
All decisions of these loads are recorded and checked; those that only fill Redis
with buckets to weigh are not.`,
		Example: `  harness capacity --quick
  harness capacity --target 200k --keys 5M --headroom 40%
  harness capacity --limiter my-limiter.yaml --limiter redis-time --slo p999=10ms,errors=0
  harness capacity --redis redis://10.0.0.5:6379 --format json`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if !c.Flags().Changed("seed") {
				f.seed = randomSeed()
			}
			set, err := f.settings()
			if err != nil {
				return err
			}
			j := &capacityJob{job: newJob(s, f.runFlags, f.command()), settings: set}
			if err := j.choose(); err != nil {
				return err
			}
			return j.execute(c.Context())
		},
	}
	f.addCommon(c)
	flags := c.Flags()
	flags.Lookup("quick").Usage = "shorter steps, fewer buckets: a first answer in a minute"
	flags.StringArrayVar(&f.limiters, "limiter", nil, "limiter `NAME or FILE`; repeatable (default "+strings.Join(capacityLimiters, " and ")+")")
	flags.StringVar(&f.slo, "slo", capacity.DefaultSLO, "`OBJECTIVE` of the knee: p50, p90, p99, p999, max, mean and errors, joined by commas")
	flags.StringVar(&f.target, "target", "", "plan for so many `DECISIONS` a second: 200k")
	flags.StringVar(&f.keys, "keys", "", "plan for so many live `BUCKETS`: 5M")
	flags.StringVar(&f.headroom, "headroom", "40%", "`SHARE` of a shard that the plan keeps free")
	return c
}

// settings reads the flags that are capacity's own.
func (f *capacityFlags) settings() (capacity.Settings, error) {
	set := capacity.Settings{Pace: capacity.Full(), Seed: f.seed}
	if f.quick {
		set.Pace = capacity.Quick()
	}
	var err error
	if set.SLO, err = capacity.ParseSLO(f.slo); err != nil {
		return set, usagef("--slo: %v", err)
	}
	if set.Wish.TargetPS, err = figure("--target", f.target); err != nil {
		return set, err
	}
	if set.Wish.Keys, err = whole("--keys", f.keys); err != nil {
		return set, err
	}
	if set.Wish.Headroom, err = capacity.ParseShare(f.headroom); err != nil {
		return set, usagef("--headroom: %v", err)
	}
	if set.Wish.Headroom >= 1 {
		return set, usagef("--headroom: %s leaves nothing of a shard to use", f.headroom)
	}
	return set, nil
}

// command is what repeats the measurement. A URL may hold a password and is left
// out.
func (f *capacityFlags) command() string {
	words := []string{"harness", "capacity"}
	for _, l := range f.limiters {
		words = append(words, "--limiter", l)
	}
	for _, flag := range []struct{ name, value, standard string }{
		{"--slo", f.slo, capacity.DefaultSLO}, {"--target", f.target, ""}, {"--keys", f.keys, ""}, {"--headroom", f.headroom, "40%"},
	} {
		if flag.value != flag.standard {
			words = append(words, flag.name, flag.value)
		}
	}
	if f.quick {
		words = append(words, "--quick")
	}
	if f.redis != "auto" && !isURL(f.redis) {
		words = append(words, "--redis", f.redis)
	}
	return strings.Join(append(words, "--seed", fmt.Sprint(f.seed)), " ")
}

// capacityJob is `harness capacity` under way.
type capacityJob struct {
	*job
	settings capacity.Settings
	plans    []scenarios.Plan // one a limiter, for what prepares a run
	chosen   []*limiter
	dir      string
	kept     []*capacityHistory
	measured []*capacity.Measurement
}

// choose finds the limiters.
func (j *capacityJob) choose() error {
	names := j.flags.limiters
	if len(names) == 0 {
		names = capacityLimiters
	}
	picked, err := j.limiters.pick(names)
	if err != nil {
		return err
	}
	for _, l := range picked {
		j.chosen = append(j.chosen, l)
		limit := capacity.DefaultLimit
		if l.Limit != nil {
			limit = *l.Limit
		} else if l.Fits != nil {
			if err := l.Fits(limit); err != nil {
				return usagef("limiter %s cannot be measured: %v", l.Name, err)
			}
		}
		j.plans = append(j.plans, scenarios.Plan{Subject: l.Subject, Scenario: scenarios.Scenario{Name: "capacity", Limit: limit}})
	}
	return nil
}

// execute starts a Redis, measures the limiters one after another and then side
// by side, and writes the report.
func (j *capacityJob) execute(ctx context.Context) error {
	if f := j.flags.format; f != "text" && f != "json" {
		return usagef("--format %s: want text or json", f)
	}
	started := time.Now()
	folder, err := claimFolder(j.flags.out, started)
	if err != nil {
		return err
	}
	j.screen = newScreen(j.streams, j.flags.format, 0)
	defer j.closeRedis()
	if err := j.prepare(ctx, j.plans); err != nil {
		return err
	}
	if j.dir, err = folder.open(); err != nil {
		return err
	}
	j.screen.start(j.flags, j.dir)
	failed := j.measure(ctx)
	for _, h := range j.kept {
		if err := h.close(); err != nil && failed == nil {
			failed = environment(err)
		}
	}
	if failed == nil {
		j.readClockAgain(ctx, j.plans)
	}
	r := j.report(started, failed == nil)
	if err := reports.Write(j.dir, r, nil); err != nil {
		return environment(firstOfTwo(failed, err))
	}
	unsaid := j.screen.end(r, j.dir)
	switch {
	case ctx.Err() != nil:
		return interrupted("what was measured until then is in " + j.dir)
	case failed != nil:
		return failed
	case unsaid != nil:
		return environment(unsaid)
	}
	return nil
}

// measure makes all measurements, one after another. The error is the environment's.
func (j *capacityJob) measure(ctx context.Context) error {
	var alarm load.Alarm
	defer alarm.Close()
	j.settings.Sleep = alarm.Sleep
	if j.redis != nil && j.redis.Info().Kind != backend.Embedded {
		j.settings.Server, j.settings.Keyspace = j.redis, j.redis
		j.settings.Shared, j.settings.Local = !j.redis.Owned(), onThisMachine(j.redis.Info())
		if j.settings.Local && leaveProcessor() && j.redis.Info().Kind == backend.Process {
			j.settings.Apart = j.redis.Apart
		}
		j.settings.Clear = j.clear
	}
	if j.redis != nil && j.redis.Info().Kind == backend.Embedded {
		j.warn("the embedded server shares this process and is not Redis: these figures are of miniredis, for a try only")
	}
	collectBetweenSteps()
	rest := newRemainder(j.screen, len(j.chosen))
	defer rest.end()
	for i, l := range j.chosen {
		if err := j.measureOne(ctx, l, i, rest); err != nil {
			return j.lost(ctx, err)
		}
	}
	for _, other := range j.measured[1:] {
		if err := capacity.Between(ctx, j.measured[0], other); err != nil {
			return j.lost(ctx, err)
		}
	}
	return nil
}

// onThisMachine reports whether a server has this machine's processors, as far as
// its address tells.
func onThisMachine(i backend.Info) bool {
	host, _, err := net.SplitHostPort(i.Address)
	if err != nil {
		return true // a socket
	}
	ip := net.ParseIP(host)
	return i.Kind != backend.External || host == "localhost" || ip != nil && ip.IsLoopback()
}

// collectBetweenSteps keeps the garbage collector, which takes an eighth of what a
// pipelined generator does, to the time between the steps of a measurement, as long
// as a step needs no more than 512 MiB, unless the user has said how it is to run.
func collectBetweenSteps() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(512 << 20)
	}
}

// leaveProcessor keeps the generator off one of the machine's processors, unless the
// user has said how many it may have, and reports whether it does. A server beside
// it is one thread: on two processors that share with it neither side finds one free,
// and a third less is carried.
func leaveProcessor() bool {
	n := runtime.GOMAXPROCS(0)
	if n < 2 || n < runtime.NumCPU() || os.Getenv("GOMAXPROCS") != "" {
		return false
	}
	runtime.GOMAXPROCS(n - 1)
	return true
}

func (j *capacityJob) measureOne(ctx context.Context, l *limiter, i int, rest *remainder) error {
	h, err := keepCapacity(j.dir, l)
	if err != nil {
		return err
	}
	j.kept = append(j.kept, h)
	set := j.settings
	set.ID = fmt.Sprintf("%s:%d", j.id, i)
	set.Keep = h.keep
	switch {
	case !l.needsRedis:
		set.Pace = set.Pace.Brief()
	case len(j.chosen) == 1 && j.flags.quick:
		set.Pace = set.Pace.Patient()
	}
	set.Progress = func(what string, done, all time.Duration) { rest.tell(i, l.Name, what, done, all) }
	m := capacity.New(j.subject(l), set)
	j.measured = append(j.measured, m)
	err = m.Run(ctx)
	return err
}

// lost says why a measurement did not end.
func (j *capacityJob) lost(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		if gone := j.alive(); gone != nil {
			err = gone
		}
	}
	return environment(fmt.Errorf("%w; what was measured until then is in %s", err, j.dir))
}

// clear removes what was written to weigh it: the server's only keys where it was
// started here, else those that contain a text.
func (j *capacityJob) clear(ctx context.Context, keys string) error {
	if j.redis.Owned() {
		return j.redis.Empty(ctx)
	}
	_, err := j.redis.Remove(ctx, backend.Contains(keys))
	return err
}

// report assembles what was measured.
func (j *capacityJob) report(started time.Time, complete bool) *reports.Report {
	k := newKeeper(j.dir, j.screen, nil)
	r := k.report(j.job, started, nil)
	r.Verdict = "undecided"
	if complete {
		r.Verdict = "pass"
	}
	for i, m := range j.measured {
		found := m.Result()
		found.Verified.Dir = j.kept[i].folder
		r.Capacity = append(r.Capacity, *found)
	}
	return r
}
