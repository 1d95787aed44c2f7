package reports

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"bucketproof/reports/plot"
	"bucketproof/reports/quantity"
)

// studyPicture is a picture of the study of clocks in both its sizes.
type studyPicture struct {
	wide, narrow template.HTML // wide: only of one that takes the width of the page
	big          bool
}

// picture is the page as the study shows it.
func (p page) picture(narrow template.HTML) studyPicture {
	pic := studyPicture{narrow: narrow, big: p.big}
	if p.big {
		pic.wide = template.HTML(p.figure.Inline())
	}
	return pic
}

// studyPages are the pictures of the study: what each disturbance did to each
// limiter, then how each figure grows with the disturbance.
func studyPages(r *Report, pics []picture) []page {
	s := newStudy(r)
	if s == nil {
		return nil
	}
	var pages []page
	used := make(map[string]bool)
	add := func(title string, wide, narrow plot.Figure) {
		name := slug(title) + "-study"
		for n := 2; used[name]; n++ {
			name = fmt.Sprintf("%s-study-%d", slug(title), n)
		}
		used[name] = true
		pages = append(pages, page{name: name, study: true, big: title == "clocks", figure: wide, narrow: &narrow})
	}
	for n := 0; n < len(s.limiters); n += plot.MostLines {
		limiters := s.limiters[n:min(len(s.limiters), n+plot.MostLines)]
		ledger := newLedger(r, s, limiters)
		add("clocks", ledger.Wide(), ledger.Narrow())
		for _, answer := range newResponses(r, s, limiters) {
			add(answer.name, answer.Wide(), answer.Narrow())
		}
		for _, o := range s.ordeals {
			if growth := newGrowth(r, o, limiters, pics); len(growth.Lines) > 0 {
				add(o.growthName(), growth.Wide(), growth.Narrow())
			}
		}
	}
	return pages
}

// newLedger tells in a word or two what each disturbance did to each limiter.
func newLedger(r *Report, s *study, limiters []string) plot.Ledger {
	l := plot.Ledger{Title: "Which clock breaks when", Columns: limiters}
	for i, o := range s.ordeals {
		if i == 0 || s.ordeals[i-1].of != o.of {
			l.Groups = append(l.Groups, plot.LedgerGroup{Heading: sideWords(o.of)})
		}
		row := plot.LedgerRow{Name: o.heading()}
		if sizes := o.sizes(); sizes != "" {
			row.Name += ", " + sizes
		}
		for _, limiter := range limiters {
			row.Cells = append(row.Cells, newLedgerCell(rule(r, o, limiter)))
		}
		g := &l.Groups[len(l.Groups)-1]
		g.Rows = append(g.Rows, row)
	}
	return l
}

// sizes are the smallest and the largest size of an ordeal: "1 ms to 2 s".
func (o ordeal) sizes() string {
	first, last := o.points[0], o.points[len(o.points)-1]
	switch {
	case first.size != last.size:
		return o.size(first) + " to " + o.size(last)
	case first.size == 0:
		return ""
	}
	return o.size(first)
}

func newLedgerCell(g ruling) plot.LedgerCell {
	switch g.state() {
	case absent:
		return plot.LedgerCell{Outcome: plot.Skipped, Lines: []string{"not run"}}
	case undecided:
		cell := plot.LedgerCell{Outcome: plot.Undecided, Lines: []string{"undecided"}}
		if n := len(g.unharmed); n > 0 {
			cell.Lines = []string{fmt.Sprintf("unharmed at %d of %d,", n, n+len(g.undecided)), "rest undecided"}
		}
		return cell
	case passed:
		return plot.LedgerCell{Outcome: plot.Passed, Lines: []string{"unharmed"}}
	}
	cell := plot.LedgerCell{Outcome: plot.Unexpected}
	if p, _, ok := g.worst(func(h harm) float64 { return h.excess }, func(h harm) bool { return h.over }); ok {
		cell.Lines = append(cell.Lines, "+"+quantity.Tokens(p.excess))
	}
	if p, _, ok := g.worst(func(h harm) float64 { return h.lockout }, func(h harm) bool { return h.wrong }); ok {
		words := "locked out " + quantity.Seconds(p.lockout)
		if p.lockout <= 0 {
			words = quantity.Plural(quantity.Number(p.denials), "denial") + " too many"
		}
		cell.Lines = append(cell.Lines, words)
	}
	if p, _, ok := g.worst(func(h harm) float64 { return 1 - h.share }, func(h harm) bool { return h.starved }); ok {
		cell.Lines = append(cell.Lines, "slow get "+quantity.Percent(max(p.share, 0)))
	}
	if len(g.ordeal.points) > 1 {
		cell.Lines = append(cell.Lines, g.since())
	}
	return cell
}

// response is a picture of figures against the size of a disturbance.
type response struct {
	plot.Response
	name string // of its files
}

// newResponses draw the figures of ordeals with several sizes, where there is
// something to see; the shares under polite load and under overload together.
func newResponses(r *Report, s *study, limiters []string) []response {
	var list []response
	shares := response{name: "share-of-callers-behind", Response: plot.Response{Title: "What callers whose clocks are behind get"}}
	for _, o := range s.ordeals {
		if distinct(o) < 2 {
			continue
		}
		for _, name := range figureNames(r, o) {
			p := newPanel(r, o, name, limiters)
			if !visible(p) {
				continue
			}
			if name == slowShare {
				p.Name = capitalized(o.heading())
				shares.Panels = append(shares.Panels, p)
				continue
			}
			list = append(list, response{
				name:     o.fileName() + "-" + name,
				Response: plot.Response{Title: capitalized(figureWords(name)) + ": " + o.heading(), Panels: []plot.Panel{p}},
			})
		}
	}
	for n := 0; n < len(shares.Panels); n += 2 {
		part := shares
		part.Panels = shares.Panels[n:min(len(shares.Panels), n+2)]
		if n > 0 {
			part.name += fmt.Sprintf("-%d", n/2+1)
		}
		list = append(list, part)
	}
	return list
}

// fileName is that of an ordeal; two of one kind have those of their scenarios.
func (o ordeal) fileName() string {
	if o.shared {
		return o.kind + "-" + o.scenario
	}
	return o.kind
}

// distinct counts the sizes of an ordeal.
func distinct(o ordeal) int {
	n := 0
	for i, p := range o.points {
		if i == 0 || p.size != o.points[i-1].size {
			n++
		}
	}
	return n
}

func newPanel(r *Report, o ordeal, name string, limiters []string) plot.Panel {
	p := plot.Panel{X: o.axis(), SizeUnit: o.unit, Fair: math.NaN(), Part: name == slowShare}
	unit := unitOf(name)
	for _, limiter := range limiters {
		line := plot.Answer{Name: limiter}
		for _, point := range o.points {
			i, ran := point.runs[limiter]
			if !ran {
				continue
			}
			f, ok := figureOf(r.Runs[i], name)
			if !ok {
				continue
			}
			if f.Unit != "" {
				unit = f.Unit
			}
			line.Points = append(line.Points, newPoint(point.size, f))
		}
		if len(line.Points) > 0 {
			p.Lines = append(p.Lines, line)
		}
	}
	p.Y = figureWords(name)
	switch {
	case unit == "s":
		p.Y += " (seconds)"
	case unit != "" && unit != "share" && name != spuriousDenials:
		p.Y += " (" + unit + ")"
	}
	if name == slowShare {
		p.Y, p.Fair = "part of a fair share", 1
	}
	return p
}

func newPoint(size float64, f figure) plot.Point {
	p := plot.Point{Size: size, Measured: f.Measured, Predicted: math.NaN()}
	if f.undecided {
		p.Measured = math.NaN()
	}
	if f.told {
		p.Predicted, p.Tolerance = f.Predicted, f.Tolerance
		p.Outside = !f.Within && !f.undecided
	}
	return p
}

// axis names the sizes of an ordeal.
func (o ordeal) axis() string {
	if strings.Contains(ordealWords[o.kind].after, "apart") {
		return "clocks apart by"
	}
	return "size: " + o.heading()
}

// visible says whether a panel shows more than zeros; a share of nothing is
// something to see.
func visible(p plot.Panel) bool {
	if p.Part {
		return len(p.Lines) > 0
	}
	return slices.ContainsFunc(p.Lines, func(l plot.Answer) bool {
		return slices.ContainsFunc(l.Points, func(pt plot.Point) bool {
			return pt.Measured > max(pt.Tolerance, 1e-6) || pt.Predicted > max(pt.Tolerance, 1e-6)
		})
	})
}

// newGrowth draws how the excess of each limiter grew, in the longest of its
// runs; no lines where an ordeal is not to show that.
func newGrowth(r *Report, o ordeal, limiters []string, pics []picture) plot.Growth {
	g := plot.Growth{Title: "Excess as time goes on: " + o.heading()}
	if !lasting(r, o) {
		return g
	}
	for _, limiter := range limiters {
		if i := longest(r, o, limiter); i >= 0 && !pics[i].overshoot.Empty() {
			g.Lines = append(g.Lines, grown(r.Runs[i], pics[i].overshoot))
		}
	}
	return g
}

// growthName names the files of the picture that newGrowth draws.
func (o ordeal) growthName() string { return o.fileName() + "-growth" }

// lasting says whether an ordeal is to show how an excess grows.
func lasting(r *Report, o ordeal) bool {
	return o.kind == kindGrowth || slices.Contains(figureNames(r, o), excessPerSecond)
}

// longest is the longest run of a limiter in an ordeal; -1 when there is none.
func longest(r *Report, o ordeal, limiter string) int {
	found := -1
	for _, p := range o.points {
		if i, ran := p.runs[limiter]; ran && (found < 0 || r.Runs[i].DurationS > r.Runs[found].DurationS) {
			found = i
		}
	}
	return found
}

func grown(run Run, over plot.Overshoot) plot.Grown {
	line := plot.Grown{Name: run.Limiter, Overshoot: over, PerSecond: math.NaN()}
	if f, ok := figureOf(run, excessPerSecond); ok && f.told && grows(run, f.Predicted*run.DurationS) {
		line.PerSecond = f.Predicted
	}
	return line
}
