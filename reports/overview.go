package reports

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/check"
	"bucketproof/reports/plot"
)

// page is a picture of more than one run.
type page struct {
	name     string
	scenario string // that it belongs to, without a point; "" for the matrix and the study
	study    bool   // it belongs to the study of clocks
	capacity bool   // it belongs to what was found out about capacity
	big      bool   // and takes the width of the page there
	figure   plot.Figure
	narrow   *plot.Figure // for report.html
}

func (p page) files(images bool) ([]output, error) {
	svg := output{"plots/" + p.name + ".svg", p.figure.SVG()}
	if !images {
		return []output{svg}, nil
	}
	image, err := p.figure.PNG()
	if err != nil {
		return nil, fmt.Errorf("draw %s: %w", p.name, err)
	}
	return []output{svg, {"plots/" + p.name + ".png", image}}, nil
}

func (p page) inline() template.HTML {
	if p.narrow == nil {
		return ""
	}
	return template.HTML(p.narrow.Inline())
}

// latencyPages are the pictures of scenarios that were run for their latencies.
func latencyPages(r *Report, pics []picture) []page {
	var pages []page
	groups := groupScenarios(r)
	for _, scenario := range scenarioNames(r) {
		var lines []plot.Line
		for i, run := range r.Runs {
			if run.Scenario != scenario || !run.LatencyMeasured || run.LatencyUS == nil || run.ServiceLatencyUS == nil {
				continue
			}
			line := plot.Line{Name: run.Limiter, Response: pics[i].response, Service: pics[i].service}
			if line.Response.Count == 0 {
				line.Response, line.Service = summarized(*run.LatencyUS), summarized(*run.ServiceLatencyUS)
			}
			lines = append(lines, line)
		}
		for n := 0; len(lines) > 0; n++ {
			part := lines[:min(len(lines), plot.MostLines)]
			lines = lines[len(part):]
			p := latencyPage(r, scenario, n, part)
			p.scenario = groups[scenario].base
			pages = append(pages, p)
		}
	}
	return pages
}

func latencyPage(r *Report, scenario string, n int, lines []plot.Line) page {
	l := plot.Latency{Title: "Latency in " + scenario, Lines: lines}
	if r.Redis.Kind == embeddedRedis {
		l.Note = embeddedWarning
	}
	name := slug(scenario) + "-latency"
	if n > 0 {
		name += fmt.Sprintf("-%d", n+1)
	}
	narrow := l.Narrow()
	return page{name: name, figure: l.Wide(), narrow: &narrow}
}

func summarized(l Latency) plot.Spectrum {
	return plot.Summary([]plot.Quantile{
		{Part: 0.5, Micros: l.P50}, {Part: 0.9, Micros: l.P90}, {Part: 0.99, Micros: l.P99},
		{Part: 0.999, Micros: l.P999}, {Part: 1, Micros: l.Max},
	})
}

func matrixFigure(r *Report) plot.Figure {
	m := newMatrix(r)
	outcomes := map[state]plot.Outcome{
		passed: plot.Passed, caught: plot.Caught, unexpected: plot.Unexpected, undecided: plot.Undecided, skipped: plot.Skipped,
	}
	title, _, _ := strings.Cut(strings.TrimSuffix(headline(r), "."), ";")
	title, _, _ = strings.Cut(title, " (")
	return plot.Matrix{Title: title, Rows: m.Rows, Columns: m.Columns, Cells: func(i, j int) []plot.Outcome {
		var list []plot.Outcome
		for _, mk := range m.at(m.Rows[i], m.Columns[j]) {
			list = append(list, outcomes[mk.State])
		}
		return list
	}}.Figure()
}

// sweepPages show, for each scenario that was run at several clock spreads, how
// far limiters exceeded the bound at each. Sweeps over limits or loads are not
// drawn: neither axis would mean the same at two of their points.
func sweepPages(r *Report) []page {
	groups := groupScenarios(r)
	points := make(map[string][]string) // base → points
	var bases []string
	for _, name := range scenarioNames(r) {
		g := groups[name]
		if g.point == "" {
			continue
		}
		if points[g.base] == nil {
			bases = append(bases, g.base)
		}
		points[g.base] = append(points[g.base], g.point)
	}
	var pages []page
	for _, base := range bases {
		if !spreads(points[base]) {
			continue
		}
		lines, predicted := sweepLines(r, groups, base, points[base])
		for n := 0; len(lines) > 0; n++ {
			part := lines[:min(len(lines), plot.MostLines)]
			lines = lines[len(part):]
			s := plot.Sweep{Title: "Peak excess in " + base, Points: points[base], Lines: part, Predicted: predicted}
			name := slug(base) + "-sweep"
			if n > 0 {
				name += fmt.Sprintf("-%d", n+1)
			}
			narrow := s.Narrow()
			pages = append(pages, page{name: name, scenario: base, figure: s.Wide(), narrow: &narrow})
		}
	}
	return pages
}

// spreads says whether points of a sweep are clock spreads: durations.
func spreads(points []string) bool {
	return !slices.ContainsFunc(points, func(point string) bool {
		_, err := time.ParseDuration(point)
		return err != nil
	})
}

// sweepLines collects peak excesses by limiter and point. No line: none of the
// runs exceeded the bound by a token.
func sweepLines(r *Report, groups map[string]group, base string, points []string) ([]plot.SweepLine, []float64) {
	var lines []plot.SweepLine
	index := make(map[string]int)
	predicted := unknowns(len(points))
	most := 0.0
	for _, run := range r.Runs {
		g := groups[run.Scenario]
		if g.base != base || g.point == "" {
			continue
		}
		at, known := index[run.Limiter]
		if !known {
			at = len(lines)
			index[run.Limiter] = at
			lines = append(lines, plot.SweepLine{Name: run.Limiter, Peaks: unknowns(len(points))})
		}
		i := slices.Index(points, g.point)
		for _, c := range run.Checks {
			if c.Name == check.OverAdmission && decided(c) {
				lines[at].Peaks[i] = c.Value["peak_excess"]
				most = max(most, c.Value["peak_excess"])
			}
		}
		if run.Time == string(bucket.CallerTime) && !(predicted[i] >= run.Theory.PredictedPeakExcess) {
			predicted[i] = run.Theory.PredictedPeakExcess
		}
	}
	if most < 1 {
		return nil, nil
	}
	return lines, predicted
}

func unknowns(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = math.NaN()
	}
	return list
}
