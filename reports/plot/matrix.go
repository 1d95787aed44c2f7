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
	markSize = 17
	markGap  = 3
	rowPitch = markSize + 6
)

// words explain an outcome in the legend, beside its symbol.
func (o Outcome) words() string {
	return [...]string{"passes, as expected", "fault found, as expected", "not as expected", "undecided", "skipped"}[o]
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
	l := layout{names: names, slope: heads * math.Sqrt2 / 2}
	l.width = 12 + names + 10
	for j := range m.Columns {
		l.columns = append(l.columns, l.width)
		most := 1
		for i := range m.Rows {
			most = max(most, len(m.Cells(i, j)))
		}
		l.width += vg.Length(most*(markSize+markGap) + 8)
	}
	l.width = max(l.width+l.slope+12, 420)
	l.height = 12 + 21 + 2*rowHeight + 8 + l.slope + 14 + vg.Length(len(m.Rows)*rowPitch) + 12
	return Figure{title: m.Title, width: l.width, height: l.height, paint: func(c draw.Canvas) { m.draw(c, l) }}
}

const longestName = 240

// layout is where the parts of a matrix stand.
type layout struct {
	names, slope  vg.Length   // width of row names, height of slanted column names
	columns       []vg.Length // left edges
	width, height vg.Length
}

func (m Matrix) draw(c draw.Canvas, l layout) {
	c = draw.Crop(c, 12, -12, 12, -12)
	sty := style(labelSize, text)
	title := bold(style(titleSize, text))
	c.FillText(title, vg.Point{X: c.Min.X, Y: c.Max.Y - titleSize}, fit(m.Title, c.Max.X-c.Min.X, title))
	c.Max.Y -= titleSize + 8
	c.Max.Y = m.legend(c)
	base := c.Max.Y - l.slope - 14
	for j, name := range m.Columns {
		slanted := sty
		slanted.Rotation = math.Pi / 4
		c.FillText(slanted, vg.Point{X: l.columns[j] + markSize/2 + 4, Y: base + 2}, fit(name, longestName, sty))
	}
	for i, name := range m.Rows {
		y := base - 4 - vg.Length(i*rowPitch) - rowPitch/2
		c.FillText(sty, vg.Point{X: c.Min.X, Y: y - labelSize*0.36}, fit(name, longestName, sty))
		c.StrokeLine2(draw.LineStyle{Color: grid, Width: 1}, c.Min.X, y-rowPitch/2, l.right(c), y-rowPitch/2)
		for j := range m.Columns {
			for n, o := range m.Cells(i, j) {
				o.draw(c, l.columns[j]+vg.Length(n*(markSize+markGap)), y-markSize/2)
			}
		}
	}
}

// right is where the last column ends.
func (l layout) right(c draw.Canvas) vg.Length {
	return min(c.Max.X, l.width-l.slope-12)
}

// legend shows the outcomes that occur, and returns the height below it.
func (m Matrix) legend(c draw.Canvas) vg.Length {
	var seen [outcomes]int
	for i := range m.Rows {
		for j := range m.Columns {
			for _, o := range m.Cells(i, j) {
				seen[o]++
			}
		}
	}
	sty := style(labelSize, text)
	x, y := c.Min.X, c.Max.Y
	for o := range outcomes {
		if seen[o] == 0 {
			continue
		}
		words := fmt.Sprintf("%s: %s", o.words(), quantity.Count(int64(seen[o])))
		width := markSize + 6 + sty.Width(words)
		if x > c.Min.X && x+width > c.Max.X {
			x, y = c.Min.X, y-rowHeight-6
		}
		o.draw(c, x, y-rowHeight)
		c.FillText(sty, vg.Point{X: x + markSize + 6, Y: y - rowHeight/2 - labelSize*0.36}, words)
		x += width + entryGap
	}
	return y - rowHeight - 4
}
