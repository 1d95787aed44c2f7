package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bucketproof/bucket/check"
	"bucketproof/bucket/control"
	"bucketproof/reports"
	"bucketproof/scenarios"
)

// newSelftest is `harness selftest`.
func newSelftest(s streams) *cobra.Command {
	f := runFlags{witness: string(scenarios.WitnessAuto)}
	clean, held := 0, time.Duration(0)
	c := &cobra.Command{
		Use:   "selftest",
		Short: "Prove the harness: every negative control caught, no correct limiter accused",
		Long: `Selftest runs every negative control, a limiter that is broken in the way a
published one was, through the scenario that shows its fault, and the correct
limiters through many seeds. It fails when a control is not caught by the check
named for it, and when a correct limiter is accused of anything. A failure that
the callers' clocks explain is no catch, unless to trust them is the fault. With
--stall the server is held up again and again and only the correct limiters run,
since a stall may hide a fault.`,
		Example: `  harness selftest
  harness selftest --clean 200 --redis embedded
  harness selftest --clean 200 --stall 2s`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if !c.Flags().Changed("seed") {
				f.seed = randomSeed()
			}
			if clean < minClean {
				return usagef("--clean %d: want at least %d", clean, minClean)
			}
			if err := checkStall(held, f.redis); err != nil {
				return err
			}
			command, controls := fmt.Sprintf("harness selftest --clean %d --seed %d", clean, f.seed), control.All()
			if held > 0 {
				command, controls = fmt.Sprintf("%s --stall %v", command, held), nil
			}
			j := newJob(s, f, command)
			j.stall, j.patient = held, clean > minClean && held == 0
			return j.selftest(c.Context(), controls, clean)
		},
	}
	f.addCommon(c)
	c.Flags().IntVar(&clean, "clean", minClean, "`RUNS` of correct limiters, at least 20")
	c.Flags().DurationVar(&held, "stall", 0, "hold the server up again and again, for up to `DURATION` (2s at most)")
	return c
}

// minClean is the least number of clean runs that says anything.
const minClean = 20

// Clean runs are named after this, so that each has a folder of its own.
const cleanPrefix = "clean/"

// selftest makes the runs and concludes from them.
func (j *job) selftest(ctx context.Context, controls []control.Control, clean int) error {
	plans, err := selftestPlans(j.limiters, j.flags, controls, clean)
	if err != nil {
		return err
	}
	return j.execute(ctx, plans, nil, func(r *reports.Report) { concludeSelftest(r, controls) })
}

// selftestPlans lists a run for each control and point of its scenario, and
// the clean runs. The shortened suite leaves no control out.
func selftestPlans(t *limiters, f runFlags, controls []control.Control, clean int) ([]scenarios.Plan, error) {
	sel := scenarios.Selection{Seed: f.seed, Witness: scenarios.Witness(f.witness)}
	var plans []scenarios.Plan
	for _, c := range controls {
		some, err := plansFor(t, sel, c.Scenario, c.Name)
		if err != nil {
			return nil, err
		}
		plans = append(plans, some...)
	}
	some, err := cleanPlans(t, sel, clean)
	return append(plans, some...), err
}

func plansFor(t *limiters, sel scenarios.Selection, scenario, limiter string) ([]scenarios.Plan, error) {
	s, err := scenarios.Named(scenario)
	if err != nil {
		return nil, fmt.Errorf("selftest of %s: %w", limiter, err)
	}
	l, err := t.find(limiter)
	if err != nil {
		return nil, fmt.Errorf("selftest: %w", err)
	}
	sel.Scenarios, sel.Subjects = []*scenarios.Scenario{s}, []*scenarios.Subject{l.Subject}
	plans, _, err := sel.Plans()
	if err == nil && len(plans) == 0 {
		err = fmt.Errorf("selftest of %s: scenario %s has nothing to run", limiter, scenario)
	}
	return plans, err
}

// cleanLimiters are right on synchronized clocks.
var cleanLimiters = []string{"memory", "redis-time", "gcra", "app-clock"}

// brief is the longest that a clean run takes until there are so many that all
// briefer ones were made.
const brief = 3 * time.Second

// cleanPlans lists n runs of correct limiters, in turn, each with a seed of its
// own. Each limiter takes its own way through the points where it must pass
// everything, in an order that the seed draws, and begins again at the end.
func cleanPlans(t *limiters, sel scenarios.Selection, n int) ([]scenarios.Plan, error) {
	points, err := cleanPoints(sel)
	if err != nil {
		return nil, err
	}
	var ways [][]string
	for i, limiter := range cleanLimiters {
		ways = append(ways, wayThrough(points, limiter, float64(i)/float64(len(cleanLimiters))))
	}
	var plans []scenarios.Plan
	for i := range n {
		k := i % len(ways)
		one := sel
		one.Seed += uint64(i)
		some, err := plansFor(t, one, ways[k][i/len(ways)%len(ways[k])], cleanLimiters[k])
		if err != nil {
			return nil, err
		}
		p := some[0]
		p.Scenario.Name = fmt.Sprintf("%s%03d-%s", cleanPrefix, i, strings.ReplaceAll(p.Scenario.Name, "/", "-"))
		plans = append(plans, p)
	}
	return plans, nil
}

// cleanPoints are the points of the standard suite whose clocks agree and that
// measure no latency, shuffled.
func cleanPoints(sel scenarios.Selection) ([]scenarios.Scenario, error) {
	names, _ := scenarios.SuiteOf("standard")
	var points []scenarios.Scenario
	for _, name := range names {
		s, err := scenarios.Named(name)
		if err != nil {
			return nil, fmt.Errorf("selftest: %w", err)
		}
		if !s.Latency && s.Synchronized() {
			points = append(points, s.Points()...)
		}
	}
	rand.New(rand.NewPCG(sel.Seed, 0)).Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	return points, nil
}

// wayThrough names the points of which nothing but a pass is expected of a
// limiter: the brief ones, from such a part of their list on, and then the others.
func wayThrough(points []scenarios.Scenario, limiter string, from float64) []string {
	var short, long []string
	for i := range points {
		p := &points[i]
		switch {
		case len(p.Expect[limiter]) > 0:
		case p.Length() <= brief:
			short = append(short, p.Name)
		default:
			long = append(long, p.Name)
		}
	}
	first := int(from * float64(len(short)))
	return slices.Concat(short[first:], short[:first], long)
}

// concludeSelftest says which controls were caught, counts false alarms, and
// gives the verdict that they come to.
func concludeSelftest(r *reports.Report, controls []control.Control) {
	result := &reports.Selftest{Controls: []reports.ControlResult{}}
	for _, c := range controls {
		row := reports.ControlResult{Name: c.Name, Check: c.Check, StandsFor: c.StandsFor, Threads: c.Threads, Scenario: c.Scenario}
		row.Evidence, row.Caught = evidence(r, c)
		result.Controls = append(result.Controls, row)
	}
	for _, run := range r.Runs {
		if !strings.HasPrefix(run.Scenario, cleanPrefix) {
			continue
		}
		result.CleanRuns++
		switch {
		case run.Verdict == string(scenarios.Undecided):
			result.UndecidedRuns++
		case slices.ContainsFunc(run.Checks, func(c reports.Check) bool { return c.Verdict == string(check.Fail) }):
			result.FalseAlarms++
		}
	}
	r.Selftest = result
	r.Verdict = reports.SelftestVerdict(r)
}

// evidence is the scenario and the sentence with which a run caught a control.
func evidence(r *reports.Report, c control.Control) (string, bool) {
	for _, run := range r.Runs {
		if run.Limiter != c.Name {
			continue
		}
		for _, found := range run.Checks {
			if found.Name == c.Check && found.Verdict == string(check.Fail) && (c.ByClocks || !found.WithinPrediction) {
				return run.Scenario + ": " + found.Detail, true
			}
		}
	}
	return "", false
}
