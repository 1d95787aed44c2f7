package reports

import (
	"fmt"
	"slices"

	"bucketproof/bucket/history"
)

// The controls of the fixture: caught, missed, not decided and not run.
var someControls = []ControlResult{
	{Name: "control/deny-charged", Check: "spurious-denial", Caught: true, Threads: "upstash/ratelimit-js#156", Scenario: "overload/100-50",
		StandsFor: "a denied request is charged all the same, so the stored level sinks below 0",
		Evidence:  "overload/100-50: instance app-2 was locked out for 2.49 s: 314 of its denials are explained by no placement of the other requests"},
	{Name: "control/get-set", Check: "over-admission", Caught: true, Threads: "Netflix/concurrency-limits#234", Scenario: "atomic-burst",
		StandsFor: "the level is read, computed and written in separate commands",
		Evidence:  "atomic-burst: granted 400 tokens in 4.74 s where at most 147.4 fit: 252.6 too many (0.127 s to 4.870 s, key `k|1`)"},
	{Name: "control/older-now-written", Check: "over-admission", Scenario: "skew-mixed/4",
		Threads:   "spring-cloud/spring-cloud-gateway#2412, spring-cloud/spring-cloud-gateway#1688, tikv/pd#10744",
		StandsFor: "a negative elapsed time is clamped to 0 but the older time is stored, so every turn from a fast to a slow clock mints tokens"},
	{Name: "control/seconds-for-milliseconds", Check: "over-admission", Scenario: "overload/100-50", Threads: "lucia-auth/lucia#1778",
		StandsFor: "the elapsed time is in milliseconds and the rate in tokens a second"},
	{Name: "control/ttl-zero", Check: "state-audit", StandsFor: "<b>the life</b> in whole seconds rounds to 0 | for a bucket that fills quickly"},
}

// brief is a run of a control, or of a correct limiter, in little time.
func brief(seed uint64) simulation {
	c := peers(2)
	return simulation{limit: small, callers: c, rule: contention(seed).rule, delay: 0.0006, seed: seed,
		loads: []load{{from: names(c), burst: 60}, {from: names(c), at: 0.05, last: 0.4, rate: 300}}}
}

// selftested is a selftest that went wrong in every way, with some clean runs.
func selftested(clean int) *fixture {
	f := newFixture()
	f.report.Command, f.report.Verdict = "harness selftest --clean 24 --seed 42", "fail"
	f.report.Selftest = &Selftest{Controls: slices.Clone(someControls), FalseAlarms: 1, CleanRuns: clean}
	for i, c := range someControls[:4] {
		s := brief(uint64(i))
		expect := anyFault
		if c.Caught {
			s.stale, expect = 0.002, faults("over-admission")
		}
		run, ops := judged(c.Scenario, c.Name, s, expect)
		run.About = "Shows a fault."
		if i == 3 {
			run.Verdict, run.Checks[0].Verdict, run.Checks[0].Detail = notDecided, "undecided", "the load generator missed its schedule"
			run.Checks[0].Evidence = nil
		}
		f.add(run, ops)
	}
	f.report.Skipped = []Skip{{"idle-burst-short", "control/ttl-zero", "the command ended before it ran"}}
	f.report.Unmet = []Unmet{{"control/older-now-written", "over-admission", "failed in none of its runs"}}
	for i := range clean {
		limiter := []string{"memory", "redis-time", "app-clock"}[i%3]
		run, ops := judged(fmt.Sprintf("clean/%03d-overload-100-50", i), limiter, brief(uint64(100+i)), nil)
		run.About = "Two to twenty times the rate."
		if i == 1 {
			run.Verdict, run.Checks[1].Verdict, run.Checks[1].Detail = notExpected, "fail", "5 denials are explained by no placement of the other requests"
			run.Checks[1].Value["count"] = 5
		}
		if i > 3 {
			ops = []history.Operation{} // nothing to draw
		}
		f.add(run, ops)
	}
	return f
}

// held is a selftest without a fault.
func held() *fixture {
	f := selftested(20)
	f.report.Verdict, f.report.Skipped, f.report.Unmet = "pass", nil, nil
	f.report.Selftest.Controls, f.report.Selftest.FalseAlarms = f.report.Selftest.Controls[:2], 0
	f.report.Runs = slices.DeleteFunc(f.report.Runs, func(run Run) bool { return run.Verdict != asExpected || run.Limiter == someControls[2].Name })
	return f
}
