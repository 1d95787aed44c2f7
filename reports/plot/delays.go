package plot

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"bucketproof/reports/quantity"
)

// Delays is the picture of how long requests take as more of them are offered:
// percentiles from the due time over the rate, the objective, and where it ends.
type Delays struct {
	Title     string
	Lines     []Delay // at most MostLines are drawn
	Objective float64 // what p99 may be at most, µs; 0: not bounded
}

// Delay is one limiter in a Delays. The curves are in µs over offered requests
// a second, in order of the rate; the points are every step that was tried.
type Delay struct {
	Name           string
	P50, P99, P999 []XY
	Met, Other     []XY    // p99 of the steps that met the objective, and of those that did not
	Knee           float64 // the highest rate that met it, requests a second; 0: none did
	Refused        bool    // what ends there is not the server
}

// Wide draws the picture for a page of its own.
func (d Delays) Wide() Figure { return d.figure(760, 380, d.Title) }

// Narrow draws it for a column or a phone.
func (d Delays) Narrow() Figure { return d.figure(narrowWidth, 340, d.Title) }

func (d Delays) figure(width, height vg.Length, title string) Figure {
	return Figure{title: d.Title, width: width, height: height, paint: func(c draw.Canvas) {
		c = draw.Crop(c, 8, -14, 6, -8)
		x, y := d.scales()
		drawChart(top(c, title, d.legend()), x, y, d.curves)
	}}
}

func (d Delays) lines() []Delay { return d.Lines[:min(len(d.Lines), MostLines)] }

// dotted and the dashes of the package tell percentiles apart.
var dotted = []vg.Length{1.5, 3}

func (d Delays) legend() []entry {
	var list []entry
	other := false
	for i, l := range d.lines() {
		list = append(list, entry{label: l.Name + ", p99", color: series[i], sample: pointSample, shape: i})
		other = other || len(l.Other) > 0
	}
	list = append(list,
		entry{label: "p99.9", color: muted, dashes: dotted},
		entry{label: "p50", color: muted, dashes: dashed})
	if d.Objective > 0 {
		list = append(list, entry{label: "objective: p99 ≤ " + quantity.Micros(d.Objective), color: text})
	}
	if other {
		list = append(list, entry{label: "objective not met", color: muted, sample: hollowSample})
	}
	return list
}

func (d Delays) scales() (x, y scale) {
	low, high := math.Inf(1), 0.0
	var steps [][]XY
	for _, l := range d.lines() {
		steps = append(steps, l.Met, l.Other)
		high = max(high, highest(l.P999, l.P99, l.P50, l.Met, l.Other))
		for _, v := range l.P50 {
			low = min(low, v.Y)
		}
	}
	if d.Objective > 0 {
		low, high = min(low, d.Objective), max(high, d.Objective)
	}
	if low > high || low <= 0 {
		low, high = 100, 10_000
	}
	least, most := extent(steps...)
	pad := 0.07 * max(most-least, 0.1*most)
	x = scale{name: "offered requests per second", low: max(0, least-pad), high: most + pad}
	if least < 0.4*most {
		x.low = 0
	}
	// A strip below everything, for the names of the knees.
	strip := math.Pow(high/low, 0.06+0.07*float64(len(d.lines())))
	return x, scale{name: "latency from the due time", low: low / strip, high: high * 1.3, log: true, words: quantity.Micros}
}

func (d Delays) curves(k chart) {
	d.objective(k)
	lines := d.lines()
	for i, l := range lines {
		d.knee(k, i, l, false)
	}
	for i, l := range lines {
		d.knee(k, i, l, true)
		k.curve(draw.LineStyle{Color: series[i], Width: 1.25, Dashes: dotted}, l.P999)
		k.curve(draw.LineStyle{Color: series[i], Width: 1.25, Dashes: dashed}, l.P50)
		k.curve(draw.LineStyle{Color: series[i], Width: 2}, l.P99)
	}
	for i, l := range lines {
		k.marks(series[i], i, true, l.Other)
		k.marks(series[i], i, false, l.Met)
	}
}

// objective draws what p99 may be.
func (d Delays) objective(k chart) {
	if d.Objective <= 0 {
		return
	}
	at := k.point(0, d.Objective)
	k.StrokeLine2(draw.LineStyle{Color: text, Width: 1.25}, k.Min.X, at.Y, k.Max.X, at.Y)
}

// knee draws where the objective ends for a limiter, named on the side that has
// the room, above those of the limiters before: all lines first, then all names.
func (d Delays) knee(k chart, i int, l Delay, named bool) {
	if l.Knee <= 0 {
		return
	}
	x := k.point(l.Knee, k.y.low).X
	line := draw.LineStyle{Color: series[i], Width: 1.5}
	words := "knee " + quantity.Rate(l.Knee)
	if l.Refused {
		line.Dashes = dashed
		words = "met up to " + quantity.Rate(l.Knee)
	}
	if !named {
		k.StrokeLine2(line, x, k.Min.Y, x, k.Max.Y)
		return
	}
	sty := bold(style(tickSize, text))
	left, width := x+5, sty.Width(words)
	if left+width > k.Max.X {
		left = x - 5 - width
	}
	y := k.Min.Y + 3 + vg.Length(i)*(tickSize+3)
	box := vg.Rectangle{Min: vg.Point{X: left - 2, Y: y - 1}, Max: vg.Point{X: left + width + 2, Y: y + tickSize}}
	k.SetColor(paper)
	k.Fill(box.Path())
	k.FillText(sty, vg.Point{X: left, Y: y + 1}, words)
}
