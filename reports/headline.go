package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"bucketproof/bucket/check"
	"bucketproof/reports/quantity"
)

// embeddedWarning stands beside every latency that was measured against the
// embedded Redis.
const embeddedWarning = "latencies are of the embedded miniredis, not of a Redis"

// controls is how names of negative controls begin.
const controls = "control/"

// headline is the verdict in one sentence.
func headline(r *Report) string {
	if r.Selftest != nil {
		return selftestHeadline(r)
	}
	if len(r.Capacity) > 0 && len(r.Runs) == 0 {
		return capacityHeadline(r)
	}
	n := tally(r)
	runs := quantity.Things(len(r.Runs), "run")
	switch {
	case n.states[unexpected] > 0 || len(r.Unmet) > 0:
		return notAsExpected(r, n)
	case r.Verdict == string(check.Fail):
		return fmt.Sprintf("Not as expected: %s.", runs)
	case n.states[undecided] > 0:
		return fmt.Sprintf("Undecided: %d of %s could not show a fault; nothing unexpected in the others.",
			n.states[undecided], runs)
	case r.Verdict == string(check.Undecided) && len(r.Runs) == 0:
		return "Undecided: no run ended."
	case r.Verdict == string(check.Undecided):
		return fmt.Sprintf("Undecided: %s ended as expected, others did not end.", runs)
	case len(r.Runs) == 0:
		return "No runs: nothing was judged."
	}
	parts := []string{runs}
	if n.controls > 0 {
		parts = append(parts, quantity.Things(n.controls, "negative control")+" caught")
	}
	if others := n.states[caught] - n.controlRuns; others > 0 {
		parts = append(parts, "faults found where expected in "+quantity.Things(others, "run")+" of other limiters")
	}
	if len(r.Skipped) > 0 {
		parts = append(parts, fmt.Sprintf("%d skipped", len(r.Skipped)))
	}
	return "Everything as expected: " + strings.Join(parts, "; ") + "."
}

func notAsExpected(r *Report, n counted) string {
	var parts []string
	if bad := n.states[unexpected]; bad > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s (%s)", bad, quantity.Things(len(r.Runs), "run"), firstUnexpected(r, bad)))
	}
	if len(r.Unmet) > 0 {
		parts = append(parts, quantity.Things(len(r.Unmet), "expected fault")+" that no run showed")
	}
	if n.states[undecided] > 0 {
		parts = append(parts, fmt.Sprintf("%d undecided", n.states[undecided]))
	}
	return "Not as expected: " + strings.Join(parts, "; ") + "."
}

// firstUnexpected names the first run that is not as expected.
func firstUnexpected(r *Report, n int) string {
	for _, run := range r.Runs {
		if stateOf(run) == unexpected {
			words := fmt.Sprintf("%s in %s: %s", run.Limiter, run.Scenario, strings.Join(checkNames(run, unexpected), ", "))
			if n > 1 {
				words += "; …"
			}
			return words
		}
	}
	return ""
}

// counted is how many runs came to what.
type counted struct {
	states      map[state]int
	controls    int // negative controls with at least one fault found
	controlRuns int // their runs with a fault found
}

func tally(r *Report) counted {
	n := counted{states: make(map[state]int)}
	names := make(map[string]bool)
	for _, run := range r.Runs {
		s := stateWithin(r, run)
		n.states[s]++
		if s == caught && strings.HasPrefix(run.Limiter, controls) {
			names[run.Limiter] = true
			n.controlRuns++
		}
	}
	n.controls = len(names)
	return n
}

// redisWords says what was measured against.
func redisWords(r Redis) string {
	if r.Kind == "none" || r.Kind == "" {
		return "none was needed"
	}
	engine := map[string]string{"redis": "Redis", "valkey": "Valkey"}[r.Engine]
	if engine == "" {
		engine = r.Engine
	}
	if engine == "" {
		engine = "Redis"
	}
	words := engine
	if r.Version != "" {
		words += " " + r.Version
	}
	words += ", " + r.Kind
	if r.Address != "" {
		words += " at " + r.Address
	}
	if clock := r.Clock(); clock != "" {
		words += "; " + clock
	}
	return words
}

// Clock says how the server's own clock differs from that of the machine that
// measured: "the server's clock is 30 µs ahead of this machine's, ± 50 µs, and
// gained 0.4 ppm since, ± 2 ppm"; "" when that was not measured.
func (r Redis) Clock() string {
	if r.ClockOffsetS == nil || r.ClockUncertaintyS == nil {
		return ""
	}
	side := "ahead of"
	if *r.ClockOffsetS < 0 {
		side = "behind"
	}
	words := fmt.Sprintf("the server's clock is %s %s this machine's, ± %s",
		quantity.Seconds(math.Abs(*r.ClockOffsetS)), side, quantity.Seconds(*r.ClockUncertaintyS))
	if r.ClockDriftPPM == nil || r.ClockDriftUncertaintyPPM == nil {
		return words
	}
	went := "gained"
	if *r.ClockDriftPPM < 0 {
		went = "lost"
	}
	return fmt.Sprintf("%s, and %s %s ppm since, ± %s ppm", words, went,
		quantity.Number(math.Abs(*r.ClockDriftPPM)), quantity.Number(*r.ClockDriftUncertaintyPPM))
}

// machineWords says what measured.
func machineWords(h Harness) string {
	return fmt.Sprintf("%s/%s, %s, harness %s, %s", h.OS, h.Arch, quantity.Things(h.CPUs, "CPU"), h.Version, h.Go)
}

// libraries are the published limiters of the report, each with its release, in
// the order of the runs; "" when there is none.
func libraries(r *Report) string {
	var list []string
	for _, run := range r.Runs {
		words := run.Limiter + " is " + run.Library
		if run.Library != "" && !slices.Contains(list, words) {
			list = append(list, words)
		}
	}
	return strings.Join(list, ", ")
}

// warnings are what qualifies every figure of the report.
func warnings(r *Report) []string {
	list := append([]string(nil), r.Warnings...)
	if r.Redis.Kind == embeddedRedis {
		for _, w := range list {
			if strings.Contains(w, "miniredis") {
				return list
			}
		}
		list = append([]string{embeddedWarning}, list...)
	}
	return list
}
