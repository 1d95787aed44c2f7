package capacity

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// SLO is an objective: bounds on latencies, counted from the due time, and on
// the share of requests without a usable answer. At least one is set.
type SLO struct {
	bounds []bound
	text   string
}

// bound is one clause of an objective.
type bound struct {
	figure string  // a key of latencyFigures, or "errors"
	most   float64 // µs, or a share 0..1
}

// latencyFigures are what a clause can bound, as a step has them.
var latencyFigures = map[string]func(*Step) float64{
	"p50":  func(s *Step) float64 { return s.P50US },
	"p90":  func(s *Step) float64 { return s.P90US },
	"p99":  func(s *Step) float64 { return s.P99US },
	"p999": func(s *Step) float64 { return s.P999US },
	"max":  func(s *Step) float64 { return s.MaxUS },
	"mean": func(s *Step) float64 { return s.MeanUS },
}

// DefaultSLO is the objective where none is given.
const DefaultSLO = "p99=5ms,errors=0.1%"

// ParseSLO reads clauses like p99=5ms,errors=0.1%: p50, p90, p99, p999, max or
// mean with a duration above 0, errors with a share from 0 to 100 %. An error is
// one line.
func ParseSLO(text string) (SLO, error) {
	slo := SLO{text: strings.ReplaceAll(text, " ", "")}
	seen := map[string]bool{}
	for clause := range strings.SplitSeq(slo.text, ",") {
		name, value, ok := strings.Cut(clause, "=")
		if !ok || name == "" || value == "" {
			return SLO{}, fmt.Errorf("%q is no clause, write them like %s", clause, DefaultSLO)
		}
		if seen[name] {
			return SLO{}, fmt.Errorf("%s is given twice", name)
		}
		seen[name] = true
		b := bound{figure: name}
		var err error
		switch {
		case name == "errors":
			b.most, err = ParseShare(value)
		case latencyFigures[name] != nil:
			b.most, err = parseLatency(value)
		default:
			return SLO{}, fmt.Errorf("%s cannot be bounded, only p50, p90, p99, p999, max, mean and errors can", name)
		}
		if err != nil {
			return SLO{}, fmt.Errorf("%s: %w", name, err)
		}
		slo.bounds = append(slo.bounds, b)
	}
	return slo, nil
}

func parseLatency(text string) (us float64, err error) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is no duration, write one like 5ms or 1.5s", text)
	case d <= 0:
		return 0, fmt.Errorf("%s is not above 0", text)
	}
	return micros(d), nil
}

// ParseShare reads a share from 0 to 1: 0.001 or 0.1%.
func ParseShare(text string) (float64, error) {
	digits, unit := text, 1.0
	if strings.HasSuffix(text, "%") {
		digits, unit = strings.TrimSuffix(text, "%"), 100
	}
	v, err := strconv.ParseFloat(digits, 64)
	switch {
	case err != nil || math.IsNaN(v):
		return 0, fmt.Errorf("%q is no share, write one like 0.1%% or 0.001", text)
	case v < 0 || v > unit:
		return 0, fmt.Errorf("%s is not between 0 and 100 %%", text)
	}
	return v / unit, nil
}

// String is the objective as it was given.
func (s SLO) String() string { return s.text }

// missed says which bounds a step exceeds; "" is none.
func (s SLO) missed(step *Step) string {
	var all []string
	for _, b := range s.bounds {
		if b.figure == "errors" {
			if step.Errors > b.most {
				all = append(all, fmt.Sprintf("errors are %.3g %%, at most %.3g %% are allowed", 100*step.Errors, 100*b.most))
			}
			continue
		}
		if v := latencyFigures[b.figure](step); v > b.most {
			all = append(all, fmt.Sprintf("%s is %s, at most %s is allowed", b.figure, latency(v), latency(b.most)))
		}
	}
	return strings.Join(all, ", ")
}

// tightest is the least latency that the objective bounds, µs; +Inf: none.
func (s SLO) tightest() float64 {
	least := math.Inf(1)
	for _, b := range s.bounds {
		if b.figure != "errors" {
			least = min(least, b.most)
		}
	}
	return least
}

// latency renders µs in three digits: 850 µs, 4.2 ms, 1.3 s.
func latency(us float64) string {
	switch {
	case us < 1e3:
		return fmt.Sprintf("%.3g µs", us)
	case us < 1e6:
		return fmt.Sprintf("%.3g ms", us/1e3)
	}
	return fmt.Sprintf("%.3g s", us/1e6)
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
