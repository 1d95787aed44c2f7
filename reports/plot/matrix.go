package plot

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"bucketproof/reports/quantity"
)

// Matrix is the picture of all verdicts: rows and columns with names, and in
// each cell the outcomes of the runs there.
type Matrix struct {
	Title   string
	Rows    []string
	Columns []string
	Cells   func(row, column int) []Outcome // several: points of a sweep
}

// Outcome is what a run came to.
type Outcome int

// The outcomes, each with a colour and a symbol of its own.
const (
	Passed     Outcome = iota // nothing found, nothing expected
	Caught                    // a fault found, as expected
	Unexpected                // a verdict is not the expected one
	Undecided                 // no verdict
	Skipped                   // did not take place
	outcomes
)

// cell sizes, in points.
const (
	markSize  = 17
	markGap   = 3
	rowPitch  = markSize + 6
	markPitch = markSize + markGap
	mostMarks = 15 // in a line of a cell
)

// words explain an outcome in the legend, beside its symbol.
func (o Outcome) words() string {
	return [...]string{"no fault found, as expected", "fault found, as expected", "not as expected", "undecided", "skipped"}[o]
}

func (o Outcome) color() shade {
	return [...]shade{series[2], series[0], vermilion, series[1], rule}[o]
}

// Figure draws the matrix as large as its names and cells need.
func (m Matrix) Figure() Figure {
	sty := style(labelSize, text)
	names := vg.Length(0)
	for _, row := range m.Rows {
		names = max(names, sty.Width(fit(row, longestName, sty)))
	}
	heads := vg.Length(0)
	for _, column := range m.Columns {
		heads = max(heads, sty.Width(fit(column, longestName, sty)))
	}
	l := layout{slope: heads * math.Sqrt2 / 2, width: 12 + names + 10}
	for j := range m.Columns {
		l.columns = append(l.columns, l.width)
		most := 1
		for i := range m.Rows {
			most = max(most, min(len(m.Cells(i, j)), mostMarks))
		}
		l.width += vg.Length(most*markPitch + 8)
	}
	for i := range m.Rows {
		l.rows = append(l.rows, l.body)
		l.body += m.rowHeight(i)
	}
	l.right = l.width - 8
	l.width = max(l.right+l.slope+12, 440)
	l.legend = m.legend(l.width - 24)
	l.height = 12 + titleSize + 8 + l.legend.height + l.slope + 20 + l.body + 12
	return Figure{title: m.Title, width: l.width, height: l.height, paint: func(c draw.Canvas) { m.draw(c, l) }}
}

// rowHeight is that of the cell with most lines of marks.
func (m Matrix) rowHeight(i int) vg.Length {
	lines := 1
	for j := range m.Columns {
		lines = max(lines, (len(m.Cells(i, j))+mostMarks-1)/mostMarks)
	}
	return vg.Length(rowPitch + (lines-1)*markPitch)
}

const longestName = 240

// layout is where the parts of a matrix stand.
type layout struct {
	slope         vg.Length   // height of the slanted column names
	columns       []vg.Length // left edges
	rows          []vg.Length // upper edges, below the first
	body          vg.Length   // height of all rows
	right         vg.Length   // where the last column ends
	width, height vg.Length
	legend        matrixLegend
}

func (m Matrix) draw(c draw.Canvas, l layout) {
	c = draw.Crop(c, 12, -12, 12, -12)
	sty := style(labelSize, text)
	title := bold(style(titleSize, text))
	c.FillText(title, vg.Point{X: c.Min.X, Y: c.Max.Y - titleSize}, fit(m.Title, c.Max.X-c.Min.X, title))
	c.Max.Y -= titleSize + 8
	for _, item := range l.legend.items {
		item.outcome.draw(c, c.Min.X+item.x, c.Max.Y-item.y-markSize)
		c.FillText(sty, vg.Point{X: c.Min.X + item.x + markSize + 6, Y: c.Max.Y - item.y - markSize/2 - labelSize*0.36}, item.words)
	}
	base := c.Max.Y - l.legend.height - l.slope - 16
	for j, name := range m.Columns {
		slanted := sty
		slanted.Rotation = math.Pi / 4
		c.FillText(slanted, vg.Point{X: l.columns[j] + markSize/2 + 4, Y: base + 2}, fit(name, longestName, sty))
	}
	for i, name := range m.Rows {
		y := base - 4 - l.rows[i] - rowPitch/2
		c.FillText(sty, vg.Point{X: c.Min.X, Y: y - labelSize*0.36}, fit(name, longestName, sty))
		end := y + rowPitch/2 - m.rowHeight(i)
		c.StrokeLine2(draw.LineStyle{Color: grid, Width: 1}, c.Min.X, end, l.right, end)
		for j := range m.Columns {
			for n, o := range m.Cells(i, j) {
				o.draw(c, l.columns[j]+vg.Length(n%mostMarks*markPitch), y-markSize/2-vg.Length(n/mostMarks*markPitch))
			}
		}
	}
}

// matrixLegend is the outcomes that occur, placed from the upper left.
type matrixLegend struct {
	items  []legendItem
	height vg.Length
}

type legendItem struct {
	outcome Outcome
	words   string
	x, y    vg.Length
}

func (m Matrix) legend(width vg.Length) matrixLegend {
	var seen [outcomes]int
	for i := range m.Rows {
		for j := range m.Columns {
			for _, o := range m.Cells(i, j) {
				seen[o]++
			}
		}
	}
	sty := style(labelSize, text)
	var l matrixLegend
	x, y := vg.Length(0), vg.Length(0)
	for o := range outcomes {
		if seen[o] == 0 {
			continue
		}
		words := fmt.Sprintf("%s: %s", o.words(), quantity.Count(int64(seen[o])))
		w := markSize + 6 + sty.Width(words)
		if x > 0 && x+w > width {
			x, y = 0, y+rowPitch
		}
		l.items = append(l.items, legendItem{o, words, x, y})
		x += w + entryGap
	}
	l.height = y + rowPitch
	return l
}
