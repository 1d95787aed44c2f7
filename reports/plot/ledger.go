package plot

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Ledger is the picture of which choice breaks when: limiters beside each
// other, disturbances below each other, and in each cell what it came to.
type Ledger struct {
	Title   string
	Columns []string // at most MostLines are drawn
	Groups  []LedgerGroup
}

// LedgerGroup is rows under a heading.
type LedgerGroup struct {
	Heading string
	Rows    []LedgerRow
}

// LedgerRow is one disturbance.
type LedgerRow struct {
	Name  string
	Cells []LedgerCell // by column
}

// LedgerCell is what a disturbance did to a limiter, in short lines.
type LedgerCell struct {
	Outcome Outcome // Passed, Unexpected (it broke), Undecided or Skipped (not run)
	Lines   []string
}

// broken are the lines, broken where they are wider than a cell.
func (k LedgerCell) broken(cell vg.Length) []string {
	var list []string
	for _, line := range k.Lines {
		list = append(list, lines(line, cell-13, k.style())...)
	}
	return list
}

func (k LedgerCell) style() draw.TextStyle {
	switch k.Outcome {
	case Unexpected:
		return bold(style(tickSize, text))
	case Skipped:
		return style(tickSize, muted)
	}
	return style(tickSize, text)
}

// The parts of a ledger, in points.
const (
	ledgerLine    = 14
	ledgerPad     = 5
	ledgerHeading = 26
	ledgerName    = 220 // of a row, beside its cells
)

// Wide draws the ledger with the names of rows beside their cells.
func (l Ledger) Wide() Figure { return l.figure(920, false) }

// Narrow draws it with the names of rows above their cells.
func (l Ledger) Narrow() Figure { return l.figure(narrowWidth, true) }

func (l Ledger) figure(width vg.Length, stacked bool) Figure {
	height := vg.Length(titleSize+8+12) + l.headHeight(width, stacked) + rowHeight + 4
	for _, g := range l.Groups {
		height += ledgerHeading
		for _, r := range g.Rows {
			h, _ := r.layout(width, l.inner(width, stacked), stacked)
			height += h
		}
	}
	return Figure{title: l.Title, width: width, height: height + 8, paint: func(c draw.Canvas) {
		c = draw.Crop(c, 8, -8, 6, -8)
		c = top(c, l.Title, nil)
		l.draw(c, width, stacked)
	}}
}

func (l Ledger) columns() []string { return l.Columns[:min(len(l.Columns), MostLines)] }

// inner is the width of a cell.
func (l Ledger) inner(width vg.Length, stacked bool) vg.Length {
	room := width - 16
	if !stacked {
		room -= ledgerName
	}
	return room / vg.Length(max(1, len(l.columns())))
}

// heads are the names of the columns, broken where they need it.
func (l Ledger) heads(width vg.Length, stacked bool) [][]string {
	sty := bold(style(tickSize, text))
	var list [][]string
	for _, name := range l.columns() {
		list = append(list, brokenName(name, l.inner(width, stacked)-8, sty))
	}
	return list
}

// brokenName breaks a name behind slashes and hyphens.
func brokenName(name string, width vg.Length, sty draw.TextStyle) []string {
	var list []string
	line, part := "", ""
	flush := func() {
		if line != "" && sty.Width(line+part) > width {
			list = append(list, fit(line, width, sty))
			line = ""
		}
		line, part = line+part, ""
	}
	for _, r := range visible(name) {
		part += string(r)
		if r == '/' || r == '-' || r == ' ' || r == '_' {
			flush()
		}
	}
	flush()
	return append(list, fit(line, width, sty))
}

func (l Ledger) headHeight(width vg.Length, stacked bool) vg.Length {
	most := 1
	for _, h := range l.heads(width, stacked) {
		most = max(most, len(h))
	}
	return vg.Length(most*ledgerLine + 4)
}

// layout is how high a row is whose cells are so wide, and the lines of its
// name. Stacked, the name stands above the cells.
func (r LedgerRow) layout(width, cell vg.Length, stacked bool) (height vg.Length, name []string) {
	most := 1
	for _, k := range r.Cells {
		most = max(most, len(k.broken(cell)))
	}
	sty := style(labelSize, text)
	if stacked {
		name = lines(r.Name, width-16, sty)
		return vg.Length((most+len(name))*ledgerLine+2*ledgerPad) + 3, name
	}
	name = lines(r.Name, ledgerName-12, sty)
	return vg.Length(max(most, len(name))*ledgerLine + 2*ledgerPad), name
}

// key explains the outcomes that occur.
func (l Ledger) key() []entry {
	seen := make(map[Outcome]bool)
	for _, g := range l.Groups {
		for _, r := range g.Rows {
			for _, cell := range r.Cells {
				seen[cell.Outcome] = true
			}
		}
	}
	var list []entry
	for _, k := range []struct {
		outcome Outcome
		words   string
	}{{Unexpected, "broke"}, {Passed, "unharmed"}, {Undecided, "undecided"}} {
		if seen[k.outcome] {
			list = append(list, entry{label: k.words, color: k.outcome.color(), sample: areaSample})
		}
	}
	return list
}

func (l Ledger) draw(c draw.Canvas, width vg.Length, stacked bool) {
	c = top(c, "", l.key())
	cell := l.inner(width, stacked)
	left := c.Min.X
	if !stacked {
		left += ledgerName
	}
	y := c.Max.Y
	sty := bold(style(tickSize, text))
	for j, lines := range l.heads(width, stacked) {
		for n, line := range lines {
			c.FillText(sty, vg.Point{X: left + vg.Length(j)*cell + 4, Y: y - vg.Length(n+1)*ledgerLine + 3}, line)
		}
	}
	y -= l.headHeight(width, stacked)
	for _, g := range l.Groups {
		heading := bold(style(labelSize, muted))
		c.FillText(heading, vg.Point{X: c.Min.X, Y: y - ledgerHeading + 8}, fit(g.Heading, c.Max.X-c.Min.X, heading))
		y -= ledgerHeading
		for _, r := range g.Rows {
			c.StrokeLine2(draw.LineStyle{Color: grid, Width: 1}, c.Min.X, y, c.Max.X, y)
			height, name := r.layout(width, cell, stacked)
			r.draw(c, left, y, cell, height, name, stacked)
			y -= height
		}
	}
}

// draw draws a row below y.
func (r LedgerRow) draw(c draw.Canvas, left, y, cell, height vg.Length, name []string, stacked bool) {
	end, sty := y-height, style(labelSize, text)
	first := (y+end)/2 + vg.Length(len(name)-1)*ledgerLine/2 - labelSize*0.36
	if stacked {
		first = y - ledgerLine
	}
	for n, line := range name {
		c.FillText(sty, vg.Point{X: c.Min.X, Y: first - vg.Length(n)*ledgerLine}, line)
	}
	if stacked {
		y -= vg.Length(len(name))*ledgerLine + 3
	}
	for j, k := range r.Cells[:min(len(r.Cells), MostLines)] {
		x := left + vg.Length(j)*cell
		k.draw(c, vg.Rectangle{Min: vg.Point{X: x + 1, Y: end + 1}, Max: vg.Point{X: x + cell - 3, Y: y - 2}}, cell)
	}
}

// draw fills a cell in the colour of its outcome and writes its lines.
func (k LedgerCell) draw(c draw.Canvas, box vg.Rectangle, cell vg.Length) {
	if k.Outcome != Skipped {
		c.SetColor(k.Outcome.color().faded(0.2))
		c.Fill(box.Path())
		c.SetColor(k.Outcome.color())
		c.Fill(vg.Rectangle{Min: box.Min, Max: vg.Point{X: box.Min.X + 3, Y: box.Max.Y}}.Path())
	}
	list := k.broken(cell)
	middle := (box.Min.Y+box.Max.Y)/2 + vg.Length(len(list)-1)*ledgerLine/2
	for n, line := range list {
		c.FillText(k.style(), vg.Point{X: box.Min.X + 7, Y: middle - vg.Length(n)*ledgerLine - tickSize*0.36}, line)
	}
}
