package scenarios

import (
	"slices"
	"strings"
	"time"
)

// Disturbance is what a scenario does to clocks. The zero Disturbance is
// nothing that has a name.
type Disturbance struct {
	Kind string `yaml:"kind"` // one of disturbances; "": nothing
	Of   string `yaml:"of"`   // whose clock: caller or server; "": as the kind says
}

// disturbances are the kinds, and for each the figure of a clock that is its
// size, in seconds or, of a drift, in ppm. nil: it is the scenario's.
var disturbances = map[string]func(*Clock) float64{
	"spread":              nil,
	"drift":               func(c *Clock) float64 { return float64(c.Drift) },
	"jitter":              func(c *Clock) float64 { return seconds(c.Jitter) },
	"strobe":              func(c *Clock) float64 { return seconds(c.Strobe.By) },
	"freeze":              func(c *Clock) float64 { return seconds(c.Freeze.For) },
	"step-back":           func(c *Clock) float64 { return largestStep(c, -1) },
	"step-forward":        func(c *Clock) float64 { return largestStep(c, 1) },
	"step-both":           func(c *Clock) float64 { return max(largestStep(c, -1), largestStep(c, 1)) },
	"leaves":              nil,
	"held":                nil,
	"silence":             func(c *Clock) float64 { return largestStep(c, -1) },
	"server-step-back":    func(c *Clock) float64 { return largestStep(c, -1) },
	"server-step-forward": func(c *Clock) float64 { return largestStep(c, 1) },
	"server-set-back":     func(c *Clock) float64 { return largestStep(c, -1) },
	"server-set-forward":  func(c *Clock) float64 { return largestStep(c, 1) },
	"failover-behind":     func(c *Clock) float64 { return largestStep(c, -1) },
	"failover-ahead":      func(c *Clock) float64 { return largestStep(c, 1) },
}

func seconds(d Duration) float64 { return time.Duration(d).Seconds() }

// largestStep is the largest step of a clock in one direction, in seconds.
func largestStep(c *Clock, sign float64) float64 {
	most := 0.0
	for _, s := range c.Steps {
		most = max(most, sign*seconds(s.By))
	}
	return most
}

// of is whose clock is disturbed: caller or server.
func (d Disturbance) of() string {
	switch {
	case d.Of != "":
		return d.Of
	case strings.HasPrefix(d.Kind, "server-"), strings.HasPrefix(d.Kind, "failover-"):
		return "server"
	}
	return "caller"
}

// Disturbed is how a scenario disturbs clocks.
type Disturbed struct {
	Kind string
	Of   string  // caller | server
	Size float64 // in Unit, 0 or more
	Unit string  // s | ppm
}

// Disturbed says how much of its disturbance a scenario, or one point of its
// sweep, has; false when it names none.
func (s *Scenario) Disturbed() (Disturbed, bool) {
	kind := s.Disturbance.Kind
	if kind == "" {
		return Disturbed{}, false
	}
	d := Disturbed{Kind: kind, Of: s.Disturbance.of(), Unit: "s"}
	if kind == "drift" {
		d.Unit = "ppm"
	}
	switch figure := disturbances[kind]; {
	case figure != nil:
		for _, c := range s.clocks() {
			if server := c == &s.ServerClock; server == (d.Of == "server") {
				d.Size = max(d.Size, figure(c), -figure(c))
			}
		}
	case kind == "held":
		d.Size = seconds(s.longestHold())
	default:
		d.Size = seconds(s.spread())
	}
	return d, true
}

// validateDisturbance reports a disturbance that there is not.
func (s *Scenario) validateDisturbance() error {
	d := s.Disturbance
	if d == (Disturbance{}) {
		return nil
	}
	var kinds []string
	for kind := range disturbances {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	switch {
	case !slices.Contains(kinds, d.Kind):
		return wrong("$.disturbance", "kind %q is unknown, there are %s", d.Kind, strings.Join(kinds, ", "))
	case !slices.Contains([]string{"caller", "server"}, d.of()):
		return wrong("$.disturbance.of", "%q is unknown, want caller or server", d.Of)
	}
	if got, _ := s.Disturbed(); got.Size == 0 {
		return wrong("$.disturbance", "the disturbance is %s of the %s's clock, and there is none in this scenario", d.Kind, d.of())
	}
	return nil
}
