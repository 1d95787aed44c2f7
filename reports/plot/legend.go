package plot

import (
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// entry is one line of a legend: a sample of how something is drawn, and what
// it is.
type entry struct {
	label  string
	strong bool // in the colour of its sample, and bold
	color  shade
	sample sample
	dashes []vg.Length
	shape  int // of a pointSample
}

// sample is the kind of mark beside a legend's words.
type sample int

const (
	lineSample sample = iota
	areaSample
	rugSample
	tickSample
	pointSample
	ringSample
	hollowSample
	noSample
)

const (
	sampleWidth = 16
	entryGap    = 16
	rowHeight   = 17
)

// top draws title, legend and the name of the vertical axis at the top of c,
// in rows of their own, so that none of them can cover data. It returns what
// is left.
func top(c draw.Canvas, title string, legend []entry) draw.Canvas {
	if title != "" {
		sty := bold(style(titleSize, text))
		for _, line := range titleLines(title, c.Max.X-c.Min.X, sty) {
			c.FillText(sty, vg.Point{X: c.Min.X, Y: c.Max.Y - titleSize}, line)
			c.Max.Y -= titleSize + 4
		}
		c.Max.Y -= 4
	}
	x, y := c.Min.X, c.Max.Y
	for _, e := range legend {
		sty := e.style()
		label := fit(e.label, c.Max.X-c.Min.X-sampleWidth-6, sty)
		width := sampleWidth + 6 + sty.Width(label)
		if x > c.Min.X && x+width > c.Max.X {
			x, y = c.Min.X, y-rowHeight
		}
		e.draw(c, x, y-rowHeight/2)
		c.FillText(sty, vg.Point{X: x + sampleWidth + 6, Y: y - rowHeight/2 - sty.Font.Size*0.36}, label)
		x += width + entryGap
	}
	if len(legend) > 0 {
		c.Max.Y = y - rowHeight - 4
	}
	return c
}

// titleLines breaks a title into two lines at most.
func titleLines(title string, width vg.Length, sty draw.TextStyle) []string {
	list := lines(title, width, sty)
	if len(list) > 2 {
		rest := strings.TrimSpace(strings.TrimPrefix(strings.Join(strings.Fields(visible(title)), " "), list[0]))
		list = []string{list[0], fit(rest, width, sty)}
	}
	return list
}

func (e entry) style() draw.TextStyle {
	if e.strong {
		return bold(style(labelSize, e.color))
	}
	return style(labelSize, text)
}

// draw draws the sample, centred on the height y.
func (e entry) draw(c draw.Canvas, x, y vg.Length) {
	line := draw.LineStyle{Color: e.color, Width: 2, Dashes: e.dashes}
	switch e.sample {
	case lineSample:
		c.StrokeLine2(line, x, y, x+sampleWidth, y)
	case areaSample:
		box := vg.Rectangle{Min: vg.Point{X: x, Y: y - 5}, Max: vg.Point{X: x + sampleWidth, Y: y + 5}}
		c.SetColor(e.color.faded(excessAlpha))
		c.Fill(box.Path())
	case rugSample:
		line.Width, line.Color = 4, e.color.faded(0.5)
		c.StrokeLine2(line, x+2, y, x+sampleWidth-2, y)
	case tickSample:
		line.Width = 2.5
		c.StrokeLine2(line, x+sampleWidth/2, y-6, x+sampleWidth/2, y+6)
	case pointSample:
		line.Width, line.Color = 1.25, e.color.faded(0.55)
		c.StrokeLine2(line, x, y, x+sampleWidth, y)
		c.SetColor(e.color)
		c.Fill(mark(e.shape, vg.Point{X: x + sampleWidth/2, Y: y}))
	case hollowSample:
		line.Width = 1.25
		if len(e.dashes) > 0 {
			c.StrokeLine2(line, x-1, y, x+sampleWidth+1, y)
		}
		path := mark(0, vg.Point{X: x + sampleWidth/2, Y: y})
		c.SetColor(paper)
		c.Fill(path)
		line.Width, line.Dashes = 1.5, nil
		c.SetLineStyle(line)
		c.Stroke(path)
	case ringSample:
		ring(c, vg.Point{X: x + sampleWidth/2, Y: y})
	}
}

// yTitle writes the name of the vertical axis above it, where it can be read
// without turning one's head, and returns what is left.
func yTitle(c draw.Canvas, name string) draw.Canvas {
	sty := style(labelSize, muted)
	c.FillText(sty, vg.Point{X: c.Min.X, Y: c.Max.Y - labelSize}, fit(name, c.Max.X-c.Min.X, sty))
	c.Max.Y -= labelSize + 8
	return c
}
