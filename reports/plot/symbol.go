package plot

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// draw draws the outcome as a tile with a symbol, its lower left corner at a
// point. The symbols are lines, so that no font needs to have them.
func (o Outcome) draw(c draw.Canvas, x, y vg.Length) {
	c.SetColor(o.color())
	c.Fill(vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + markSize, Y: y + markSize}}.Path())
	at := func(px, py float64) vg.Point { // parts of the tile, from its lower left
		return vg.Point{X: x + markSize*vg.Length(px), Y: y + markSize*vg.Length(py)}
	}
	line := draw.LineStyle{Color: paper, Width: 2}
	switch o {
	case Passed:
		c.StrokeLines(line, []vg.Point{at(0.22, 0.5), at(0.42, 0.28), at(0.78, 0.74)})
	case Caught:
		var path vg.Path
		path.Move(at(0.5, 0.82))
		path.Line(at(0.82, 0.5))
		path.Line(at(0.5, 0.18))
		path.Line(at(0.18, 0.5))
		path.Close()
		c.SetColor(paper)
		c.Fill(path)
	case Unexpected:
		c.StrokeLines(line, []vg.Point{at(0.25, 0.25), at(0.75, 0.75)})
		c.StrokeLines(line, []vg.Point{at(0.25, 0.75), at(0.75, 0.25)})
	case Undecided:
		question(c, line, at)
	default:
		c.StrokeLines(line, []vg.Point{at(0.25, 0.5), at(0.75, 0.5)})
	}
}

// question draws a question mark.
func question(c draw.Canvas, line draw.LineStyle, at func(px, py float64) vg.Point) {
	var curve []vg.Point
	for i := 0; i <= 10; i++ { // three quarters of a circle, from the left over the top
		sin, cos := math.Sincos(math.Pi * (1 - 0.15*float64(i)))
		curve = append(curve, at(0.5+0.2*cos, 0.64+0.2*sin))
	}
	c.StrokeLines(line, append(curve, at(0.5, 0.36)))
	c.StrokeLines(line, []vg.Point{at(0.5, 0.25), at(0.5, 0.13)})
}
