package plot

import (
	"math"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"bucketproof/reports/quantity"
)

// excessAlpha lets the grid and the curves be seen through the excess.
const excessAlpha = 0.38

// curves draws what one view shows of a trace. Each method is one layer.
type curves struct {
	t *Trace
	v view
}

// scales turn instants and totals into points of c, kept inside it.
func (k *curves) scales(c draw.Canvas, p *gonum.Plot) (x, y func(float64) vg.Length) {
	x = func(at float64) vg.Length { return min(max(c.X(p.X.Norm(at)), c.Min.X), c.Max.X) }
	y = func(total float64) vg.Length { return min(max(c.Y(p.Y.Norm(total)), c.Min.Y), c.Max.Y) }
	return x, y
}

// count is how many columns a canvas is worth: one for two points.
func count(c draw.Canvas) int {
	return max(20, int((c.Max.X-c.Min.X)/2))
}

// band shades the worst window from top to bottom.
func (k *curves) band(c draw.Canvas, p *gonum.Plot) {
	w := k.t.window
	if w == nil {
		return
	}
	x, _ := k.scales(c, p)
	left, right := x(float64(w.StartNS)), x(float64(w.EndNS))
	right = max(right, left+1)
	c.SetColor(vermilion.faded(0.1))
	c.Fill(vg.Rectangle{Min: vg.Point{X: left, Y: c.Min.Y}, Max: vg.Point{X: right, Y: c.Max.Y}}.Path())
}

// bound draws C + R·t: from the start of the run, or from the start of the
// worst window on. Where windows count it is level, and ends with the window.
func (k *curves) bound(c draw.Canvas, p *gonum.Plot) {
	if k.t.windowed && k.t.window == nil {
		return
	}
	x, y := k.scales(c, p)
	line := draw.LineStyle{Color: text, Width: 1.5}
	from := max(k.t.begin, k.v.from)
	var path vg.Path
	if w := k.t.window; w != nil {
		from = float64(w.StartNS)
		path.Move(vg.Point{X: x(from), Y: y(k.t.base)})
		path.Line(vg.Point{X: x(from), Y: y(k.t.boundAt(from))})
	} else {
		path.Move(vg.Point{X: x(from), Y: y(k.t.boundAt(from))})
	}
	to := k.v.to
	if k.t.windowed {
		to = min(to, float64(k.t.window.EndNS))
	}
	if top := p.Y.Max; k.t.boundAt(to) > top { // leaves the picture earlier
		rate := (k.t.boundAt(to) - k.t.boundAt(from)) / (to - from)
		to = from + (top-k.t.boundAt(from))/rate
	}
	if to > from {
		path.Line(vg.Point{X: x(to), Y: y(k.t.boundAt(to))})
	}
	c.SetLineStyle(line)
	c.Stroke(path)
}

// ideal draws what a perfect bucket grants to the same requests.
func (k *curves) ideal(c draw.Canvas, p *gonum.Plot) {
	if k.t.windowed {
		return
	}
	c.SetLineStyle(draw.LineStyle{Color: muted, Width: 1.25, Dashes: dashed})
	c.Stroke(k.stairs(c, p, k.t.ideal))
}

// stairs is a staircase as a path.
func (k *curves) stairs(c draw.Canvas, p *gonum.Plot, s staircase) vg.Path {
	x, y := k.scales(c, p)
	total := s.through(k.v.from)
	var path vg.Path
	path.Move(vg.Point{X: x(max(k.v.from, 0)), Y: y(total)})
	for _, col := range s.columns(k.v.from, k.v.to, count(c), 0) {
		path.Line(vg.Point{X: x(col.at), Y: y(total)})
		total = col.total
		path.Line(vg.Point{X: x(col.at), Y: y(total)})
	}
	path.Line(vg.Point{X: x(min(k.v.to, k.t.end)), Y: y(total)})
	return path
}

// granted draws the total, its rises in the colours of the instances that the
// tokens went to.
func (k *curves) granted(c draw.Canvas, p *gonum.Plot) {
	if len(k.t.instances) == 0 {
		c.SetLineStyle(draw.LineStyle{Color: series[0], Width: 2})
		c.Stroke(k.stairs(c, p, k.t.granted))
		return
	}
	x, y := k.scales(c, p)
	total, who, since := k.t.granted.through(k.v.from), 0, max(k.v.from, 0)
	paths := make([]vg.Path, len(k.t.instances))
	cols := k.t.granted.columns(k.v.from, k.v.to, count(c), len(paths))
	for n, col := range cols {
		if n > 0 { // level in the colour of the last who rose
			paths[who].Move(vg.Point{X: x(since), Y: y(total)})
			paths[who].Line(vg.Point{X: x(col.at), Y: y(total)})
		}
		since = col.at
		for i, part := range col.parts {
			if part > 0 {
				paths[i].Move(vg.Point{X: x(col.at), Y: y(total)})
				paths[i].Line(vg.Point{X: x(col.at), Y: y(total + part)})
				total += part
				who = i
			}
		}
		total = col.total
	}
	if len(cols) > 0 {
		paths[who].Move(vg.Point{X: x(since), Y: y(total)})
		paths[who].Line(vg.Point{X: x(min(k.v.to, k.t.end)), Y: y(total)})
	}
	for i, path := range paths {
		c.SetLineStyle(draw.LineStyle{Color: series[i], Width: 2.2})
		c.Stroke(path)
	}
}

// excess fills the area between the bound of the worst window and the total
// above it.
func (k *curves) excess(c draw.Canvas, p *gonum.Plot) {
	w := k.t.window
	if w == nil {
		return
	}
	x, y := k.scales(c, p)
	from, to := float64(w.StartNS), float64(w.EndNS)
	total := k.t.granted.through(from)
	var path vg.Path
	path.Move(vg.Point{X: x(from), Y: y(k.t.boundAt(from))})
	tread := func(at float64) { // the total stays as it is until at, and the bound may overtake it
		if cross := k.crossing(total); cross > from && cross < at {
			path.Line(vg.Point{X: x(cross), Y: y(total)})
		}
		path.Line(vg.Point{X: x(at), Y: y(max(total, k.t.boundAt(at)))})
	}
	for _, col := range k.t.granted.columns(from, to, count(c), 0) {
		tread(col.at)
		total = col.total
		path.Line(vg.Point{X: x(col.at), Y: y(max(total, k.t.boundAt(col.at)))})
	}
	tread(to)
	path.Line(vg.Point{X: x(to), Y: y(k.t.boundAt(to))})
	path.Close()
	c.SetColor(vermilion.faded(excessAlpha))
	c.Fill(path)
	k.measure(c, p)
}

// measure writes the excess into its area, as near to the window's end as there
// is room between the bound and the total.
func (k *curves) measure(c draw.Canvas, p *gonum.Plot) {
	w := k.t.window
	x, y := k.scales(c, p)
	start, end := float64(w.StartNS), float64(w.EndNS)
	sty := bold(style(labelSize, text))
	words := quantity.Number(w.Granted-w.Bound) + " too many"
	width := sty.Width(words) + 10
	instant := func(x vg.Length) float64 {
		return k.v.from + float64((x-c.Min.X)/(c.Max.X-c.Min.X))*(k.v.to-k.v.from)
	}
	for _, part := range []float64{0, 0.05, 0.15, 0.3, 0.5} {
		right := x(end - part*(end-start))
		left := right - width
		if left < x(start) {
			return
		}
		low, high := y(k.t.boundAt(instant(right))), y(k.t.granted.through(instant(left)))
		if high-low > labelSize+7 {
			c.FillText(sty, vg.Point{X: left + 5, Y: (high+low)/2 - labelSize*0.36}, words)
			return
		}
	}
}

// crossing is when the bound reaches a total.
func (k *curves) crossing(total float64) float64 {
	start := float64(k.t.window.StartNS)
	rate := k.t.rate / float64(k.t.keys)
	if rate <= 0 {
		return math.Inf(1)
	}
	return start + (total-k.t.boundAt(start))/rate*1e9
}
