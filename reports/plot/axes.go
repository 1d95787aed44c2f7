package plot

import (
	"math"
	"strconv"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"bucketproof/reports/quantity"
)

// newPlot is an empty plot in the style of this package: a line below, faint
// lines across, no frame.
func newPlot(xLabel string) *gonum.Plot {
	p := gonum.New()
	p.BackgroundColor = nil
	p.TextHandler = letters
	p.Title.TextStyle.Handler = letters
	for _, axis := range []*gonum.Axis{&p.X, &p.Y} {
		axis.Padding = 0
		axis.Label.TextStyle = style(labelSize, muted)
		axis.Label.TextStyle.XAlign = draw.XCenter
		axis.Tick.Label = style(tickSize, muted)
		axis.LineStyle = draw.LineStyle{Color: rule, Width: 1}
		axis.Tick.LineStyle = draw.LineStyle{Color: rule, Width: 1}
		axis.Tick.Length = 4
	}
	p.X.Label.Text = xLabel
	p.X.Label.Padding = 2
	p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XCenter, draw.YTop
	p.Y.Tick.Label.XAlign, p.Y.Tick.Label.YAlign = draw.XRight, draw.YCenter
	p.Y.Tick.Length = 0
	p.Y.LineStyle.Width = 0
	p.Add(across{})
	return p
}

// across draws a faint line at every labelled tick of the vertical axis.
type across struct{}

// Plot implements gonum's Plotter.
func (across) Plot(c draw.Canvas, p *gonum.Plot) {
	var path vg.Path
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if t.IsMinor() || t.Value < p.Y.Min || t.Value > p.Y.Max {
			continue
		}
		y := c.Y(p.Y.Norm(t.Value))
		path.Move(vg.Point{X: c.Min.X, Y: y})
		path.Line(vg.Point{X: c.Max.X, Y: y})
	}
	c.SetLineStyle(draw.LineStyle{Color: grid, Width: 1})
	c.Stroke(path)
}

// painter is a gonum Plotter that is one function.
type painter func(c draw.Canvas, p *gonum.Plot)

// Plot implements gonum's Plotter.
func (f painter) Plot(c draw.Canvas, p *gonum.Plot) { f(c, p) }

// ticks are at most n+1 round numbers from low to high, at steps of 1, 2 or 5
// times a power of ten. least is the smallest step, 0 for any.
func ticks(low, high float64, n int, least float64) gonum.ConstantTicks {
	span := high - low
	if !(span > 0) || math.IsInf(span, 0) || n < 1 {
		return gonum.ConstantTicks{{Value: low, Label: quantity.Number(low)}}
	}
	first := func(step float64) float64 { return math.Ceil(low/step - 1e-9) }
	last := func(step float64) float64 { return math.Floor(high/step + 1e-9) }
	power := math.Pow(10, math.Floor(math.Log10(span/float64(n))))
	step := power
	for _, f := range []float64{1, 2, 5, 10, 20} {
		if step = power * f; last(step)-first(step) <= float64(n) {
			break
		}
	}
	step = max(step, least)
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	var list gonum.ConstantTicks
	for i := first(step); i <= last(step); i++ {
		value := i*step + 0 // never −0
		list = append(list, gonum.Tick{Value: value, Label: tickLabel(value, decimals)})
	}
	return list
}

// tickLabel writes every tick of an axis with the same decimals.
func tickLabel(v float64, decimals int) string {
	if decimals == 0 && math.Abs(v) < 1e15 {
		return quantity.Count(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// timeUnit is the unit for an axis that spans so many nanoseconds.
func timeUnit(span float64) (scale float64, name string) {
	switch {
	case span < 2e3:
		return 1, "ns"
	case span < 2e6:
		return 1e3, "µs"
	case span < 2e9:
		return 1e6, "ms"
	case span < 300e9:
		return 1e9, "s"
	}
	return 60e9, "min"
}
