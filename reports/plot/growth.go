package plot

import (
	"cmp"
	"slices"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// Overshoot is how far the worst window that ends at each instant of a run
// exceeds the bound C + R·d. It holds no operations.
type Overshoot struct {
	steps []overshoot
	end   float64 // seconds
}

type overshoot struct {
	at   float64 // seconds since the first call
	over float64 // tokens, 0 at least
}

// overshoots is how many instants of a run are kept.
const overshoots = 300

// NewOvershoot works the overshoot out, in time proportional to the operations
// (and their sorting). It takes each grant to happen at its return, so that it
// may differ from the verdict of over-admission by the tokens of a few delays.
func NewOvershoot(limit bucket.Limit, ops []history.Operation) Overshoot {
	if len(ops) == 0 {
		return Overshoot{}
	}
	zero, last := ops[0].Call, ops[0].Call
	var grants []history.Operation
	for _, op := range ops {
		zero, last = min(zero, op.Call), max(last, op.Call)
		if op.Outcome == history.Allowed {
			grants = append(grants, op)
			last = max(last, op.Return)
		}
	}
	slices.SortStableFunc(grants, func(a, b history.Operation) int { return cmp.Compare(a.Return, b.Return) })
	o := Overshoot{end: float64(last-zero) / 1e9}
	backlog, since := make(map[string]float64), make(map[string]int64)
	column := -1
	for _, op := range grants {
		elapsed := float64(op.Return-since[op.Key]) / 1e9
		backlog[op.Key] = max(0, backlog[op.Key]-limit.Rate*elapsed) + op.Cost
		since[op.Key] = op.Return
		at, over := float64(op.Return-zero)/1e9, max(0, backlog[op.Key]-limit.Capacity)
		if i := int(overshoots * at / max(o.end, 1e-9)); i != column {
			column = i
			o.steps = append(o.steps, overshoot{at, over})
			continue
		}
		worst := &o.steps[len(o.steps)-1]
		worst.over = max(worst.over, over)
	}
	return o
}

// Empty says whether there is nothing to draw.
func (o Overshoot) Empty() bool { return len(o.steps) == 0 }

// Growth is the picture of an excess that grows as long as the load lasts,
// beside one that does not.
type Growth struct {
	Title string
	Lines []Grown // at most MostLines are drawn
}

// Grown is one limiter in a Growth.
type Grown struct {
	Name      string
	Overshoot Overshoot
	PerSecond float64 // tokens a second that theory says it grows by; NaN: not predicted
}

// Wide draws the picture for a page of its own.
func (g Growth) Wide() Figure { return g.figure(760, 350) }

// Narrow draws it for a column or a phone.
func (g Growth) Narrow() Figure { return g.figure(narrowWidth, 306) }

func (g Growth) figure(width, height vg.Length) Figure {
	return Figure{title: g.Title, width: width, height: height, paint: func(c draw.Canvas) {
		c = draw.Crop(c, 8, -14, 6, -8)
		var legend []entry
		predicted := false
		for i, l := range g.lines() {
			legend = append(legend, entry{label: l.Name, color: series[i]})
			predicted = predicted || l.PerSecond > 0
		}
		if predicted {
			legend = append(legend, entry{label: "predicted", color: muted, dashes: dashed})
		}
		g.axes(yTitle(top(c, g.Title, legend), "tokens over the limit, in the worst window until then"))
	}}
}

func (g Growth) lines() []Grown {
	return g.Lines[:min(len(g.Lines), MostLines)]
}

func (g Growth) axes(c draw.Canvas) {
	end, most := 0.0, 0.0
	for _, l := range g.lines() {
		end = max(end, l.Overshoot.end)
		for _, s := range l.Overshoot.steps {
			most = max(most, s.over)
		}
	}
	scale, unit := timeUnit(max(end, 1e-3) * 1e9)
	p := newPlot("time under load (" + unit + ")")
	p.X.Min, p.X.Max = 0, max(end, 1e-3)
	list := ticks(0, p.X.Max*1e9/scale, max(2, int((c.Max.X-c.Min.X)/75)), 0)
	for i := range list {
		list[i].Value *= scale / 1e9
	}
	p.X.Tick.Marker = list
	p.Y.Min, p.Y.Max = 0, 1.07*max(most, 1)
	p.Y.Tick.Marker = ticks(0, p.Y.Max, max(2, int((c.Max.Y-c.Min.Y-46)/30)), 0)
	p.Add(painter(g.predictions), painter(g.curves))
	p.Draw(c)
}

// predictions draws a line up from 0 for each growth that is predicted.
func (g Growth) predictions(c draw.Canvas, p *gonum.Plot) {
	for _, l := range g.lines() {
		if !(l.PerSecond > 0) {
			continue
		}
		at := min(l.Overshoot.end, p.Y.Max/l.PerSecond)
		c.SetLineStyle(draw.LineStyle{Color: muted, Width: 1.5, Dashes: dashed})
		var path vg.Path
		path.Move(vg.Point{X: c.X(p.X.Norm(0)), Y: c.Y(p.Y.Norm(0))})
		path.Line(vg.Point{X: c.X(p.X.Norm(at)), Y: c.Y(p.Y.Norm(at * l.PerSecond))})
		c.Stroke(path)
	}
}

// curves draws what was measured: the worst so far.
func (g Growth) curves(c draw.Canvas, p *gonum.Plot) {
	for i, l := range g.lines() {
		var path vg.Path
		path.Move(vg.Point{X: c.X(p.X.Norm(0)), Y: c.Y(p.Y.Norm(0))})
		worst := 0.0
		for _, s := range l.Overshoot.steps {
			path.Line(vg.Point{X: c.X(p.X.Norm(s.at)), Y: c.Y(p.Y.Norm(worst))})
			worst = max(worst, s.over)
			path.Line(vg.Point{X: c.X(p.X.Norm(s.at)), Y: c.Y(p.Y.Norm(worst))})
		}
		path.Line(vg.Point{X: c.X(p.X.Norm(min(l.Overshoot.end, p.X.Max))), Y: c.Y(p.Y.Norm(worst))})
		thick := vg.Length(len(g.lines()) - 1 - i) // equal lines show behind each other
		c.SetLineStyle(draw.LineStyle{Color: series[i], Width: 2 + thick/2})
		c.Stroke(path)
	}
}
