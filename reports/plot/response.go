package plot

import (
	"math"
	"slices"
	"strings"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"bucketproof/reports/quantity"
)

// Response is the picture of how limiters answer a disturbance as it grows:
// what was measured at each size, beside what theory says.
type Response struct {
	Title  string
	Panels []Panel // side by side, or below each other where it is narrow
}

// Panel is one pair of axes in a Response.
type Panel struct {
	Name     string // of the panel; "" where there is one
	X, Y     string // names of the axes, with units
	SizeUnit string // of the sizes, for their labels: s, ppm, …
	Part     bool   // the figures are parts of one, shown in percent
	Lines    []Answer
	Fair     float64 // a level to compare with, NaN or 0 for none
}

// Answer is one limiter in a Response, its points by size.
type Answer struct {
	Name   string
	Points []Point
}

// Point is a figure at a size of the disturbance.
type Point struct {
	Size      float64
	Measured  float64 // NaN: nothing was measured, or it was not decided
	Predicted float64 // NaN: not predicted
	Tolerance float64
	Outside   bool // of the prediction
}

// Wide draws the picture for a page of its own.
func (r Response) Wide() Figure {
	return r.figure(760, 350, r.Title, false)
}

// Narrow draws it for a column or a phone.
func (r Response) Narrow() Figure {
	return r.figure(narrowWidth, 56+250*vg.Length(max(1, len(r.Panels))), r.Title, true)
}

func (r Response) figure(width, height vg.Length, title string, stacked bool) Figure {
	return Figure{title: r.Title, width: width, height: height, paint: func(c draw.Canvas) {
		c = draw.Crop(c, 8, -14, 6, -8)
		c = top(c, title, r.legend())
		const gap = 28
		n := vg.Length(max(1, len(r.Panels)))
		for i, p := range r.Panels {
			part := c
			if stacked {
				each := (c.Max.Y - c.Min.Y - gap/2*(n-1)) / n
				part.Max.Y = c.Max.Y - vg.Length(i)*(each+gap/2)
				part.Min.Y = part.Max.Y - each
			} else {
				each := (c.Max.X - c.Min.X - gap*(n-1)) / n
				part.Min.X = c.Min.X + vg.Length(i)*(each+gap)
				part.Max.X = part.Min.X + each
			}
			p.draw(part, r.names())
		}
	}}
}

// names are the limiters of all panels, which have the same colours in each.
func (r Response) names() []string {
	var list []string
	for _, p := range r.Panels {
		for _, l := range p.Lines {
			if !slices.Contains(list, l.Name) && len(list) < MostLines {
				list = append(list, l.Name)
			}
		}
	}
	return list
}

func (r Response) legend() []entry {
	var list []entry
	for i, name := range r.names() {
		list = append(list, entry{label: name, color: series[i], sample: pointSample, shape: i})
	}
	predicted, outside, fair := false, false, false
	for _, p := range r.Panels {
		fair = fair || p.Fair > 0
		for _, l := range p.Lines {
			for _, pt := range l.Points {
				predicted = predicted || !math.IsNaN(pt.Predicted)
				outside = outside || pt.Outside
			}
		}
	}
	if predicted {
		list = append(list, entry{label: "predicted", color: muted, dashes: dashed})
	}
	if fair {
		list = append(list, entry{label: "a fair share", color: text})
	}
	if outside {
		list = append(list, entry{label: "outside the prediction", color: vermilion, sample: ringSample})
	}
	return list
}

// draw draws one pair of axes.
func (p Panel) draw(c draw.Canvas, names []string) {
	name := p.Y
	if p.Name != "" {
		name = p.Name + ": " + name
	}
	c = yTitle(c, name)
	g := newPlot(p.X)
	s := p.sizes()
	pad := 0.06*s.span() + 1e-9
	g.X.Min, g.X.Max = s.low()-pad, s.high()+pad
	v := p.values()
	g.Y.Min, g.Y.Max = v.extent()
	width := c.Max.X - c.Min.X - 50
	g.X.Tick.Marker = s.ticks(width, g.X.Max-g.X.Min, p.SizeUnit, g.X.Tick.Label)
	g.Y.Tick.Marker = v.ticks(c.Max.Y-c.Min.Y-46, p.Part)
	b := answers{panel: p, names: names, sizes: s, values: v}
	g.Add(painter(b.fair), painter(b.predictions), painter(b.measured))
	g.Draw(c)
}

// sizes is the horizontal axis: logarithmic where the largest size is many
// times the smallest, and then 0 stands apart on the left.
type sizes struct {
	list []float64 // each once, in order
	log  bool
}

// wideRange is from which ratio on an axis is logarithmic.
const wideRange = 20

func (p Panel) sizes() sizes {
	var s sizes
	for _, l := range p.Lines {
		for _, pt := range l.Points {
			if !slices.Contains(s.list, pt.Size) {
				s.list = append(s.list, pt.Size)
			}
		}
	}
	slices.Sort(s.list)
	if len(s.list) > 0 && s.list[0] >= 0 {
		if least := s.least(); least > 0 {
			s.log = s.list[len(s.list)-1]/least >= wideRange
		}
	}
	return s
}

// least is the smallest size above 0; 0 when there is none.
func (s sizes) least() float64 {
	for _, v := range s.list {
		if v > 0 {
			return v
		}
	}
	return 0
}

// at is the place of a size on the axis.
func (s sizes) at(size float64) float64 {
	switch {
	case !s.log:
		return size
	case size <= 0:
		least, most := math.Log10(s.least()), math.Log10(s.list[len(s.list)-1])
		return least - max(0.3, 0.18*(most-least))
	}
	return math.Log10(size)
}

func (s sizes) low() float64 {
	if len(s.list) == 0 {
		return 0
	}
	return s.at(s.list[0])
}

func (s sizes) high() float64 {
	if len(s.list) == 0 {
		return 1
	}
	return s.at(s.list[len(s.list)-1])
}

// span is the length of the axis, never 0.
func (s sizes) span() float64 {
	if d := s.high() - s.low(); d > 0 {
		return d
	}
	return max(1, math.Abs(s.high()))
}

// ticks labels the sizes that were measured, from the largest down as far as
// there is room between them.
func (s sizes) ticks(width vg.Length, span float64, unit string, sty draw.TextStyle) gonum.ConstantTicks {
	var list gonum.ConstantTicks
	free := math.Inf(1) // left end of the label to the right
	for _, size := range slices.Backward(s.list) {
		label := fit(sizeLabel(size, unit), longestSize, sty)
		half := float64(sty.Width(label))/2 + 3
		x := (s.at(size) - s.low()) / span * float64(width)
		if x+half > free {
			label = ""
		} else {
			free = x - half
		}
		list = append(list, gonum.Tick{Value: s.at(size), Label: label})
	}
	slices.Reverse(list)
	return list
}

// longestSize is the room for the label of a size.
const longestSize = 72

func sizeLabel(size float64, unit string) string {
	switch unit {
	case "s":
		return quantity.Seconds(size)
	case "":
		return quantity.Number(size)
	}
	return strings.TrimSpace(quantity.Number(size) + " " + visible(unit))
}

// values is the vertical axis: logarithmic where one limiter's figures are many
// times those of the others, and then all that is below 1 lies on its ground.
type values struct {
	most float64
	log  bool
}

func (p Panel) values() values {
	v := values{most: p.Fair}
	if math.IsNaN(v.most) {
		v.most = 0
	}
	smallest := math.Inf(1) // of the peaks that can be seen
	for _, l := range p.Lines {
		peak := 0.0
		for _, pt := range l.Points {
			if !math.IsNaN(pt.Measured) {
				peak = max(peak, pt.Measured)
			}
		}
		if peak > 1 {
			smallest = min(smallest, peak)
		}
		v.most = max(v.most, peak)
	}
	for _, l := range p.Lines { // what was measured must stay readable
		for _, pt := range l.Points {
			if reach := pt.Predicted + pt.Tolerance; pt.Predicted <= roomy*v.most {
				v.most = max(v.most, min(reach, roomy*v.most))
			}
		}
	}
	v.log = !p.Part && v.most/smallest >= wideRange
	return v
}

// roomy is how much higher than what was measured an axis may reach for what
// was predicted.
const roomy = 1.3

// at is the place of a figure on the axis.
func (v values) at(value float64) float64 {
	if v.log {
		return math.Log10(max(value, 1))
	}
	return max(value, 0)
}

func (v values) extent() (low, high float64) {
	most := v.most
	if most <= 0 {
		most = 1
	}
	return 0, v.at(most) * 1.07
}

func (v values) ticks(height vg.Length, part bool) gonum.ConstantTicks {
	_, high := v.extent()
	switch {
	case v.log:
		list := gonum.ConstantTicks{{Value: 0, Label: "≤ 1"}}
		for e := 1.0; e <= high; e++ {
			list = append(list, gonum.Tick{Value: e, Label: quantity.Number(math.Pow(10, e))})
		}
		return list
	case part:
		list := ticks(0, 100*high, max(2, int(height/30)), 0)
		for i := range list {
			list[i].Value /= 100
			list[i].Label += " %"
		}
		return list
	}
	return ticks(0, high, max(2, int(height/30)), 0)
}
