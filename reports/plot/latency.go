package plot

import (
	"math"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"bucketproof/reports/quantity"
)

// Latency is the picture of how long limiters take to answer: response time,
// from the time the schedule wanted a request, and service time, from its
// call. Where the two part, requests had to wait to be sent.
type Latency struct {
	Title string
	Note  string // qualifies every figure in it, shown below the legend
	Lines []Line // at most MostLines
}

// Line is one limiter in a Latency.
type Line struct {
	Name              string
	Response, Service Spectrum
}

// MostLines is how many limiters one picture can tell apart.
const MostLines = 6

// Wide draws the picture for a page of its own.
func (l Latency) Wide() Figure { return l.figure(760, 380, l.Title) }

// Narrow draws it for a column or a phone, without a title.
func (l Latency) Narrow() Figure { return l.figure(narrowWidth, 310, "") }

func (l Latency) figure(width, height vg.Length, title string) Figure {
	return Figure{title: l.Title, width: width, height: height, paint: func(c draw.Canvas) {
		c = draw.Crop(c, 8, -14, 6, -8)
		c = top(c, title, l.legend())
		if l.Note != "" {
			sty := bold(style(labelSize, vermilion))
			for _, line := range lines(l.Note, c.Max.X-c.Min.X, sty) {
				c.FillText(sty, vg.Point{X: c.Min.X, Y: c.Max.Y - labelSize}, line)
				c.Max.Y -= labelSize + 4
			}
			c.Max.Y -= 4
		}
		l.axes(yTitle(c, "latency"))
	}}
}

func (l Latency) legend() []entry {
	var list []entry
	for i, line := range l.lines() {
		list = append(list, entry{label: line.Name, color: series[i]})
	}
	return append(list,
		entry{label: "from the due time", color: muted},
		entry{label: "from the call", color: muted, dashes: dashed})
}

func (l Latency) lines() []Line {
	return l.Lines[:min(len(l.Lines), MostLines)]
}

func (l Latency) axes(c draw.Canvas) {
	p := newPlot("percentile of requests")
	low, high, nines := l.extent()
	p.X.Min, p.X.Max = 0, nines
	p.X.Tick.Marker = percentiles(nines, c.Max.X-c.Min.X)
	p.Y.Min, p.Y.Max = low, high
	p.Y.Tick.Marker = decades(low, high, c.Max.Y-c.Min.Y)
	p.Add(painter(l.curves))
	p.Draw(c)
}

// extent is the range of the axes: logarithms of microseconds, and nines.
func (l Latency) extent() (low, high, nines float64) {
	low, high, nines = math.Inf(1), math.Inf(-1), 1
	for _, line := range l.lines() {
		for _, s := range []Spectrum{line.Response, line.Service} {
			for _, q := range s.Points {
				v := logMicros(q.Micros)
				low, high = min(low, v), max(high, v)
				nines = max(nines, s.rarity(q.Part))
			}
		}
	}
	if low > high {
		return 2, 4, 2
	}
	pad := max(0.05*(high-low), 0.02)
	return low - pad, high + pad, nines
}

// logMicros is the place of a latency on the axis; below a nanosecond it stays
// there.
func logMicros(us float64) float64 {
	return math.Log10(max(us, 1e-3))
}

func (l Latency) curves(c draw.Canvas, p *gonum.Plot) {
	for i, line := range l.lines() {
		c.SetLineStyle(draw.LineStyle{Color: series[i], Width: 1.25, Dashes: dashed})
		c.Stroke(line.Service.path(c, p))
	}
	for i, line := range l.lines() {
		c.SetLineStyle(draw.LineStyle{Color: series[i], Width: 2})
		c.Stroke(line.Response.path(c, p))
	}
}

func (s Spectrum) path(c draw.Canvas, p *gonum.Plot) vg.Path {
	var path vg.Path
	for i, q := range s.Points {
		pt := vg.Point{X: c.X(p.X.Norm(s.rarity(q.Part))), Y: c.Y(p.Y.Norm(logMicros(q.Micros)))}
		if i == 0 {
			path.Move(vg.Point{X: c.X(0), Y: pt.Y})
		}
		path.Line(pt)
	}
	return path
}

// percentiles labels 0, 50, 90, 99, 99.9 … as far as there is data, and room.
func percentiles(nines float64, width vg.Length) gonum.ConstantTicks {
	list := gonum.ConstantTicks{{Value: 0, Label: "0 %"}}
	if float64(width)/nines*0.3 > 30 {
		list = append(list, gonum.Tick{Value: -math.Log10(0.5), Label: "50 %"})
	}
	labels := []string{"90 %", "99 %", "99.9 %", "99.99 %", "99.999 %", "99.9999 %"}
	for i, label := range labels {
		if at := float64(i + 1); at <= nines+1e-9 {
			list = append(list, gonum.Tick{Value: min(at, nines), Label: label}) // gonum makes no room for labels beyond the axis
		}
	}
	return list
}

// decades labels a logarithmic axis of microseconds: powers of ten, and their
// two- and fivefold where there is room.
func decades(low, high float64, height vg.Length) gonum.ConstantTicks {
	var list gonum.ConstantTicks
	factors := []float64{1, 2, 5}
	if (high-low)*3 > float64(height)/24 {
		factors = []float64{1}
	}
	for e := math.Floor(low); e <= high; e++ {
		for _, f := range factors {
			v := e + math.Log10(f)
			if v >= low && v <= high {
				list = append(list, gonum.Tick{Value: v, Label: quantity.Micros(f * math.Pow(10, e))})
			}
		}
	}
	if len(list) == 0 {
		middle := (low + high) / 2
		list = append(list, gonum.Tick{Value: middle, Label: quantity.Micros(math.Pow(10, middle))})
	}
	return list
}
