package reports

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// fixture is a report and the operations of its runs, by folder.
type fixture struct {
	report *Report
	ops    map[string][]history.Operation
}

// load is the fixture's Loader: a run without operations has no history.
func (f *fixture) load(run Run) ([]history.Operation, error) {
	ops, ok := f.ops[run.Dir]
	if !ok {
		return nil, fmt.Errorf("open %s: %w", run.Dir, os.ErrNotExist)
	}
	return ops, nil
}

func (f *fixture) add(run Run, ops []history.Operation) {
	f.report.Runs = append(f.report.Runs, run)
	f.ops[run.Dir] = ops
}

func folder(scenario, limiter string) string {
	return scenario + "/" + strings.ReplaceAll(limiter, "/", "-")
}

func newFixture() *fixture {
	return &fixture{
		ops: make(map[string][]history.Operation),
		report: &Report{
			SchemaVersion: SchemaVersion, Verdict: "pass", Command: "harness run --seed 42 --redis process", Seed: 42,
			StartedAt:  time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC),
			FinishedAt: time.Date(2026, 3, 14, 9, 31, 5, 0, time.UTC),
			Harness:    Harness{Version: "v0.1.0", Go: "go1.26.0", OS: "linux", Arch: "amd64", CPUs: 2},
			Redis:      Redis{Kind: "process", Engine: "redis", Version: "7.0.15", Address: "127.0.0.1:40117"},
		},
	}
}

var small = bucket.Limit{Rate: 100, Capacity: 50}

func pair(spread float64) []caller {
	return []caller{{name: "slow", offset: -spread / 2}, {name: "fast", offset: spread / 2}}
}

func peers(n int) []caller {
	var list []caller
	for i := range n {
		list = append(list, caller{name: fmt.Sprintf("app-%d", i+1)})
	}
	return list
}

func names(callers []caller) []string {
	var list []string
	for _, c := range callers {
		list = append(list, c.name)
	}
	return list
}

// anyFault lets every fault pass as expected.
var anyFault = map[string]string{"over-admission": "any", "spurious-denial": "any", "fairness": "any"}

func faults(names ...string) map[string]string {
	expect := map[string]string{"over-admission": "any", "spurious-denial": "any", "fairness": "any"}
	for _, name := range names {
		expect[name] = "fail"
	}
	return expect
}

func contention(seed uint64) simulation {
	c := peers(4)
	return simulation{limit: small, rule: bucket.RuleAppClock, callers: c, delay: 0.0006, seed: seed,
		loads: []load{{from: names(c), burst: 120}, {from: names(c), at: 0.05, last: 3, rate: 400}}}
}

func drain(spread float64, rule bucket.Rule, server bool) simulation {
	return simulation{limit: small, rule: rule, server: server, callers: pair(spread), delay: 0.0005, seed: 11,
		loads: []load{
			{from: []string{"slow"}, burst: 200}, {from: []string{"fast"}, at: 0.012, burst: 200},
			{from: []string{"slow", "fast"}, at: 0.1, last: 2.5, rate: 240},
		}}
}

func polite(spread float64) simulation {
	return simulation{limit: small, rule: bucket.RuleAppClock, callers: pair(spread), delay: 0.0005, seed: 12,
		loads: []load{{from: []string{"slow", "fast"}, last: 6, rate: 90}}}
}

// The fixtures take a while to simulate, so each is made once; tests get
// copies whose reports they may change.
var (
	standardOnce = sync.OnceValue(makeStandard)
	troubledOnce = sync.OnceValue(makeTroubled)
	largeOnce    = sync.OnceValue(func() *fixture { return makeLarge(130) })
)

func standard() *fixture { return standardOnce().copy() }
func troubled() *fixture { return troubledOnce().copy() }

// large is a report of n runs, at most 130.
func large(n int) *fixture {
	f := largeOnce().copy()
	f.report.Runs = f.report.Runs[:n]
	return f
}

func (f *fixture) copy() *fixture {
	r := *f.report
	r.Runs = slices.Clone(r.Runs)
	return &fixture{report: &r, ops: maps.Clone(f.ops)}
}

// makeStandard has one run of every kind, all as expected.
func makeStandard() *fixture {
	f := newFixture()
	about := func(text string, run Run, ops []history.Operation) {
		run.About = text
		f.add(run, ops)
	}
	const contended = "Four instances release a burst together, then overload the bucket fourfold."
	run, ops := judged("contention", "app-clock", contention(1), nil)
	about(contended, run, ops)
	s := contention(2)
	s.rule, s.server = bucket.RuleRedisTime, true
	run, ops = judged("contention", "redis-time", s, nil)
	about(contended, run, ops)
	s = contention(3)
	s.stale = 0.002
	run, ops = judged("contention", "control/get-set", s, faults("over-admission"))
	about(contended, run, ops)
	for _, spread := range []float64{0.01, 0.1, 0.5} {
		for _, l := range []struct {
			name   string
			rule   bucket.Rule
			server bool
		}{
			{"app-clock", bucket.RuleAppClock, false},
			{"app-clock-monotonic", bucket.RuleAppClockMonotonic, false},
			{"redis-time", bucket.RuleRedisTime, true},
		} {
			expect := anyFault
			if !l.server && spread > 0.05 {
				expect = faults("over-admission")
			}
			run, ops = judged(fmt.Sprintf("skew-drain/%dms", int(spread*1000)), l.name, drain(spread, l.rule, l.server), expect)
			about("A slow clock drains the bucket, then a fast clock takes again.", run, ops)
		}
	}
	run, ops = judged("polite-skew", "app-clock", polite(0.8), anyFault)
	about("Two instances ask for 0.9 of the rate; one clock is 800 ms behind.", run, ops)
	keyed := contention(5)
	keyed.loads = []load{{from: names(keyed.callers), last: 2, rate: 3000, keys: 20}}
	run, ops = judged("many-keys", "app-clock", keyed, nil)
	about("Twenty keys, some much hotter than others.", run, ops)
	latencies(f)
	return f
}

// latencies adds a scenario that was run for its latencies.
func latencies(f *fixture) {
	for i, l := range []string{"app-clock", "redis-time", "redis_rate", "control/older-now-written"} {
		s := contention(uint64(20 + i))
		s.delay = 0.0003 * (1 + 0.4*float64(i))
		s.queue = func(at float64) float64 {
			if at > 1 && at < 1.04 {
				return 1.04 - at
			}
			return 0
		}
		run, ops := judged("latency", l, s, nil)
		run.LatencyMeasured, run.Witness = true, false
		run.About = "Steady load below saturation, alone, without a witness; a pause of 40 ms after one second."
		f.add(run, ops)
	}
}

// makeTroubled is the standard report with everything that can go wrong.
func makeTroubled() *fixture {
	f := standard()
	s := simulation{limit: bucket.Limit{Rate: 20, Capacity: 30}, rule: bucket.RuleRedisTime, server: true, callers: peers(2),
		delay: 0.0006, seed: 31, reborn: 0.3,
		loads: []load{{from: []string{"app-1", "app-2"}, burst: 60}, {from: []string{"app-1", "app-2"}, at: 0.5, burst: 60},
			{from: []string{"app-1", "app-2"}, at: 1.0, burst: 60}, {from: []string{"app-1", "app-2"}, at: 1.5, last: 2.5, rate: 60}}}
	run, ops := judged("drain-idle-drain", "my-limiter", s, nil)
	run.About = "Drain, stay idle for a part of the fill time, drain again."
	f.add(run, ops)

	s = contention(32)
	s.lost = func(at float64) bool { return at > 0.8 && at < 2.9 }
	run, ops = judged("outage", "app-clock", s, nil)
	run.Verdict = notDecided
	run.Checks[1].Verdict = "undecided"
	run.Checks[1].Detail = "831 unknown outcomes may have charged more than the bucket holds"
	run.Repeated = true
	run.Warnings = []string{"the load generator sent 3.1 % of the requests more than 10 ms late"}
	run.Errors = []Error{{"dial tcp 127.0.0.1:40117: connect: connection refused", 800}, {"read tcp 127.0.0.1: i/o timeout", 31}}
	f.add(run, ops)

	empty := simulation{limit: small, rule: bucket.RuleAppClock, callers: peers(1)}
	run, ops = judged("nothing", "app-clock", empty, nil)
	run.Checks, run.Verdict = run.Checks[:1], notDecided
	run.Checks[0].Verdict, run.Checks[0].Detail = "undecided", "no request was sent"
	f.add(run, ops)

	evil := `<script>alert("1")</script>&'|` + "\x00\u202e"
	run, ops = judged(evil, `a"b'<i>&*_/x`, contention(33), nil)
	run.About, run.Dir = evil, "evil"
	run.Checks[0].Detail = evil
	run.Warnings = []string{evil}
	f.add(run, ops)

	run, _ = judged("contention", "memory", contention(34), nil)
	f.report.Runs = append(f.report.Runs, run) // its history is gone
	f.report.Skipped = []Skip{{"failover", "app-clock", "needs two servers"}, {"latency", "memory", "has no Redis to measure"}}
	f.report.Unmet = []Unmet{{"control/whole-seconds", "over-admission", "passed in all 3 runs"}}
	f.report.Verdict = "fail"
	return f
}

func makeLarge(n int) *fixture {
	f := newFixture()
	for i := range n {
		scenario := fmt.Sprintf("scenario-%02d", i%13)
		if i%13 >= 9 {
			scenario = fmt.Sprintf("sweep-of-skew/%dms", 10*(i%13))
		}
		limiter := fmt.Sprintf("limiter-number-%d", i/13)
		if i/13 > 4 {
			limiter = fmt.Sprintf("control/fault-%d-of-a-long-name", i/13)
		}
		s := contention(uint64(i))
		expect := map[string]string{}
		switch {
		case i%7 == 3:
			s = drain(0.3, bucket.RuleAppClock, false)
			expect = faults("over-admission")
		case i%11 == 5:
			s = polite(0.8)
			expect = anyFault
		}
		s.seed = uint64(i)
		run, ops := judged(scenario, limiter, s, expect)
		run.LatencyMeasured = i%13 == 2
		f.add(run, ops)
	}
	return f
}

// sample is a part of the troubled report small enough to be read: a run of
// every outcome.
func sample() *fixture {
	all := troubled()
	f := newFixture()
	f.report.Verdict, f.report.Skipped, f.report.Unmet = "fail", all.report.Skipped, all.report.Unmet
	wanted := []string{
		"contention app-clock", "contention control/get-set", "skew-drain/100ms app-clock", "skew-drain/500ms app-clock",
		"polite-skew app-clock", "latency app-clock", "latency redis-time", "drain-idle-drain my-limiter", "outage app-clock",
	}
	for _, run := range all.report.Runs {
		if slices.Contains(wanted, run.Scenario+" "+run.Limiter) || run.Dir == "evil" {
			f.add(run, all.ops[run.Dir])
		}
	}
	return f
}
