package plot

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"bucketproof/reports/quantity"
)

// Footprint is the picture of what buckets cost a server in memory.
type Footprint struct {
	Title string
	Lines []Memory // at most MostLines are drawn
}

// Memory is one limiter in a Footprint: used bytes over buckets.
type Memory struct {
	Name      string
	Measured  []XY
	Predicted []XY    // from smaller numbers of buckets than stand at that place
	Each      float64 // bytes a bucket, the slope; 0: not known
}

// Wide draws the picture for a page of its own.
func (f Footprint) Wide() Figure { return f.figure(760, 350, f.Title) }

// Narrow draws it for a column or a phone.
func (f Footprint) Narrow() Figure { return f.figure(narrowWidth, 310, f.Title) }

func (f Footprint) figure(width, height vg.Length, title string) Figure {
	return Figure{title: f.Title, width: width, height: height, paint: func(c draw.Canvas) {
		c = draw.Crop(c, 8, -14, 6, -8)
		x, y := f.scales()
		drawChart(top(c, title, f.legend()), x, y, f.curves)
	}}
}

func (f Footprint) lines() []Memory { return f.Lines[:min(len(f.Lines), MostLines)] }

func (f Footprint) legend() []entry {
	var list []entry
	predicted := false
	for i, l := range f.lines() {
		name := l.Name
		if l.Each > 0 {
			name += ", " + quantity.Number(l.Each) + " bytes a bucket"
		}
		list = append(list, entry{label: name, color: series[i], sample: pointSample, shape: i})
		predicted = predicted || len(l.Predicted) > 0
	}
	if predicted {
		list = append(list, entry{label: "predicted from fewer", color: muted, sample: hollowSample})
	}
	return list
}

func (f Footprint) scales() (x, y scale) {
	var lists [][]XY
	least := math.Inf(1)
	for _, l := range f.lines() {
		lists = append(lists, l.Measured)
		for _, v := range l.Measured {
			least = min(least, v.Y)
		}
	}
	low, high := extent(lists...)
	most := highest(lists...)
	x, y = scale{name: "buckets", high: 1.06 * high}, scale{name: "memory used", high: 1.08 * max(most, 1), words: bytesLabel}
	if high/low >= wideRange && least > 0 {
		x.low, x.high, x.log = low/1.5, high*1.5, true
		y.low, y.high, y.log = least/1.8, most*1.8, true
	}
	return x, y
}

// bytesLabel is an amount at a tick.
func bytesLabel(v float64) string {
	if v == 0 {
		return "0"
	}
	return quantity.Bytes(v)
}

func (f Footprint) curves(k chart) {
	lines := f.lines()
	for i, l := range lines {
		if l.Each <= 0 {
			continue
		}
		thick := 2 * vg.Length(len(lines)-1-i) // equal lines show behind each other
		sty := draw.LineStyle{Color: series[i].faded(0.7), Width: 1.5 + thick}
		var line []XY
		for n := range 41 { // a line through 0 is none on logarithmic axes
			at := k.x.low + float64(n)/40*(k.x.high-k.x.low)
			if k.x.log {
				at = k.x.low * math.Pow(k.x.high/k.x.low, float64(n)/40)
			}
			line = append(line, XY{at, at * l.Each})
		}
		k.curve(sty, line)
	}
	for i, l := range lines {
		k.marks(series[i], i, false, l.Measured)
		k.rings(series[i], l.Predicted)
	}
}

// rings draws circles around where points were predicted.
func (k chart) rings(clr shade, list []XY) {
	for _, v := range list {
		at := k.point(v.X, v.Y)
		var path vg.Path
		path.Move(vg.Point{X: at.X + 7, Y: at.Y})
		path.Arc(at, 7, 0, 2*math.Pi)
		path.Close()
		k.SetLineStyle(draw.LineStyle{Color: clr, Width: 1.5})
		k.Stroke(path)
	}
}
