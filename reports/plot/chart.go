package plot

import (
	"math"
	"slices"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"bucketproof/reports/quantity"
)

// scale is one axis of a chart.
type scale struct {
	name      string
	low, high float64                // of what is drawn; above 0 where log
	log       bool                   // logarithmic
	words     func(v float64) string // labels of ticks; nil: quantity.Number
	at        []float64              // where ticks are wanted, in order; nil: at round numbers
}

// place is where v lies on the axis.
func (s scale) place(v float64) float64 {
	if s.log {
		return math.Log10(max(v, 1e-12))
	}
	return v
}

func (s scale) label(v float64) string {
	if s.words != nil {
		return s.words(v)
	}
	return quantity.Number(v)
}

// ticks labels the axis of a length in points, with some room between labels.
func (s scale) ticks(length, room vg.Length, sty draw.TextStyle) gonum.ConstantTicks {
	low, high := s.place(s.low), s.place(s.high)
	n := max(2, int(length/room))
	switch {
	case s.at != nil:
		return s.wanted(length, sty)
	case !s.log:
		list := ticks(low, high, n, 0)
		for i := range list {
			list[i].Label = s.label(list[i].Value)
		}
		return list
	}
	for _, factors := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		var list gonum.ConstantTicks
		for e := math.Floor(low); e <= high; e++ {
			for _, f := range factors {
				if v := e + math.Log10(f); v >= low-1e-9 && v <= high+1e-9 {
					list = append(list, gonum.Tick{Value: v, Label: s.label(f * math.Pow(10, e))})
				}
			}
		}
		if len(list) > 0 && len(list) <= n {
			return list
		}
	}
	return gonum.ConstantTicks{{Value: low, Label: s.label(s.low)}, {Value: high, Label: s.label(s.high)}}
}

// wanted labels what s.at names, from the largest down as far as there is room.
func (s scale) wanted(length vg.Length, sty draw.TextStyle) gonum.ConstantTicks {
	var list gonum.ConstantTicks
	low, span := s.place(s.low), s.place(s.high)-s.place(s.low)
	free := math.Inf(1) // left end of the label to the right
	for _, v := range slices.Backward(s.at) {
		label := s.label(v)
		half := float64(sty.Width(label))/2 + 3
		x := (s.place(v) - low) / span * float64(length)
		if x+half > free {
			label = ""
		} else {
			free = x - half
		}
		list = append(list, gonum.Tick{Value: s.place(v), Label: label})
	}
	slices.Reverse(list)
	return list
}

// chart is a pair of axes while it is drawn on.
type chart struct {
	draw.Canvas
	p    *gonum.Plot
	x, y scale
}

// drawChart draws axes and lets paint draw on them.
func drawChart(c draw.Canvas, x, y scale, paint func(k chart)) {
	c = yTitle(c, y.name)
	p := newPlot(x.name)
	p.X.Min, p.X.Max = x.place(x.low), x.place(x.high)
	p.Y.Min, p.Y.Max = y.place(y.low), y.place(y.high)
	p.X.Tick.Marker = x.ticks(c.Max.X-c.Min.X-50, 68, p.X.Tick.Label)
	p.Y.Tick.Marker = y.ticks(c.Max.Y-c.Min.Y-46, 24, p.Y.Tick.Label)
	p.Add(painter(func(c draw.Canvas, p *gonum.Plot) { paint(chart{c, p, x, y}) }))
	p.Draw(c)
}

// point is where a pair of values is drawn, kept inside the axes.
func (k chart) point(x, y float64) vg.Point {
	px, py := k.X(k.p.X.Norm(k.x.place(x))), k.Y(k.p.Y.Norm(k.y.place(y)))
	return vg.Point{X: min(max(px, k.Min.X), k.Max.X), Y: min(max(py, k.Min.Y), k.Max.Y)}
}

// curve joins points; a NaN breaks it.
func (k chart) curve(sty draw.LineStyle, list []XY) {
	var path vg.Path
	drawing := false
	for _, v := range list {
		if math.IsNaN(v.Y) {
			drawing = false
			continue
		}
		if drawing {
			path.Line(k.point(v.X, v.Y))
		} else {
			path.Move(k.point(v.X, v.Y))
		}
		drawing = true
	}
	k.SetLineStyle(sty)
	k.Stroke(path)
}

// band fills what lies between two curves over the same X.
func (k chart) band(clr shade, low, high []XY) {
	if len(low) == 0 {
		return
	}
	var path vg.Path
	path.Move(k.point(low[0].X, low[0].Y))
	for _, v := range low[1:] {
		path.Line(k.point(v.X, v.Y))
	}
	for _, v := range slices.Backward(high) {
		path.Line(k.point(v.X, v.Y))
	}
	path.Close()
	k.SetColor(clr)
	k.Fill(path)
}

// marks draws points in the shape of a series; hollow ones are only outlined.
func (k chart) marks(clr shade, shape int, hollow bool, list []XY) {
	for _, v := range list {
		if math.IsNaN(v.Y) {
			continue
		}
		path := mark(shape, k.point(v.X, v.Y))
		if hollow {
			k.SetColor(paper)
			k.Fill(path)
			k.SetLineStyle(draw.LineStyle{Color: clr, Width: 1.5})
			k.Stroke(path)
			continue
		}
		k.SetColor(clr)
		k.Fill(path)
	}
}

// XY is a pair of values in a chart.
type XY struct{ X, Y float64 }

// highest is the largest Y of the lists; 0 when there is none.
func highest(lists ...[]XY) float64 {
	most := 0.0
	for _, list := range lists {
		for _, v := range list {
			if v.Y > most { // and not NaN
				most = v.Y
			}
		}
	}
	return most
}

// extent is the least and the largest X of the lists.
func extent(lists ...[]XY) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, list := range lists {
		for _, v := range list {
			low, high = min(low, v.X), max(high, v.X)
		}
	}
	if low > high {
		return 1, 10
	}
	return low, high
}
