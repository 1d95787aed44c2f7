package plot

import (
	"math"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sweep is the picture of a scenario that was run at several points: by how
// much each limiter exceeded the bound, beside what the clocks explain.
type Sweep struct {
	Title     string
	Points    []string    // in order, evenly spaced
	Lines     []SweepLine // at most MostLines are drawn
	Predicted []float64   // tokens that the clocks explain, by point; NaN: not known
}

// SweepLine is one limiter in a Sweep.
type SweepLine struct {
	Name  string
	Peaks []float64 // largest excess of any window in tokens, by point; NaN: not run
}

// Wide draws the picture for a page of its own.
func (s Sweep) Wide() Figure { return s.figure(760, 350, s.Title) }

// Narrow draws it for a column or a phone, without a title.
func (s Sweep) Narrow() Figure { return s.figure(narrowWidth, 290, "") }

func (s Sweep) figure(width, height vg.Length, title string) Figure {
	return Figure{title: s.Title, width: width, height: height, paint: func(c draw.Canvas) {
		c = draw.Crop(c, 8, -14, 6, -8)
		var legend []entry
		for i, line := range s.lines() {
			legend = append(legend, entry{label: line.Name, color: series[i]})
		}
		if s.high(s.Predicted) > 0 {
			legend = append(legend, entry{label: "the clocks explain up to", color: muted, dashes: dashed})
		}
		s.axes(yTitle(top(c, title, legend), "peak excess (tokens over the bound)"))
	}}
}

func (s Sweep) lines() []SweepLine {
	return s.Lines[:min(len(s.Lines), MostLines)]
}

// high is the largest number of a list, 0 at least.
func (s Sweep) high(list []float64) float64 {
	most := 0.0
	for _, v := range list {
		if v > most {
			most = v
		}
	}
	return most
}

func (s Sweep) axes(c draw.Canvas) {
	p := newPlot("")
	most := 0.0
	for _, line := range s.lines() {
		most = max(most, s.high(line.Peaks))
	}
	most = max(most, min(s.high(s.Predicted), 1.5*most)) // what was measured must stay readable
	p.X.Min, p.X.Max = -0.3, float64(len(s.Points))-0.7
	p.Y.Min, p.Y.Max = 0, 1.06*max(most, 1)
	width := (c.Max.X - c.Min.X - 40) / vg.Length(max(1, len(s.Points)))
	every := max(1, int(math.Ceil(float64(s.widest(p.X.Tick.Label)/max(width, 1)))))
	var names gonum.ConstantTicks
	for i, point := range s.Points {
		if i%every == 0 {
			names = append(names, gonum.Tick{Value: float64(i), Label: fit(point, 90, p.X.Tick.Label)})
		}
	}
	p.X.Tick.Marker = names
	p.Y.Tick.Marker = ticks(0, p.Y.Max, max(2, int((c.Max.Y-c.Min.Y-40)/32)), 0)
	p.Add(painter(s.curves))
	p.Draw(c)
}

func (s Sweep) widest(sty draw.TextStyle) vg.Length {
	most := vg.Length(0)
	for _, point := range s.Points {
		most = max(most, sty.Width(fit(point, 90, sty))+10)
	}
	return most
}

func (s Sweep) curves(c draw.Canvas, p *gonum.Plot) {
	s.curve(c, p, s.Predicted, draw.LineStyle{Color: muted, Width: 1.25, Dashes: dashed}, 0)
	lines := s.lines()
	for i, line := range lines {
		thick := vg.Length(len(lines) - 1 - i) // equal lines show behind each other
		s.curve(c, p, line.Peaks, draw.LineStyle{Color: series[i], Width: 2 + thick}, 3.5+thick/2)
	}
}

// curve joins the points that are known, with a dot at each.
func (s Sweep) curve(c draw.Canvas, p *gonum.Plot, values []float64, sty draw.LineStyle, dot vg.Length) {
	var path, dots vg.Path
	var before vg.Point
	for i, v := range values {
		if math.IsNaN(v) {
			continue
		}
		pt := vg.Point{X: c.X(p.X.Norm(float64(i))), Y: c.Y(p.Y.Norm(v))}
		if from, to, seen := below(before, pt, c.Max.Y); seen && before != (vg.Point{}) {
			path.Move(from)
			path.Line(to)
		}
		before = pt
		dots.Move(vg.Point{X: pt.X + dot, Y: pt.Y})
		dots.Arc(pt, dot, 0, 2*math.Pi)
		dots.Close()
	}
	c.SetLineStyle(sty)
	c.Stroke(path)
	if dot > 0 {
		c.SetColor(sty.Color)
		c.Fill(dots)
	}
}

// below cuts a line off where it leaves the picture at the top; seen is false
// when nothing of it is left.
func below(a, b vg.Point, top vg.Length) (from, to vg.Point, seen bool) {
	if a.Y > top && b.Y > top {
		return a, b, false
	}
	cut := func(inside, outside vg.Point) vg.Point {
		part := (top - inside.Y) / (outside.Y - inside.Y)
		return vg.Point{X: inside.X + part*(outside.X-inside.X), Y: top}
	}
	switch {
	case a.Y > top:
		a = cut(b, a)
	case b.Y > top:
		b = cut(a, b)
	}
	return a, b, true
}
