package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"bucketproof/bucket/check"
	"bucketproof/bucket/history"
	"bucketproof/reports"
	"bucketproof/scenarios"
)

// keeper writes each run's history as soon as it is judged, so that nothing
// recorded is lost, and collects what goes into the report. Its methods are
// called by one goroutine at a time.
type keeper struct {
	dir    string
	screen *screen
	order  map[string]int // folder → place in the report
	runs   []reports.Run
	plans  []scenarios.Plan
}

func newKeeper(dir string, s *screen, plans []scenarios.Plan) *keeper {
	k := &keeper{dir: dir, screen: s, order: map[string]int{}, plans: plans}
	for i, p := range plans {
		k.order[folderOf(p.Scenario.Name, p.Subject.Name)] = i
	}
	return k
}

// keep writes a run's history, latencies and picture and prints its line.
func (k *keeper) keep(res *scenarios.Result) error {
	folder := folderOf(res.Scenario.Name, res.Limiter)
	dir := filepath.Join(k.dir, filepath.FromSlash(folder))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return environment(fmt.Errorf("keep history: %w", err))
	}
	limit := res.Limit
	if err := history.Save(filepath.Join(dir, historyFile), history.Header{Limit: &limit}, res.Operations); err != nil {
		return environment(err)
	}
	if err := saveLatency(filepath.Join(dir, latencyFile), res.Latency); err != nil {
		return environment(err)
	}
	run := newReportRun(res)
	run.Dir = folder
	if err := drawDisorder(k.dir, &run, res.Verdicts, res.Spec, history.All(res.Operations)); err != nil {
		return environment(err)
	}
	k.runs = append(k.runs, run)
	k.screen.result(res)
	return nil
}

// report assembles what was kept, in the order of the plans.
func (k *keeper) report(j *job, started time.Time, skips []scenarios.Skip) *reports.Report {
	slices.SortFunc(k.runs, func(a, b reports.Run) int { return k.order[a.Dir] - k.order[b.Dir] })
	r := &reports.Report{
		Command: j.command, Seed: j.flags.seed,
		StartedAt: started.UTC(), FinishedAt: time.Now().UTC(),
		Harness: thisHarness(), Redis: reports.Redis{Kind: "none"}, Runs: k.runs,
	}
	unmet, unsure := k.expected()
	r.Unmet, r.Warnings = unmet, slices.Concat(unsure, j.warnings)
	if j.redis != nil {
		info := j.redis.Info()
		r.Redis = reports.Redis{Kind: string(info.Kind), Engine: info.Engine, Version: info.Version, Address: info.Address}
		if j.clock != nil {
			j.clock.tell(&r.Redis)
		}
	}
	for _, s := range skips {
		r.Skipped = append(r.Skipped, reports.Skip{Scenario: s.Scenario, Limiter: s.Limiter, Reason: s.Reason})
	}
	for _, p := range k.plans {
		if !slices.ContainsFunc(k.runs, func(run reports.Run) bool { return run.Dir == folderOf(p.Scenario.Name, p.Subject.Name) }) {
			r.Skipped = append(r.Skipped, reports.Skip{Scenario: p.Scenario.Name, Limiter: p.Subject.Name, Reason: "the command ended before it ran"})
		}
	}
	r.Verdict = verdictOf(r)
	if r.Verdict == "pass" && len(unsure) > 0 {
		r.Verdict = "undecided"
	}
	return r
}

// expected compares what limiters were expected to show over the whole command
// with what they showed: unmet is a fault that no run showed, and unsure one
// that no run showed though some run could not decide. A limiter whose runs did
// not all end is not judged.
func (k *keeper) expected() (unmet []reports.Unmet, unsure []string) {
	seen := map[*scenarios.Subject]bool{}
	for _, p := range k.plans {
		if seen[p.Subject] {
			continue
		}
		seen[p.Subject] = true
		for _, name := range sortedKeys(p.Subject.Expect) {
			if !slices.ContainsFunc(k.plans, func(other scenarios.Plan) bool {
				return other.Subject == p.Subject && p.Subject.MustShow(other.Scenario.Name, name)
			}) {
				continue
			}
			detail := fmt.Sprintf("%s failed %s in none of its runs, and was expected to in at least one", p.Subject.Name, name)
			switch verdicts, all := k.verdicts(p.Subject.Name, name); {
			case !all || slices.Contains(verdicts, check.Fail):
			case slices.Contains(verdicts, check.Undecided):
				unsure = append(unsure, detail+", but some could not decide")
			default:
				unmet = append(unmet, reports.Unmet{Limiter: p.Subject.Name, Check: name, Detail: detail})
			}
		}
	}
	return unmet, unsure
}

// verdicts are a check's verdicts in all runs of a limiter; all is false when
// some planned run was not kept.
func (k *keeper) verdicts(limiter, name string) (verdicts []check.Verdict, all bool) {
	missing := 0
	for _, p := range k.plans {
		if p.Subject.Name == limiter {
			missing++
		}
	}
	for _, r := range k.runs {
		if r.Limiter != limiter {
			continue
		}
		missing--
		for _, c := range r.Checks {
			if c.Name == name {
				verdicts = append(verdicts, check.Verdict(c.Verdict))
			}
		}
	}
	return verdicts, missing == 0
}

// verdictOf is the verdict over all: a failure outweighs what is undecided,
// and runs that never ended leave the whole undecided.
func verdictOf(r *reports.Report) string {
	verdict := "pass"
	if len(r.Runs) == 0 {
		verdict = "undecided"
	}
	for _, run := range r.Runs {
		switch scenarios.Outcome(run.Verdict) {
		case scenarios.Unexpected:
			return "fail"
		case scenarios.Undecided:
			verdict = "undecided"
		}
	}
	if len(r.Unmet) > 0 {
		return "fail"
	}
	for _, s := range r.Skipped {
		if strings.HasPrefix(s.Reason, "the command ended") {
			verdict = "undecided"
		}
	}
	return verdict
}

// write renders the report.
func (k *keeper) write(r *reports.Report) error {
	return reports.Write(k.dir, r, histories(k.dir))
}

func thisHarness() reports.Harness {
	return reports.Harness{Version: version(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()}
}
