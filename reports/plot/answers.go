package plot

import (
	"math"
	"slices"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// answers draws what one panel of a Response shows. Each method is one layer.
type answers struct {
	panel  Panel
	names  []string // by colour
	sizes  sizes
	values values
}

// point is where a figure lies; what is above the picture stays at its top.
func (a answers) point(c draw.Canvas, p *gonum.Plot, size, value float64) vg.Point {
	return vg.Point{
		X: c.X(p.X.Norm(a.sizes.at(size))),
		Y: min(c.Y(p.Y.Norm(a.values.at(value))), c.Max.Y),
	}
}

// fair draws the level to compare with.
func (a answers) fair(c draw.Canvas, p *gonum.Plot) {
	if a.panel.Fair > 0 {
		y := c.Y(p.Y.Norm(a.values.at(a.panel.Fair)))
		c.StrokeLine2(draw.LineStyle{Color: text, Width: 1.25}, c.Min.X, y, c.Max.X, y)
	}
}

// predictions draws each line of predictions once, with its tolerance, however
// many limiters share it: in the limiter's colour where it is one.
func (a answers) predictions(c draw.Canvas, p *gonum.Plot) {
	var drawn [][]Point
	var owners []int // -1: several
	for _, l := range a.panel.Lines {
		points := foretold(l.Points)
		if len(points) == 0 {
			continue
		}
		i := slices.IndexFunc(drawn, func(other []Point) bool { return slices.EqualFunc(points, other, alike) })
		if i >= 0 {
			owners[i] = -1
			continue
		}
		drawn, owners = append(drawn, points), append(owners, slices.Index(a.names, l.Name))
	}
	for i, points := range drawn {
		color := muted
		if owners[i] >= 0 && len(drawn) > 1 {
			color = series[owners[i]]
		}
		a.band(c, p, points, color)
		var path vg.Path
		for n, pt := range points {
			at := a.point(c, p, pt.Size, pt.Predicted)
			if n == 0 {
				if len(points) == 1 {
					path.Move(vg.Point{X: at.X - 14, Y: at.Y})
					at.X += 14
				} else {
					path.Move(at)
					continue
				}
			}
			path.Line(at)
		}
		c.SetLineStyle(draw.LineStyle{Color: color, Width: 1.5, Dashes: dashed})
		c.Stroke(path)
	}
}

// foretold are the points with a prediction.
func foretold(points []Point) []Point {
	return slices.DeleteFunc(slices.Clone(points), func(pt Point) bool { return math.IsNaN(pt.Predicted) })
}

// alike says whether two predictions are one in the picture.
func alike(a, b Point) bool {
	return a.Size == b.Size && math.Abs(a.Predicted-b.Predicted) <= max(a.Tolerance, b.Tolerance)+1e-9
}

// band shades the tolerance around predictions.
func (a answers) band(c draw.Canvas, p *gonum.Plot, points []Point, color shade) {
	if len(points) < 2 {
		return
	}
	var path vg.Path
	for i, pt := range points {
		at := a.point(c, p, pt.Size, pt.Predicted+pt.Tolerance)
		if i == 0 {
			path.Move(at)
			continue
		}
		path.Line(at)
	}
	for _, pt := range slices.Backward(points) {
		path.Line(a.point(c, p, pt.Size, pt.Predicted-pt.Tolerance))
	}
	path.Close()
	c.SetColor(color.faded(0.13))
	c.Fill(path)
}

// apartness is the distance of two limiters' marks at one size, so that equal
// figures stand beside each other.
const apartness = 7

// measured draws a mark for each figure, those of a limiter joined.
func (a answers) measured(c draw.Canvas, p *gonum.Plot) {
	for i, name := range a.names {
		shift := (vg.Length(i) - vg.Length(len(a.names)-1)/2) * apartness
		for _, l := range a.panel.Lines {
			if l.Name != name {
				continue
			}
			var path vg.Path
			var marks []vg.Point
			for _, pt := range l.Points {
				if math.IsNaN(pt.Measured) {
					continue
				}
				at := a.point(c, p, pt.Size, pt.Measured)
				at.X += shift
				if len(marks) == 0 {
					path.Move(at)
				} else {
					path.Line(at)
				}
				marks = append(marks, at)
				if pt.Outside {
					ring(c, at)
				}
			}
			c.SetLineStyle(draw.LineStyle{Color: series[i].faded(0.55), Width: 1.25})
			if len(marks) > 1 {
				c.Stroke(path)
			}
			c.SetColor(series[i])
			for _, at := range marks {
				c.Fill(mark(i, at))
			}
		}
	}
}

// ring marks a point that theory did not predict.
func ring(c draw.Canvas, at vg.Point) {
	var path vg.Path
	path.Move(vg.Point{X: at.X + 8, Y: at.Y})
	path.Arc(at, 8, 0, 2*math.Pi)
	path.Close()
	c.SetLineStyle(draw.LineStyle{Color: vermilion, Width: 2})
	c.Stroke(path)
}

// mark is the shape of a limiter's points: no two limiters of a picture have
// the same, so that they are told apart without colours, too.
func mark(shape int, at vg.Point) vg.Path {
	const r = 4.2
	var corners []vg.Point
	switch shape % MostLines {
	case 0:
		var path vg.Path
		path.Move(vg.Point{X: at.X + r, Y: at.Y})
		path.Arc(at, r, 0, 2*math.Pi)
		path.Close()
		return path
	case 1:
		corners = []vg.Point{{X: -0.9, Y: -0.9}, {X: 0.9, Y: -0.9}, {X: 0.9, Y: 0.9}, {X: -0.9, Y: 0.9}}
	case 2:
		corners = []vg.Point{{X: 0, Y: 1.25}, {X: 1.15, Y: -0.85}, {X: -1.15, Y: -0.85}}
	case 3:
		corners = []vg.Point{{X: 0, Y: 1.3}, {X: 1.3, Y: 0}, {X: 0, Y: -1.3}, {X: -1.3, Y: 0}}
	case 4:
		corners = []vg.Point{{X: 0, Y: -1.25}, {X: 1.15, Y: 0.85}, {X: -1.15, Y: 0.85}}
	default:
		corners = []vg.Point{
			{X: -0.4, Y: -1.2}, {X: 0.4, Y: -1.2}, {X: 0.4, Y: -0.4}, {X: 1.2, Y: -0.4}, {X: 1.2, Y: 0.4}, {X: 0.4, Y: 0.4},
			{X: 0.4, Y: 1.2}, {X: -0.4, Y: 1.2}, {X: -0.4, Y: 0.4}, {X: -1.2, Y: 0.4}, {X: -1.2, Y: -0.4}, {X: -0.4, Y: -0.4},
		}
	}
	var path vg.Path
	for i, k := range corners {
		pt := vg.Point{X: at.X + r*k.X, Y: at.Y + r*k.Y}
		if i == 0 {
			path.Move(pt)
			continue
		}
		path.Line(pt)
	}
	path.Close()
	return path
}
