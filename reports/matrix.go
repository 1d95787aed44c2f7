package reports

import (
	"fmt"
	"slices"
	"strings"
)

// matrix is limiter × scenario: the larger set down, the smaller across. The
// points of a sweep share a cell.
type matrix struct {
	RowsAre string // "limiter" or "scenario"
	Rows    []string
	Columns []string
	cells   map[[2]string][]mark // by limiter and scenario
}

// mark is one run, or one run that did not take place, in a cell.
type mark struct {
	Point   string // of a sweep, "" when the cell holds no sweep
	State   state
	Run     int // index in Report.Runs, -1 when it did not take place
	Reason  string
	Limiter string
}

// newMatrix arranges the runs of a report, in their order.
func newMatrix(r *Report) matrix {
	groups := groupScenarios(r)
	m := matrix{cells: make(map[[2]string][]mark)}
	var limiters, scenarios []string
	add := func(scenario string, mk mark) {
		g := groups[scenario]
		mk.Point = g.point
		cell := [2]string{mk.Limiter, g.base}
		if !slices.Contains(limiters, mk.Limiter) {
			limiters = append(limiters, mk.Limiter)
		}
		if !slices.Contains(scenarios, g.base) {
			scenarios = append(scenarios, g.base)
		}
		m.cells[cell] = append(m.cells[cell], mk)
	}
	for i, run := range r.Runs {
		add(run.Scenario, mark{State: stateWithin(r, run), Run: i, Limiter: run.Limiter})
	}
	for _, s := range r.Skipped {
		add(s.Scenario, mark{State: skipped, Run: -1, Reason: s.Reason, Limiter: s.Limiter})
	}
	m.RowsAre, m.Rows, m.Columns = "limiter", limiters, scenarios
	if len(scenarios) > len(limiters) {
		m.RowsAre, m.Rows, m.Columns = "scenario", scenarios, limiters
	}
	return m
}

// at is the cell of a row and a column; nil where nothing ran.
func (m matrix) at(row, column string) []mark {
	if m.RowsAre == "scenario" {
		row, column = column, row
	}
	return m.cells[[2]string{row, column}]
}

// mostSymbols is how many runs of a cell are told one by one where a line of
// text is all there is; more are counted.
const mostSymbols = 10

// symbol is a part of a cell in text.
type symbol struct {
	State state
	Text  string
}

// symbols write a cell: a symbol a run, or for many runs how many came to what.
func symbols(marks []mark) []symbol {
	var list []symbol
	if len(marks) <= mostSymbols {
		for _, mk := range marks {
			list = append(list, symbol{mk.State, mk.State.symbol()})
		}
		return list
	}
	n := make(map[state]int)
	for _, mk := range marks {
		n[mk.State]++
	}
	for s := unexpected; s >= absent; s-- {
		if n[s] == 0 {
			continue
		}
		text := fmt.Sprintf("%s%d", s.symbol(), n[s])
		if len(list) > 0 {
			text = " " + text
		}
		list = append(list, symbol{s, text})
	}
	return list
}

// group is where a scenario stands: a scenario of its own, or a point of one.
type group struct{ base, point string }

// groupScenarios finds the sweeps: scenarios that share what stands before the
// last slash, at least two of them.
func groupScenarios(r *Report) map[string]group {
	points := make(map[string]map[string]bool) // base → scenarios
	names := scenarioNames(r)
	for _, name := range names {
		if base, _, ok := cutLast(name); ok {
			if points[base] == nil {
				points[base] = make(map[string]bool)
			}
			points[base][name] = true
		}
	}
	groups := make(map[string]group)
	for _, name := range names {
		groups[name] = group{base: name}
		if base, point, ok := cutLast(name); ok && len(points[base]) > 1 {
			groups[name] = group{base: base, point: point}
		}
	}
	return groups
}

// scenarioNames lists the scenarios of a report in their order, each once.
func scenarioNames(r *Report) []string {
	var names []string
	for _, run := range r.Runs {
		if !slices.Contains(names, run.Scenario) {
			names = append(names, run.Scenario)
		}
	}
	for _, s := range r.Skipped {
		if !slices.Contains(names, s.Scenario) {
			names = append(names, s.Scenario)
		}
	}
	return names
}

func cutLast(name string) (base, point string, ok bool) {
	i := strings.LastIndexByte(name, '/')
	if i <= 0 || i == len(name)-1 {
		return name, "", false
	}
	return name[:i], name[i+1:], true
}
