package reports

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"bucketproof/bucket/check"
	"bucketproof/reports/quantity"
	"bucketproof/scenarios/capacity"
)

// capacityTitle is the heading of what was found out about capacity.
const capacityTitle = "What one Redis carries"

// capacityHeadline says what the limiters carry, in one sentence. A measurement is
// as expected whatever it found, so faults in the load's own history are told
// beside it.
func capacityHeadline(r *Report) string {
	words := carried(r)
	var faulty []string
	for _, c := range r.Capacity {
		if stateOfCapacity(c) == unexpected {
			faulty = append(faulty, c.Limiter)
		}
	}
	if len(faulty) > 0 {
		words += "; the checks find faults in the load's own history" + listed(faulty)
	}
	switch r.Verdict {
	case string(check.Fail):
		words = "Not as expected: " + words
	case string(check.Undecided):
		words = "Undecided: " + words
	}
	return capitalized(words) + "."
}

// carried says what each limiter carries at the objective they share.
func carried(r *Report) string {
	list := r.Capacity
	var parts []string
	for _, c := range list[:min(len(list), mostNamed)] {
		parts = append(parts, carries(c))
	}
	who := "one Redis"
	if r.Redis.Kind == "none" {
		who = "this process"
	}
	words := who + " carries " + strings.Join(parts, ", ")
	if len(list) > mostNamed {
		words += ", …"
	}
	if slo := sloWords(list[0].Knee.SLO); slo != "" {
		words += " at " + slo
	}
	if p := list[0].Plan; len(list) == 1 && p != nil && p.Refused == "" && p.TargetPS > 0 {
		words += fmt.Sprintf("; %s take %s%s", quantity.Rate(p.TargetPS), quantity.Things(p.Shards, "shard"), regardless(list[0]))
	}
	return words
}

// regardless qualifies a plan whose shards have more to carry than met the
// objective: where the knee is refused, it rests on the closed loop's peak.
func regardless(c capacity.Result) string {
	met := c.Knee.MetPS * (1 - c.Plan.Headroom)
	if c.Knee.RatePS == nil && float64(c.Plan.Shards)*met < 0.999*c.Plan.TargetPS {
		return ", whatever the latency"
	}
	return ""
}

// carries is what one limiter carries: "41,200/s of app-clock".
func carries(c capacity.Result) string {
	switch k := c.Knee; {
	case k.RatePS != nil:
		return quantity.Rate(*k.RatePS) + " of " + c.Limiter
	case k.MetPS > 0:
		return "at least " + quantity.Rate(k.MetPS) + " of " + c.Limiter + " (knee refused)"
	case k.LimitedBy == "redis":
		return "no rate of " + c.Limiter
	}
	return "an unknown rate of " + c.Limiter + " (knee refused)"
}

// stateOfCapacity is what the checks said of the load's own history.
func stateOfCapacity(c capacity.Result) state {
	if c.Verified == nil {
		return skipped
	}
	switch c.Verified.Verdict {
	case string(check.Pass):
		return passed
	case string(check.Fail):
		return unexpected
	}
	return undecided
}

// clause is a part of an objective, as in p99=5ms,errors=0.1%.
var clause = regexp.MustCompile(`^([a-z]+\d*)=(.+)$`)

// sloWords writes an objective as people do: "p99 ≤ 5 ms, errors ≤ 0.1 %".
func sloWords(slo string) string {
	if slo == "" {
		return ""
	}
	var parts []string
	for part := range strings.SplitSeq(slo, ",") {
		m := clause.FindStringSubmatch(strings.TrimSpace(part))
		if m == nil {
			return slo
		}
		name, value := percentileWords(m[1]), m[2]
		if d, err := time.ParseDuration(value); err == nil {
			value = quantity.Seconds(d.Seconds())
		} else if share, ok := strings.CutSuffix(value, "%"); ok {
			value = share + " %"
		}
		parts = append(parts, name+" ≤ "+value)
	}
	return strings.Join(parts, ", ")
}

// percentileWords is p99.9 for p999, and other names as they are.
func percentileWords(name string) string {
	if digits, ok := strings.CutPrefix(name, "p"); ok && len(digits) > 2 {
		if _, err := strconv.Atoi(digits); err == nil {
			return "p" + digits[:2] + "." + digits[2:]
		}
	}
	return name
}

// allowed is what an objective bounds the 99th percentile by, in µs; 0: nothing.
func allowed(slo string) float64 {
	for part := range strings.SplitSeq(slo, ",") {
		if value, ok := strings.CutPrefix(strings.TrimSpace(part), "p99="); ok {
			if d, err := time.ParseDuration(value); err == nil {
				return float64(d) / float64(time.Microsecond)
			}
		}
	}
	return 0
}

// best is the level with the highest throughput; false when there is none.
func best(c capacity.Result, pipelined bool) (capacity.Level, bool) {
	var found capacity.Level
	for _, l := range c.Connections {
		if l.Pipelined == pipelined && l.ThroughputPS > found.ThroughputPS {
			found = l
		}
	}
	return found, found.ThroughputPS > 0
}

// callersWords counts callers of one kind: "32 plain callers".
func callersWords(l capacity.Level) string {
	return quantity.Things(l.N, kindOf(l)+" caller")
}

// kindOf tells callers that share pipelines from those that do not.
func kindOf(l capacity.Level) string {
	if l.Pipelined {
		return "pipelined"
	}
	return "plain"
}

// completeCapacity is list with empty lists in place of missing ones.
func completeCapacity(list []capacity.Result) []capacity.Result {
	list = slices.Clone(list)
	for i := range list {
		c := &list[i]
		c.Connections = append([]capacity.Level{}, c.Connections...)
		if c.Knee.LimitedBy == "" {
			c.Knee.LimitedBy = "none"
		}
		c.Knee.Steps = append([]capacity.Step{}, c.Knee.Steps...)
		if c.Pipelined != nil {
			knee := *c.Pipelined
			knee.Steps = append([]capacity.Step{}, knee.Steps...)
			c.Pipelined = &knee
		}
		c.Memory.Points = append([]capacity.MemoryPoint{}, c.Memory.Points...)
		if c.USL.CI95 == nil {
			c.USL.CI95 = map[string]capacity.Bounds{}
		}
		if c.Plan != nil {
			plan := *c.Plan
			plan.Formulas = append([]capacity.Formula{}, plan.Formulas...)
			plan.Unmeasured = append([]string{}, plan.Unmeasured...)
			c.Plan = &plan
		}
	}
	return list
}
