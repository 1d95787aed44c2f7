package main

import (
	"fmt"
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
named for it, and when a correct limiter is accused of anything. With --stall the
server is held up again and again and only the correct limiters run, since a
stall may hide a fault.`,
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
			j.stall = held
			plans, err := selftestPlans(j.limiters, f, controls, clean)
			if err != nil {
				return err
			}
			return j.execute(c.Context(), plans, nil, func(r *reports.Report) { concludeSelftest(r, controls) })
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

// selftestPlans lists a run for each control and point of its scenario, and
// the clean runs.
func selftestPlans(t *limiters, f runFlags, controls []control.Control, clean int) ([]scenarios.Plan, error) {
	sel := scenarios.Selection{Seed: f.seed, Quick: f.quick, Witness: scenarios.Witness(f.witness)}
	var plans []scenarios.Plan
	for _, c := range controls {
		some, err := plansFor(t, sel, c.Scenario, c.Name)
		if err != nil {
			return nil, err
		}
		plans = append(plans, some...)
	}
	for i := range clean {
		sel.Seed = f.seed + uint64(i)
		limiter := cleanLimiters[i%len(cleanLimiters)]
		scenario := cleanScenarios[i/len(cleanLimiters)%len(cleanScenarios)]
		some, err := plansFor(t, sel, scenario, limiter)
		if err != nil {
			return nil, err
		}
		p := some[0]
		p.Scenario.Name = fmt.Sprintf("%s%03d-%s", cleanPrefix, i, strings.ReplaceAll(p.Scenario.Name, "/", "-"))
		plans = append(plans, p)
	}
	return plans, nil
}

// What is run clean: limiters that are right on synchronized clocks, in
// scenarios whose clocks are.
var (
	cleanLimiters  = []string{"memory", "redis-time", "app-clock"}
	cleanScenarios = []string{"overload", "idle-burst-short", "same-tick", "window-edge", "many-keys", "poll", "idle-burst"}
)

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

// concludeSelftest says which controls were caught and counts false alarms.
func concludeSelftest(r *reports.Report, controls []control.Control) {
	result := &reports.Selftest{Controls: []reports.ControlResult{}}
	for _, c := range controls {
		caught := reports.ControlResult{Name: c.Name, Check: c.Check, StandsFor: c.StandsFor, Threads: c.Threads, Scenario: c.Scenario}
		for _, run := range r.Runs {
			if detail, failed := failure(run, c.Check); run.Limiter == c.Name && failed {
				caught.Caught, caught.Evidence = true, run.Scenario+": "+detail
				break
			}
		}
		result.Controls = append(result.Controls, caught)
	}
	for _, run := range r.Runs {
		if !strings.HasPrefix(run.Scenario, cleanPrefix) {
			continue
		}
		result.CleanRuns++
		for _, c := range run.Checks {
			if c.Verdict == string(check.Fail) {
				result.FalseAlarms++
				break
			}
		}
	}
	r.Selftest = result
	if result.FalseAlarms > 0 {
		r.Verdict = "fail"
	}
}

// failure is the sentence with which a run failed a check.
func failure(run reports.Run, name string) (string, bool) {
	for _, c := range run.Checks {
		if c.Name == name && c.Verdict == string(check.Fail) {
			return c.Detail, true
		}
	}
	return "", false
}
