package main

import (
	"context"
	crand "crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bucketproof/bucket/backend"
	"bucketproof/bucket/lua"
	"bucketproof/scenarios"
	"bucketproof/scenarios/load"
)

// runFlags are the flags of `harness run`.
type runFlags struct {
	redis          string
	limiters       []string
	rate, capacity string
	out            string
	seed           uint64
	quick          bool
	witness        string
	format         string
}

// newRun is `harness run`.
func newRun(s streams) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run [SCENARIO ...]",
		Short: "Drive scenarios, check, report",
		Long: `Run drives limiters through scenarios, checks what was recorded and writes a
report. A SCENARIO is a name, a suite (standard) or a YAML file; none is the
suite standard. Each scenario says which limiters it is for; --limiter replaces
that by your own, and then every scenario runs for each of them.`,
		Example: `  harness run
  harness run --quick --redis embedded
  harness run skew-drain fast-leaves --limiter app-clock --limiter redis-time
  harness run --limiter my-limiter.yaml --rate 5k --capacity 1k --redis redis://localhost:6379/15`,
		ValidArgsFunction: cobra.FixedCompletions(append(scenarios.Suites(), scenarios.Names()...), cobra.ShellCompDirectiveDefault),
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("seed") {
				f.seed = randomSeed()
			}
			return newJob(s, f, args).execute(c.Context())
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.redis, "redis", redisDefault(), "`WHERE` the buckets live: auto, process, container, embedded or a URL; also HARNESS_REDIS")
	flags.StringArrayVar(&f.limiters, "limiter", nil, "limiter `NAME or FILE`; repeatable; replaces the scenarios' own lists")
	flags.StringVar(&f.rate, "rate", "", "override the scenarios' `RATE`, tokens a second: 500, 12.5, 5k")
	flags.StringVar(&f.capacity, "capacity", "", "override the scenarios' `CAPACITY`, tokens")
	flags.StringVar(&f.out, "out", "", "output `FOLDER`, new, empty or an earlier result (default out/<UTC time>)")
	flags.Uint64Var(&f.seed, "seed", 0, "`SEED` of everything random (default: a new one, printed)")
	flags.BoolVar(&f.quick, "quick", false, "the shortened suite")
	flags.StringVar(&f.witness, "witness", "auto", "auto, on or off: whether Redis records the true order beside each call; auto: unless latency is measured")
	flags.StringVar(&f.format, "format", "text", "`FORMAT` of standard output: text or json")
	return c
}

func redisDefault() string {
	if v := os.Getenv("HARNESS_REDIS"); v != "" {
		return v
	}
	return "auto"
}

// randomSeed is short enough to type.
func randomSeed() uint64 { return uint64(binary.LittleEndian.Uint32(randomBytes(4))) }

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = crand.Read(b) // never fails, it says
	return b
}

// job is one `harness run` under way.
type job struct {
	streams
	flags    runFlags
	names    []string
	limiters *limiters
	screen   *screen
	keeper   *keeper
	redis    *backend.Redis // nil: no limiter needs one
	id       string         // in every key
}

func newJob(s streams, f runFlags, names []string) *job {
	return &job{streams: s, flags: f, names: names, limiters: newLimiters(), id: "bp-" + hex.EncodeToString(randomBytes(5))}
}

// execute starts a Redis, builds the limiters, drives the scenarios, checks
// the histories and writes the report.
func (j *job) execute(ctx context.Context) error {
	plans, skips, err := j.plan()
	if err != nil {
		return err
	}
	started := time.Now()
	dir, err := openFolder(j.flags.out, started)
	if err != nil {
		return err
	}
	j.screen = newScreen(j.streams, j.flags.format, len(plans))
	if err := j.openRedis(ctx, plans); err != nil {
		return err
	}
	defer j.closeRedis()
	if err := j.probe(ctx, plans); err != nil {
		return err
	}
	if err := j.canWitness(ctx, plans); err != nil {
		return err
	}
	j.keeper = newKeeper(dir, j.screen, plans)
	j.screen.start(j.flags, dir)
	lost := j.drive(ctx, plans)
	r := j.keeper.report(j, started, skips)
	if err := j.keeper.write(r); err != nil {
		return errors.Join(environment(err), lost)
	}
	if err := j.screen.end(r, dir); err != nil {
		return environment(err)
	}
	switch {
	case lost != nil:
		return lost
	case ctx.Err() != nil:
		return &statusError{statusUndecided, fmt.Errorf("interrupted; what was recorded until then is in %s", dir)}
	}
	return verdictStatus(r.Verdict)
}

// plan reads scenarios and limiters and lists the runs.
func (j *job) plan() ([]scenarios.Plan, []scenarios.Skip, error) {
	sel, err := j.selection()
	if err != nil {
		return nil, nil, err
	}
	plans, skips, err := sel.Plans()
	if err != nil {
		return nil, nil, usage(err)
	}
	if len(plans) == 0 {
		return nil, nil, usagef("nothing to run: %s", firstReason(skips))
	}
	folders := map[string]string{}
	for _, p := range plans {
		dir := folderOf(p.Scenario.Name, p.Subject.Name)
		if other, taken := folders[dir]; taken {
			return nil, nil, usagef("two runs of scenario %s would share the folder %s, for limiters %s and %s: name each scenario once and give limiters different names", p.Scenario.Name, dir, other, p.Subject.Name)
		}
		folders[dir] = p.Subject.Name
	}
	return plans, skips, nil
}

func firstReason(skips []scenarios.Skip) string {
	if len(skips) == 0 {
		return "--quick leaves none of these scenarios, run without it"
	}
	return fmt.Sprintf("%s for %s: %s", skips[0].Scenario, skips[0].Limiter, skips[0].Reason)
}

// selection is what the flags ask for.
func (j *job) selection() (scenarios.Selection, error) {
	f := j.flags
	sel := scenarios.Selection{Quick: f.quick, Seed: f.seed, Witness: scenarios.Witness(f.witness)}
	var err error
	switch {
	case f.format != "text" && f.format != "json":
		return sel, usagef("--format %s: want text or json", f.format)
	case f.witness != "auto" && f.witness != "on" && f.witness != "off":
		return sel, usagef("--witness %s: want auto, on or off", f.witness)
	}
	if sel.Rate, err = figure("--rate", f.rate); err != nil {
		return sel, err
	}
	if sel.Capacity, err = figure("--capacity", f.capacity); err != nil {
		return sel, err
	}
	if sel.Scenarios, err = readScenarios(j.names); err != nil {
		return sel, err
	}
	seen := map[string]string{}
	for _, name := range f.limiters {
		l, err := j.limiters.find(name)
		if err != nil {
			return sel, err
		}
		if other, twice := seen[l.Name]; twice {
			return sel, usagef("limiters %s and %s are both named %s, give one another name", other, name, l.Name)
		}
		seen[l.Name] = name
		sel.Subjects = append(sel.Subjects, l.Subject)
	}
	sel.Resolve = func(name string) (*scenarios.Subject, error) {
		l, err := j.limiters.find(name)
		if err != nil {
			return nil, err
		}
		return l.Subject, nil
	}
	return sel, nil
}

// figure reads a number above 0 from a flag; 0 when it was not given.
func figure(flag, text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	v, err := scenarios.ParseRate(text)
	if err != nil {
		return 0, usagef("%s: %v", flag, err)
	}
	return v, nil
}

// readScenarios finds scenarios by suite, name or file.
func readScenarios(names []string) ([]*scenarios.Scenario, error) {
	if len(names) == 0 {
		names = []string{"standard"}
	}
	var all []*scenarios.Scenario
	for _, name := range names {
		suite, ok := scenarios.SuiteOf(name)
		if !ok {
			suite = []string{name}
		}
		for _, name := range suite {
			s, err := readScenario(name)
			if err != nil {
				return nil, usage(err)
			}
			all = append(all, s)
		}
	}
	return all, nil
}

func readScenario(name string) (*scenarios.Scenario, error) {
	if _, err := scenarios.Text(name); err == nil {
		return scenarios.Named(name)
	}
	data, err := os.ReadFile(name)
	switch {
	case errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(name, "/.\\"):
		return nil, fmt.Errorf("no scenario or suite is named %s and there is no such file, see `harness list scenarios`", name)
	case err != nil:
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	return scenarios.Parse(name, data)
}

// openRedis starts or finds the Redis, if some limiter needs one.
func (j *job) openRedis(ctx context.Context, plans []scenarios.Plan) error {
	needed := false
	for _, p := range plans {
		l, err := j.limiters.bySubject(p.Subject)
		if err != nil {
			return err
		}
		needed = needed || l.needsRedis
	}
	if !needed {
		return nil
	}
	r, err := backend.Open(ctx, j.flags.redis, backend.Options{Log: j.screen.note})
	if err != nil {
		return err
	}
	j.redis, j.limiters.redis = r, r
	return nil
}

// closeRedis leaves somebody else's server as it was found, and ends our own.
func (j *job) closeRedis() {
	if j.redis == nil {
		return
	}
	if j.redis.Info().Kind == backend.External {
		ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
		defer cancel()
		if _, err := j.redis.Remove(ctx, backend.Contains(j.id)); err != nil {
			j.screen.note(fmt.Sprintf("clean up: %v; the keys that hold %s expire or are yours to delete", oneLine(err.Error()), j.id))
		}
	}
	if err := j.redis.Close(); err != nil {
		j.screen.note("close redis: " + oneLine(err.Error()))
	}
}

// probe asks each limiter once.
func (j *job) probe(ctx context.Context, plans []scenarios.Plan) error {
	asked := map[*scenarios.Subject]bool{}
	for _, p := range plans {
		if asked[p.Subject] {
			continue
		}
		asked[p.Subject] = true
		l, err := j.limiters.bySubject(p.Subject)
		if err != nil {
			return err
		}
		if err := j.limiters.probe(ctx, l, p.Scenario.Limit, fmt.Sprintf("%s:probe:%d", j.id, len(asked))); err != nil {
			return err
		}
	}
	return nil
}

// canWitness takes the witness from all plans where the server knows no blocks
// of commands, and says so; --witness on then fails.
func (j *job) canWitness(ctx context.Context, plans []scenarios.Plan) error {
	if j.redis == nil || !slices.ContainsFunc(plans, func(p scenarios.Plan) bool { return p.Witness }) {
		return nil
	}
	err := lua.CanWitness(ctx, j.redis.Client())
	switch {
	case err == nil:
		return nil
	case j.flags.witness == string(scenarios.WitnessOn):
		return environment(fmt.Errorf("--witness on: %w", err))
	}
	j.screen.note("no witness: " + oneLine(err.Error()))
	for i := range plans {
		plans[i].Witness = false
	}
	return nil
}

// repeatUntil is how long after the start an undecided run may be repeated.
const (
	repeatUntil      = 45 * time.Second
	repeatUntilQuick = 13 * time.Second
)

// drive makes all runs. The error is the environment's: a Redis that was lost,
// a disk that is full.
func (j *job) drive(ctx context.Context, plans []scenarios.Plan) error {
	var alarm load.Alarm
	defer alarm.Close()
	runner := &scenarios.Runner{ID: j.id, Sleep: alarm.Sleep}
	if j.redis != nil {
		runner.Store, runner.Server = j.redis, j.redis
	}
	suite := &scenarios.Suite{Runner: runner, Plans: plans, RepeatUntil: repeatUntil}
	if j.flags.quick {
		suite.RepeatUntil = repeatUntilQuick
	}
	suite.Done = func(res *scenarios.Result, p scenarios.Plan, err error) error {
		if err == nil {
			err = j.keeper.keep(res)
		}
		if err == nil && lost(res) == 0 {
			return nil
		}
		if ctx.Err() != nil {
			return nil
		}
		if gone := j.alive(); gone != nil {
			return environment(fmt.Errorf("%w; what was recorded until then is in %s", gone, filepath.Clean(j.keeper.dir)))
		}
		return environment(err)
	}
	return suite.Run(ctx)
}

// lost is how many requests had no usable answer.
func lost(res *scenarios.Result) int64 {
	return res.Report.Summary.Unsent + res.Report.Summary.Unknown
}

// alive reports whether the Redis is still there.
func (j *job) alive() error {
	if j.redis == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	return j.redis.Alive(ctx)
}
