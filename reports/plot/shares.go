package plot

import (
	"fmt"
	"sort"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Shares is the picture of who got the grants: a bar for each instance, and a
// mark where its share of the requests would have put it.
type Shares struct {
	Title     string
	Instances []Share
}

// Share is one instance in a Shares: parts of all grants and of all requests.
type Share struct {
	Name    string
	Granted float64 // 0..1
	Fair    float64 // 0..1
}

func (s Share) starved() bool { return s.Granted < s.Fair/2 }

// mostBars is how many instances are shown; of more, those that got least of
// their fair share.
const mostBars = 12

// Wide draws the picture for a page of its own.
func (s Shares) Wide() Figure { return s.figure(760, s.Title) }

// Narrow draws it for a column or a phone, without a title.
func (s Shares) Narrow() Figure { return s.figure(narrowWidth, "") }

func (s Shares) figure(width vg.Length, title string) Figure {
	const bar, rest = 24, 86
	bars := s.bars()
	height := vg.Length(bar*max(1, len(bars)) + rest)
	if title != "" {
		height += 21
	}
	return Figure{title: s.Title, width: width, height: height, paint: func(c draw.Canvas) {
		c = draw.Crop(c, 8, -14, 6, -8)
		c = top(c, title, s.legend(bars))
		sharePlot(c, bars)
	}}
}

// bars are the instances to show, in their order.
func (s Shares) bars() []Share {
	if len(s.Instances) <= mostBars {
		return s.Instances
	}
	order := make([]int, len(s.Instances))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool {
		x, y := s.Instances[order[a]], s.Instances[order[b]]
		return x.Granted*y.Fair < y.Granted*x.Fair
	})
	order = order[:mostBars]
	sort.Ints(order)
	var list []Share
	for _, i := range order {
		list = append(list, s.Instances[i])
	}
	return list
}

func (s Shares) legend(bars []Share) []entry {
	list := []entry{{label: "share of the grants", color: series[0], sample: areaSample}}
	for _, b := range bars {
		if b.starved() {
			list = append(list, entry{label: "less than half of a fair share", color: vermilion, sample: areaSample})
			break
		}
	}
	list = append(list, entry{label: "share of the requests", color: text, sample: tickSample})
	if len(bars) < len(s.Instances) {
		list = append(list, entry{label: fmt.Sprintf("%d of %d instances: those that got least", len(bars), len(s.Instances)), sample: noSample})
	}
	return list
}

func sharePlot(c draw.Canvas, bars []Share) {
	p := newPlot("")
	p.Y.Min, p.Y.Max = -0.5, float64(max(1, len(bars)))-0.5
	sty := p.Y.Tick.Label
	var names gonum.ConstantTicks
	most := 0.01
	for i, b := range bars {
		names = append(names, gonum.Tick{Value: float64(len(bars) - 1 - i), Label: fit(b.Name, (c.Max.X-c.Min.X)/3, sty)})
		most = max(most, b.Granted, b.Fair)
	}
	p.Y.Tick.Marker = names
	p.Y.Padding = 10 // room for the label of 0 %, which gonum does not make
	p.X.Min, p.X.Max = 0, min(1, 1.05*most)
	list := ticks(0, 100*p.X.Max, max(2, int((c.Max.X-c.Min.X)/90)), 0)
	for i := range list {
		list[i].Value /= 100
		list[i].Label += " %"
	}
	p.X.Tick.Marker = list
	p.Add(painter(func(c draw.Canvas, p *gonum.Plot) { drawBars(c, p, bars) }))
	p.Draw(c)
}

func drawBars(c draw.Canvas, p *gonum.Plot, bars []Share) {
	for i, b := range bars {
		y := c.Y(p.Y.Norm(float64(len(bars) - 1 - i)))
		right := c.X(p.X.Norm(b.Granted))
		clr := series[0]
		if b.starved() {
			clr = vermilion
		}
		c.SetColor(clr.faded(0.8))
		c.Fill(vg.Rectangle{Min: vg.Point{X: c.Min.X, Y: y - 7}, Max: vg.Point{X: max(right, c.Min.X+1.5), Y: y + 7}}.Path())
		mark := c.X(p.X.Norm(b.Fair))
		c.StrokeLine2(draw.LineStyle{Color: text, Width: 2.5}, mark, y-10, mark, y+10)
	}
}
