package reports

import (
	"fmt"
	"strings"

	"bucketproof/reports/quantity"
	"bucketproof/scenarios/capacity"
)

// none stands where a figure was not measured.
const none = "–"

// overviewHead names the columns of the limiters side by side.
var overviewHead = []string{"limiter", "plain callers", "pipelined", "at the objective", "bytes a bucket", "Redis a decision", "checked"}

// overviewRow are a limiter's figures.
func overviewRow(c capacity.Result) []string {
	row := []string{c.Limiter, none, none, "knee refused", none, none, "not checked"}
	for i, pipelined := range []bool{false, true} {
		if l, ok := best(c, pipelined); ok {
			row[1+i] = quantity.Rate(l.ThroughputPS)
		}
	}
	switch k := c.Knee; {
	case k.RatePS != nil:
		row[3] = quantity.Rate(*k.RatePS)
	case k.MetPS > 0:
		row[3] = "≥ " + quantity.Rate(k.MetPS) + ", knee refused"
	}
	if c.Memory.BytesPerKey > 0 {
		row[4] = quantity.Number(c.Memory.BytesPerKey)
	}
	if c.Cost.RedisUSPerCall > 0 {
		row[5] = quantity.Micros(c.Cost.RedisUSPerCall)
	}
	if c.Verified != nil {
		row[6] = c.Verified.Verdict
	}
	return row
}

// levelHead names the columns of the closed-loop sweep.
var levelHead = []string{"callers", "decisions/s", "p50", "p99", "Redis busy", "generator idle"}

func levelRow(l capacity.Level) []string {
	return []string{
		fmt.Sprintf("%d %s", l.N, kindOf(l)), quantity.Number(l.ThroughputPS), quantity.Micros(l.P50US), quantity.Micros(l.P99US),
		partOrNone(l.RedisCPU), quantity.Percent(l.GeneratorIdle),
	}
}

// stepHead names the columns of the search for a knee.
var stepHead = []string{"offered/s", "answered/s", "p50", "p90", "p99", "p99.9", "p99 from the call", "on time", "Redis busy", "generator idle", "Redis a call", "generator a call", "other programs", "verdict"}

func stepRow(s capacity.Step) []string {
	verdict := s.Verdict
	if s.Why != "" {
		verdict += ": " + s.Why
	}
	return []string{
		quantity.Number(s.RatePS), quantity.Number(s.AchievedPS), quantity.Micros(s.P50US), quantity.Micros(s.P90US), quantity.Micros(s.P99US),
		quantity.Micros(s.P999US), quantity.Micros(s.ServiceP99), quantity.Percent(s.OnTime), partOrNone(s.RedisCPU), quantity.Percent(s.Idle), microsOrNone(s.RedisUS), microsOrNone(s.OwnUS), othersWords(s.Others), verdict,
	}
}

// partOrNone is a part of one, and nothing where the server does not tell.
func partOrNone(part float64) string {
	if part <= 0 {
		return none
	}
	return quantity.Percent(part)
}

// microsOrNone is a time in µs, and nothing where it was not measured.
func microsOrNone(us float64) string {
	if us <= 0 {
		return none
	}
	return quantity.Micros(us)
}

// othersWords is what other programs took of the machine.
func othersWords(processors float64) string {
	if processors <= 0 {
		return none
	}
	return quantity.Plural(quantity.Number(processors), "CPU")
}

// formulaHead names the columns of a plan.
var formulaHead = []string{"figure", "formula", "with", "result"}

func formulaRow(f capacity.Formula) []string {
	return []string{capitalized(f.Name), f.Text, f.Inputs, amountOf(f)}
}

// amountOf is the value of a formula with its unit, unless its name says that.
func amountOf(f capacity.Formula) string {
	value, unit := quantity.Number(f.Value), f.Unit
	switch {
	case unit == f.Name:
		return value
	case unit == "bytes":
		return quantity.Bytes(f.Value)
	case unit == "bit/s" && f.Value >= 1e6:
		return quantity.Number(f.Value/1e6) + " Mbit/s"
	case value == "1" && strings.HasSuffix(unit, "sses"):
		unit = strings.TrimSuffix(unit, "es")
	case value == "1" && !strings.Contains(unit, "/"):
		unit = strings.TrimSuffix(unit, "s")
	}
	return strings.TrimSpace(value + " " + unit)
}
