package main

import (
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/scenarios"
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
report. A SCENARIO is a name, a name with a point of its sweep (skew-drain/300ms),
a suite (standard) or a YAML file; none is the
suite standard. Each scenario says which limiters it is for; --limiter replaces
that by your own, and then every scenario runs for each of them. The limiter
published is all published libraries together.`,
		Example: `  harness run
  harness run --quick --redis embedded
  harness run skew-drain fast-leaves --limiter app-clock --limiter redis-time
  harness run --limiter published
  harness run --limiter my-limiter.yaml --rate 5k --capacity 1k --redis redis://localhost:6379/15`,
		ValidArgsFunction: cobra.FixedCompletions(append(scenarios.Suites(), scenarios.Names()...), cobra.ShellCompDirectiveDefault),
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("seed") {
				f.seed = randomSeed()
			}
			j := newJob(s, f, f.command(args))
			plans, skips, err := f.plan(j.limiters, args)
			if err != nil {
				return err
			}
			return j.execute(c.Context(), plans, skips, nil)
		},
	}
	f.addCommon(c)
	flags := c.Flags()
	flags.StringArrayVar(&f.limiters, "limiter", nil, "limiter `NAME or FILE`; repeatable; replaces the scenarios' own lists")
	flags.StringVar(&f.rate, "rate", "", "override the scenarios' `RATE`, tokens a second: 500, 12.5, 5k")
	flags.StringVar(&f.capacity, "capacity", "", "override the scenarios' `CAPACITY`, tokens")
	flags.StringVar(&f.witness, "witness", "auto", "auto, on or off: whether Redis records the true order beside each call; auto: unless latency is measured")
	return c
}

// addCommon adds the flags that run and selftest share.
func (f *runFlags) addCommon(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.redis, "redis", redisDefault(), "`WHERE` the buckets live: auto, process, container, embedded or a URL; also HARNESS_REDIS")
	flags.StringVar(&f.out, "out", "", "output `FOLDER`, new, empty or an earlier result (default out/<UTC time>)")
	flags.Uint64Var(&f.seed, "seed", 0, "`SEED` of everything random (default: a new one, printed)")
	flags.BoolVar(&f.quick, "quick", false, "the shortened suite")
	flags.StringVar(&f.format, "format", "text", "`FORMAT` of standard output: text or json")
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

// plan reads scenarios and limiters and lists the runs.
func (f runFlags) plan(t *limiters, names []string) ([]scenarios.Plan, []scenarios.Skip, error) {
	sel, err := f.selection(t, names)
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
		other, taken := folders[dir]
		switch {
		case taken && other == p.Subject.Name:
			return nil, nil, usagef("scenario %s is named twice: name each scenario once, and give files of your own different names", p.Scenario.Name)
		case taken:
			return nil, nil, usagef("two runs of scenario %s would share the folder %s, for limiters %s and %s: give one another name", p.Scenario.Name, dir, other, p.Subject.Name)
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
func (f runFlags) selection(t *limiters, names []string) (scenarios.Selection, error) {
	sel := scenarios.Selection{Quick: f.quick, Seed: f.seed, Witness: scenarios.Witness(f.witness)}
	if why := backend.CanOwnClock(f.redis); why != nil {
		sel.NoOwn = why.Error()
	}
	var err error
	switch {
	case f.witness != "auto" && f.witness != "on" && f.witness != "off":
		return sel, usagef("--witness %s: want auto, on or off", f.witness)
	}
	if sel.Rate, err = figure("--rate", f.rate); err != nil {
		return sel, err
	}
	if sel.Capacity, err = figure("--capacity", f.capacity); err != nil {
		return sel, err
	}
	if sel.Scenarios, err = readScenarios(names); err != nil {
		return sel, err
	}
	picked, err := t.pick(f.limiters)
	if err != nil {
		return sel, err
	}
	for _, l := range picked {
		sel.Subjects = append(sel.Subjects, l.Subject)
	}
	sel.Resolve = func(name string) (*scenarios.Subject, error) {
		l, err := t.find(name)
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
	if err == nil {
		err = bucket.Countable(strings.TrimPrefix(flag, "--"), v)
	}
	if err != nil {
		return 0, usagef("%s: %v", flag, err)
	}
	return v, nil
}

// whole is figure for what is counted. 1.005k is 1005, though not in binary.
func whole(flag, text string) (float64, error) {
	v, err := figure(flag, text)
	if err != nil {
		return 0, err
	}
	n := math.Round(v)
	if math.Abs(v-n) > 1e-15*v {
		return 0, usagef("%s: %s is no whole number, write one like 500, 1.5k or 5M", flag, text)
	}
	return n, nil
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
	whole, _, _ := strings.Cut(name, "/")
	if _, err := scenarios.Text(whole); err == nil {
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

// isURL tells somebody's server from one that is started here.
func isURL(redis string) bool { return strings.Contains(redis, "://") }

// command is what repeats a run. A URL may hold a password and is left out.
func (f runFlags) command(names []string) string {
	words := append([]string{"harness", "run"}, names...)
	for _, l := range f.limiters {
		words = append(words, "--limiter", l)
	}
	if f.rate != "" {
		words = append(words, "--rate", f.rate)
	}
	if f.capacity != "" {
		words = append(words, "--capacity", f.capacity)
	}
	if f.quick {
		words = append(words, "--quick")
	}
	if f.redis != "auto" && !isURL(f.redis) {
		words = append(words, "--redis", f.redis)
	}
	return strings.Join(append(words, "--seed", fmt.Sprint(f.seed)), " ")
}
