package scenarios

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// catalog holds the named scenarios, one file each.
//
//go:embed catalog/*.yaml
var catalog embed.FS

// suites are lists of named scenarios, in the order in which they run and are
// shown.
var suites = map[string][]string{
	"clocks": {
		"clocks-drain", "clocks-polite", "clocks-overload", "clocks-fast-first", "clocks-growth", "clocks-drift", "clocks-jitter",
		"clocks-strobe", "clocks-strobe-back", "clocks-freeze", "clocks-step-back", "clocks-step-back-level", "clocks-one-steps-back", "clocks-step-forward",
		"clocks-step-both", "clocks-leaves", "silence-ends-lockout", "silence-too-short", "clocks-held", "held-past-expiry",
		"server-step", "server-step-forward",
		"server-set-back", "server-set-forward", "failover-behind", "failover-ahead",
	},
	"edges": {
		"edge-capacity-one", "edge-capacity-fraction", "edge-capacity-2e31", "edge-capacity-2e53",
		"edge-rate-tiny", "edge-rate-2e8", "edge-rate-above-capacity", "edge-costs", "clock-leap", "idle-burst-short",
	},
	"standard": {
		"atomic-burst", "overload", "polite", "idle-burst", "idle-burst-long", "idle-burst-short", "idle-lone", "kept-alive", "window-edge", "second-edge",
		"same-tick", "poll", "many-keys", "slow-rate", "long-overload", "late-calls", "costs",
		"skew-drain", "skew-mixed", "fast-leaves", "step-back", "clock-leap", "obey-hint", "steady",
	},
}

// Names lists the named scenarios, in alphabetical order.
func Names() []string {
	files, err := fs.Glob(catalog, "catalog/*.yaml")
	if err != nil {
		return nil // only for a bad pattern
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(path.Base(f), ".yaml")
	}
	slices.Sort(files)
	return files
}

// Suites lists the named suites.
func Suites() []string {
	var names []string
	for name := range suites {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// SuiteOf lists the scenarios of a suite; false when there is no such suite.
func SuiteOf(name string) ([]string, bool) {
	names, ok := suites[name]
	return names, ok
}

// Text is the YAML of a named scenario.
func Text(name string) ([]byte, error) {
	data, err := catalog.ReadFile("catalog/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("no scenario is named %s", name)
	}
	return data, nil
}

// Named is a scenario of the catalogue, or one point of its sweep: skew-mixed,
// or skew-mixed/4.
func Named(name string) (*Scenario, error) {
	whole, point, cut := strings.Cut(name, "/")
	data, err := Text(whole)
	if err != nil {
		return nil, err
	}
	s, err := Parse(whole+".yaml", data)
	if err != nil || !cut {
		return s, err
	}
	var points []string
	for _, p := range s.Points() {
		if p.Name == name {
			p.Quick = Points{All: true}
			return &p, nil
		}
		points = append(points, strings.TrimPrefix(p.Name, whole+"/"))
	}
	return nil, fmt.Errorf("scenario %s has no point %s, it has %s", whole, point, strings.Join(points, ", "))
}
