package plot

import (
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Throughput is the picture of how many decisions limiters make as more callers
// ask: what was measured, plain and pipelined, and the law fitted to the former.
type Throughput struct {
	Title string
	Lines []Scaling // at most MostLines are drawn
}

// Scaling is one limiter in a Throughput: decisions a second over callers.
type Scaling struct {
	Name             string
	Plain, Pipelined []XY // measured, by callers
	Law, Low, High   []XY // the fitted curve and its band, over the same callers; empty: no fit
	Doubted          bool // the fit is not to be trusted, and drawn faintly
}

// Wide draws the picture for a page of its own.
func (t Throughput) Wide() Figure { return t.figure(760, 380, t.Title) }

// Narrow draws it for a column or a phone.
func (t Throughput) Narrow() Figure { return t.figure(narrowWidth, 330, t.Title) }

func (t Throughput) figure(width, height vg.Length, title string) Figure {
	return Figure{title: t.Title, width: width, height: height, paint: func(c draw.Canvas) {
		c = draw.Crop(c, 8, -14, 6, -8)
		x, y := t.scales()
		drawChart(top(c, title, t.legend()), x, y, t.curves)
	}}
}

func (t Throughput) lines() []Scaling { return t.Lines[:min(len(t.Lines), MostLines)] }

func (t Throughput) legend() []entry {
	var list []entry
	law, doubted, pipelined := false, false, false
	for i, l := range t.lines() {
		list = append(list, entry{label: l.Name, color: series[i], sample: pointSample, shape: i})
		law, pipelined = law || len(l.Law) > 0, pipelined || len(l.Pipelined) > 0
		doubted = doubted || l.Doubted && len(l.Law) > 0
	}
	if law {
		list = append(list,
			entry{label: "fitted law", color: muted},
			entry{label: "its 95 % band", color: muted, sample: areaSample})
	}
	if doubted {
		list = append(list, entry{label: "not to be trusted", color: muted.faded(0.4)})
	}
	if pipelined {
		list = append(list, entry{label: "pipelined", color: muted, sample: hollowSample, dashes: dashed})
	}
	return list
}

func (t Throughput) scales() (x, y scale) {
	var lists [][]XY
	var callers []float64
	most := 0.0
	for _, l := range t.lines() {
		lists = append(lists, l.Plain, l.Pipelined)
		for _, v := range slices.Concat(l.Plain, l.Pipelined) {
			if !slices.Contains(callers, v.X) {
				callers = append(callers, v.X)
			}
		}
		most = max(most, highest(l.Plain, l.Pipelined, l.Law))
	}
	slices.Sort(callers)
	low, high := extent(lists...)
	x = scale{name: "callers that each wait for their answer", low: low / 1.15, high: high * 1.15, log: true, at: callers}
	if most <= 0 {
		most = 1
	}
	return x, scale{name: "decisions per second", high: 1.06 * most}
}

func (t Throughput) curves(k chart) {
	lines := t.lines()
	for i, l := range lines {
		k.band(series[i].faded(0.15), l.Low, l.High)
	}
	for i, l := range lines {
		law := draw.LineStyle{Color: series[i], Width: 2}
		if l.Doubted {
			law.Color = series[i].faded(0.4)
		}
		k.curve(law, l.Law)
		k.curve(draw.LineStyle{Color: series[i], Width: 1.25, Dashes: dashed}, l.Pipelined)
	}
	for i, l := range lines {
		k.marks(series[i], i, true, l.Pipelined)
		k.marks(series[i], i, false, l.Plain)
	}
}
