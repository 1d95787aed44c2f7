package plot

import (
	"fmt"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"bucketproof/reports/quantity"
)

var dashed = []vg.Length{5, 3}

// panel draws one view of a trace: axes and curves.
func (t *Trace) panel(c draw.Canvas, v view) {
	name := "tokens granted"
	if v.zoomed {
		name += ", worst window"
	} else if t.window != nil && len(t.views()) > 1 {
		name += ", whole run"
	}
	c = yTitle(c, name)
	scale, unit := timeUnit(v.to - v.from)
	p := newPlot("time since " + t.zeroWords + " (" + unit + ")")
	offset := 0.0
	if v.zoomed && v.from > 0 {
		offset = float64(t.window.StartNS)
		p.X.Label.Text = fmt.Sprintf("time since the window's start at %s (%s)", quantity.Seconds(offset/1e9), unit)
	}
	p.X.Min, p.X.Max = v.from, v.to
	p.X.Tick.Marker = timeTicks(v, offset, scale, c.Max.X-c.Min.X)
	low, high := t.extent(v)
	rows := len(t.rug())
	room := float64(c.Max.Y-c.Min.Y) - 50 // about the height of the data area
	low -= (high - low) * float64(rows*rugRow+4) / room
	p.Y.Min, p.Y.Max = low, high
	p.Y.Tick.Marker = notBelow(ticks(low, high, max(2, int(room/26)), 1), 0)
	curves := &curves{t: t, v: v}
	p.Add(painter(curves.band), painter(curves.excess), painter(curves.bound),
		painter(curves.ideal), painter(curves.granted), painter(curves.rug))
	p.Draw(c)
}

// extent is the range of the vertical axis, without the rug.
func (t *Trace) extent(v view) (low, high float64) {
	if v.zoomed {
		low = t.granted.through(v.from)
	}
	high = max(t.granted.through(v.to), t.ideal.through(v.to), low+1)
	if b := t.boundAt(v.to); b < 1.5*high-0.5*low {
		high = max(high, b)
	}
	return low, high + 0.04*(high-low)
}

// boundAt is the bound at an instant: over the worst window, counted up from
// what was granted before it, or over the whole run from its first request on.
func (t *Trace) boundAt(at float64) float64 {
	if t.window == nil {
		return t.capacity + t.rate*(at-t.begin)/1e9
	}
	if t.windowed {
		return t.base + t.window.Bound
	}
	return t.base + t.window.Bound + t.rate/float64(t.keys)*(at-float64(t.window.EndNS))/1e9
}

// timeTicks labels the horizontal axis in a unit, counted from an offset.
func timeTicks(v view, offset, scale float64, width vg.Length) gonum.ConstantTicks {
	list := ticks((v.from-offset)/scale, (v.to-offset)/scale, max(2, int(width/75)), 0)
	for i := range list {
		list[i].Value = list[i].Value*scale + offset
	}
	return list
}

func notBelow(list gonum.ConstantTicks, least float64) gonum.ConstantTicks {
	var kept gonum.ConstantTicks
	for _, t := range list {
		if t.Value >= least {
			kept = append(kept, t)
		}
	}
	return kept
}
