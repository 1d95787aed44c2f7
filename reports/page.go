package reports

import (
	"fmt"
	"html/template"
	"strings"

	"bucketproof/reports/quantity"
)

// The view model of report.html: strings and pictures only, so that the
// template decides nothing.
type (
	htmlPage struct {
		Title, Headline string
		State           state
		Light, Dark     template.CSS
		Style           template.CSS
		Script          template.JS
		Command         string
		Facts           []fact
		Warnings        []string
		Selftest        *htmlSelftest
		Hero            *htmlHero
		Study           *htmlStudy
		Capacity        *htmlCapacity
		Unmet           []Unmet
		Matrix          htmlMatrix
		Filters         []htmlFilter
		Scenarios       []htmlScenario
		Skipped         []Skip
		States          []state // the key of the symbols
	}
	fact     struct{ Name, Words string }
	htmlHero struct {
		Run         htmlRun
		Big         template.HTML
		Explanation []string
		Reading     string // how to read the picture
	}
	htmlMatrix struct {
		RowsAre string
		Columns []string
		Rows    []htmlRow
	}
	htmlRow struct {
		Name  string
		Cells [][]htmlMark
	}
	htmlMark struct {
		State state
		Link  string // "" for what did not take place
		Label string
		Point string
	}
	htmlFilter struct {
		State state
		Words string
		Count string
	}
	htmlScenario struct {
		Name, About string
		Figures     []template.HTML
		Latencies   [][]string // limiters that were run for them
		LatencyNote string
		Runs        []htmlRun
	}
)

// newPage arranges everything for the template.
func newPage(r *Report, g gallery) htmlPage {
	p := htmlPage{
		Title: "Bucketproof: " + headline(r), Headline: headline(r), State: topState(r), Command: r.Command,
		Warnings: warnings(r), Unmet: untold(r), Skipped: r.Skipped,
		States: []state{passed, caught, unexpected, undecided, skipped},
	}
	if r.Seed != 0 { // a recorded history has none
		p.Facts = append(p.Facts, fact{"Seed", fmt.Sprint(r.Seed)})
	}
	p.Facts = append(p.Facts, []fact{
		{"Redis", redisWords(r.Redis)},
		{"Machine", machineWords(r.Harness)},
		{"Started", quantity.Instant(r.StartedAt)},
		{"Took", quantity.Seconds(r.FinishedAt.Sub(r.StartedAt).Seconds())},
	}...)
	if words := libraries(r); words != "" {
		p.Facts = append(p.Facts, fact{"Libraries", words})
	}
	n := tally(r)
	for _, s := range []state{unexpected, undecided, caught, passed} {
		if n.states[s] > 0 && len(r.Runs) > 1 {
			p.Filters = append(p.Filters, htmlFilter{s, s.words(), quantity.Count(int64(n.states[s]))})
		}
	}
	runs := make([]htmlRun, len(r.Runs))
	for i, run := range r.Runs {
		runs[i] = newHTMLRun(r, i, run, g.runs[i])
	}
	if r.Selftest != nil {
		p.Selftest = newHTMLSelftest(r)
	}
	if i := hero(r); i >= 0 {
		p.Hero = &htmlHero{Run: runs[i], Big: g.runs[i].big, Explanation: heroWords(r.Runs[i]), Reading: reading(r.Runs[i])}
	}
	p.Study = newHTMLStudy(r, g)
	p.Capacity = newHTMLCapacity(r, g)
	if len(r.Runs)+len(r.Skipped) > 1 {
		p.Matrix = newHTMLMatrix(r)
	}
	p.Scenarios = newHTMLScenarios(r, runs, g)
	return p
}

// reading says how to read the picture at the top.
func reading(run Run) string {
	const stairs = "The stairs are the tokens granted, each placed where its reply was in hand. "
	switch _, window := shown(run); {
	case run.isWindowed() && window != nil:
		return stairs + "The solid line is the most that fits into the shaded window; what lies above it was granted against the limit."
	case run.isWindowed():
		return stairs + "Marks below are denials."
	case window != nil:
		return stairs + "The solid line is the most that the limit allows from the start of the worst window on: " +
			"the capacity at once, then the rate. What lies above it in the shaded window was granted against the limit."
	}
	return stairs + "The dashed line is what an ideal bucket grants to the same requests; marks below are denials."
}

// heroWords explain the picture at the top: what the checks found.
func heroWords(run Run) []string {
	var list []string
	for _, c := range run.Checks {
		if s := stateOfCheck(run, c); s == caught || s == unexpected {
			list = append(list, c.Name+": "+strings.Join(sentences(run, c), " "))
		}
	}
	return list
}

func newHTMLMatrix(r *Report) htmlMatrix {
	m := newMatrix(r)
	view := htmlMatrix{RowsAre: m.RowsAre, Columns: m.Columns}
	for _, row := range m.Rows {
		line := htmlRow{Name: row}
		for _, column := range m.Columns {
			var cell []htmlMark
			for _, mk := range m.at(row, column) {
				cell = append(cell, newHTMLMark(r, mk))
			}
			line.Cells = append(line.Cells, cell)
		}
		view.Rows = append(view.Rows, line)
	}
	return view
}

func newHTMLMark(r *Report, mk mark) htmlMark {
	view := htmlMark{State: mk.State, Point: mk.Point}
	if mk.Run < 0 {
		view.Label = fmt.Sprintf("%s: skipped: %s", mk.Limiter, mk.Reason)
		return view
	}
	run := r.Runs[mk.Run]
	view.Link = runID(mk.Run)
	view.Label = fmt.Sprintf("%s in %s: %s", run.Limiter, run.Scenario, mk.State.words())
	return view
}

// newHTMLScenarios groups runs by scenario, the points of a sweep together.
func newHTMLScenarios(r *Report, runs []htmlRun, g gallery) []htmlScenario {
	groups := groupScenarios(r)
	index := make(map[string]int)
	var list []htmlScenario
	for i, run := range r.Runs {
		base := groups[run.Scenario].base
		at, known := index[base]
		if !known {
			at = len(list)
			index[base] = at
			list = append(list, htmlScenario{Name: base})
		}
		s := &list[at]
		if s.About == "" {
			s.About = run.About
			if r.Selftest != nil && isClean(run) {
				s.About = aboutClean
			}
		}
		runs[i].Point = groups[run.Scenario].point
		s.Runs = append(s.Runs, runs[i])
	}
	for i := range list {
		s := &list[i]
		s.Figures = g.scenarios[s.Name]
		s.Latencies = measuredRows(r, groups, s.Name)
		s.LatencyNote = latencyNote(r)
	}
	return list
}

// measuredRows compares the limiters that ran in a scenario for their
// latencies.
func measuredRows(r *Report, groups map[string]group, base string) [][]string {
	var rows [][]string
	for _, run := range r.Runs {
		l, s := run.LatencyUS, run.ServiceLatencyUS
		if groups[run.Scenario].base != base || !run.LatencyMeasured || l == nil || s == nil {
			continue
		}
		name := run.Limiter
		if point := groups[run.Scenario].point; point != "" {
			name += " " + point
		}
		rows = append(rows, []string{
			name, quantity.Micros(l.P50), quantity.Micros(l.P99), quantity.Micros(l.P999), quantity.Micros(l.Max), quantity.Micros(s.P99),
		})
	}
	return rows
}

// latencyNote qualifies the latencies of a report; "" when nothing does.
func latencyNote(r *Report) string {
	if r.Redis.Kind == embeddedRedis {
		return embeddedWarning
	}
	return ""
}

func runID(i int) string {
	return fmt.Sprintf("run-%d", i+1)
}
