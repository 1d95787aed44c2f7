package reports

import (
	"fmt"
	"html/template"
	"slices"

	"bucketproof/reports/quantity"
)

// studyTitle is the heading of the study of clocks.
const studyTitle = "App clock or Redis TIME"

// The part of the view model that shows the study of clocks.
type (
	htmlStudy struct {
		Title    string
		Limiters []string
		Pictures []htmlPicture
		Sides    []htmlSide
		Choices  []htmlChoice
		TTL      []string
		Figures  string // what the table of figures holds, in words
		Open     bool   // that table is shown without a click
	}
	htmlPicture struct {
		Wide, Narrow template.HTML
		Big          bool
	}
	htmlSide struct {
		Heading string
		Ordeals []htmlOrdeal
	}
	htmlOrdeal struct {
		Heading string
		Rulings []htmlRuling
		Figures []htmlFigures
	}
	htmlRuling struct {
		Limiter, Words string
		State          state
		Link           string // to the run where it was worst; "" for none
	}
	htmlFigures struct {
		Name  string
		Cells []figureCell
	}
	htmlChoice struct {
		Limiter string
		State   state
		Words   []string
	}
)

// figureCell is a figure beside its prediction.
type figureCell struct {
	Measured, Predicted string // "" where there is none
	Verdict             string // within | outside | ""
}

// newHTMLStudy arranges the study; nil when no run has a disturbance.
func newHTMLStudy(r *Report, g gallery) *htmlStudy {
	s := newStudy(r)
	if s == nil {
		return nil
	}
	view := &htmlStudy{Title: studyTitle, Limiters: s.limiters, TTL: ttlWords(r, s)}
	for _, pic := range g.study {
		view.Pictures = append(view.Pictures, htmlPicture{pic.wide, pic.narrow, pic.big})
	}
	for i, o := range s.ordeals {
		if i == 0 || s.ordeals[i-1].of != o.of {
			view.Sides = append(view.Sides, htmlSide{Heading: sideWords(o.of)})
		}
		side := &view.Sides[len(view.Sides)-1]
		side.Ordeals = append(side.Ordeals, newHTMLOrdeal(r, s, o))
	}
	for _, limiter := range s.limiters {
		c := newChoice(r, s, limiter)
		view.Choices = append(view.Choices, htmlChoice{limiter, c.state(), c.sentences()})
	}
	n := count(r, s)
	view.Figures, view.Open = n.words(), n.outside > 0 || n.rows <= mostRows
	return view
}

func newHTMLOrdeal(r *Report, s *study, o ordeal) htmlOrdeal {
	view := htmlOrdeal{Heading: capitalized(o.heading())}
	if sizes := o.sizes(); sizes != "" {
		view.Heading += ", " + sizes
	}
	for _, limiter := range s.limiters {
		g := rule(r, o, limiter)
		line := htmlRuling{Limiter: limiter, Words: g.sentence(), State: g.state()}
		if i := g.telling(limiter); i >= 0 {
			line.Link = runID(i)
		}
		view.Rulings = append(view.Rulings, line)
	}
	for _, row := range figureRows(r, s, o) {
		view.Figures = append(view.Figures, htmlFigures(row))
	}
	return view
}

// telling is the run to look at: where the limiter broke at first, else its
// first; -1 when it did not run.
func (g ruling) telling(limiter string) int {
	if len(g.harmed) > 0 {
		return g.harmed[0].runs[limiter]
	}
	for _, p := range g.ordeal.points {
		if i, ran := p.runs[limiter]; ran {
			return i
		}
	}
	return -1
}

// figureRow is a figure of an ordeal at one size, a cell for each limiter.
type figureRow struct {
	Name  string
	Cells []figureCell
}

func figureRows(r *Report, s *study, o ordeal) []figureRow {
	var rows []figureRow
	for _, name := range figureNames(r, o) {
		for _, p := range o.points {
			row := figureRow{Name: figureWords(name) + o.at(p)}
			for _, limiter := range s.limiters {
				i, ran := p.runs[limiter]
				if !ran {
					row.Cells = append(row.Cells, figureCell{Measured: "–"})
					continue
				}
				row.Cells = append(row.Cells, newFigureCell(r.Runs[i], name))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func newFigureCell(run Run, name string) figureCell {
	f, ok := figureOf(run, name)
	switch {
	case f.undecided:
		return figureCell{Measured: "undecided"}
	case !ok:
		return figureCell{Measured: "–"}
	case !f.told:
		return figureCell{Measured: amount(f.Measured, f.Unit), Predicted: "not predicted"}
	}
	cell := figureCell{Measured: amount(f.Measured, f.Unit), Predicted: amount(f.Predicted, f.Unit), Verdict: "within"}
	if f.Tolerance > 0 {
		cell.Predicted += " ± " + bare(f.Tolerance, f.Unit)
	}
	if !f.Within {
		cell.Verdict = "outside"
	}
	return cell
}

// bare is amount without the unit's name where that is a word.
func bare(v float64, unit string) string {
	if unit == "s" || unit == "share" {
		return amount(v, unit)
	}
	return quantity.Number(v)
}

// figureCount is how many figures were measured, and how many theory missed.
type figureCount struct{ rows, told, outside int }

func count(r *Report, s *study) figureCount {
	var n figureCount
	for _, o := range s.ordeals {
		for _, row := range figureRows(r, s, o) {
			n.rows++
			for _, cell := range row.Cells {
				if cell.Verdict != "" {
					n.told++
				}
				if cell.Verdict == "outside" {
					n.outside++
				}
			}
		}
	}
	return n
}

func (n figureCount) words() string {
	switch {
	case n.told == 0:
		return "Measured; nothing was predicted"
	case n.outside > 0:
		return fmt.Sprintf("Measured beside predicted: %d of %s outside the prediction", n.outside, quantity.Things(n.told, "figure"))
	}
	return fmt.Sprintf("Measured beside predicted: %s, all within", quantity.Things(n.told, "figure"))
}

// Columns is how many the tables have.
func (v *htmlStudy) Columns() int { return 1 + len(v.Limiters) }

// Big are the pictures that take the width of the page.
func (v *htmlStudy) Big() []htmlPicture { return v.pictures(true) }

// Small are the others.
func (v *htmlStudy) Small() []htmlPicture { return v.pictures(false) }

func (v *htmlStudy) pictures(big bool) []htmlPicture {
	return slices.DeleteFunc(slices.Clone(v.Pictures), func(p htmlPicture) bool { return p.Big != big })
}
