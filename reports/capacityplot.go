package reports

import (
	"cmp"
	"math"
	"slices"

	"bucketproof/reports/plot"
	"bucketproof/scenarios/capacity"
)

// capacityPages are the pictures of capacity, all limiters in each.
func capacityPages(r *Report) []page {
	var pages []page
	add := func(name string, big bool, wide, narrow plot.Figure) {
		pages = append(pages, page{name: name + "-capacity", capacity: true, big: big, figure: wide, narrow: &narrow})
	}
	for n := 0; n < len(r.Capacity); n += plot.MostLines {
		part := r.Capacity[n:min(len(r.Capacity), n+plot.MostLines)]
		suffix := ""
		if n > 0 {
			suffix = "-" + string(rune('1'+n/plot.MostLines))
		}
		if t := newThroughput(part); len(t.Lines) > 0 {
			add("throughput"+suffix, true, t.Wide(), t.Narrow())
		}
		plain := func(c capacity.Result) *capacity.Knee { return &c.Knee }
		if d := newDelays("Latency as the load grows", part, plain); len(d.Lines) > 0 {
			add("latency"+suffix, false, d.Wide(), d.Narrow())
		}
		pipelined := func(c capacity.Result) *capacity.Knee { return c.Pipelined }
		if d := newDelays("Latency as the load grows, pipelined", part, pipelined); len(d.Lines) > 0 {
			add("latency-pipelined"+suffix, false, d.Wide(), d.Narrow())
		}
		if f := newFootprint(part); len(f.Lines) > 0 {
			add("memory"+suffix, false, f.Wide(), f.Narrow())
		}
	}
	return pages
}

func newThroughput(list []capacity.Result) plot.Throughput {
	t := plot.Throughput{Title: "Throughput as more callers ask"}
	for _, c := range list {
		line := plot.Scaling{Name: c.Limiter, Doubted: c.USL.Why != ""}
		for _, l := range c.Connections {
			pt := plot.XY{X: float64(l.N), Y: l.ThroughputPS}
			if l.Pipelined {
				line.Pipelined = append(line.Pipelined, pt)
			} else {
				line.Plain = append(line.Plain, pt)
			}
		}
		if len(line.Plain)+len(line.Pipelined) == 0 {
			continue
		}
		if curve := c.Curve(); curve != nil && len(line.Plain) > 0 {
			line.Law, line.Low, line.High = drawn(curve, line.Plain)
		}
		t.Lines = append(t.Lines, line)
	}
	return t
}

// drawn is a fitted curve with its band, over the callers that were measured.
func drawn(curve *capacity.Curve, measured []plot.XY) (law, low, high []plot.XY) {
	by := func(a, b plot.XY) int { return cmp.Compare(a.X, b.X) }
	least, most := slices.MinFunc(measured, by).X, slices.MaxFunc(measured, by).X
	const steps = 60
	for i := range steps + 1 {
		n := least * math.Pow(most/least, float64(i)/steps)
		band := curve.Band(n)
		law = append(law, plot.XY{X: n, Y: curve.At(n)})
		low, high = append(low, plot.XY{X: n, Y: band.Low}), append(high, plot.XY{X: n, Y: band.High})
	}
	return law, low, high
}

// newDelays draws the search for a knee of each limiter that has one.
func newDelays(title string, list []capacity.Result, kneeOf func(capacity.Result) *capacity.Knee) plot.Delays {
	d := plot.Delays{Title: title}
	for _, c := range list {
		k := kneeOf(c)
		if k == nil || len(k.Steps) == 0 {
			continue
		}
		if limit := allowed(k.SLO); limit > 0 {
			d.Objective = limit
		}
		line := plot.Delay{
			Name: c.Limiter, Knee: k.MetPS, Refused: k.RatePS == nil,
			P50:  medians(k.Steps, func(s capacity.Step) float64 { return s.P50US }),
			P99:  medians(k.Steps, func(s capacity.Step) float64 { return s.P99US }),
			P999: medians(k.Steps, func(s capacity.Step) float64 { return s.P999US }),
		}
		if k.RatePS != nil {
			line.Knee = *k.RatePS
		}
		for _, s := range k.Steps {
			pt := plot.XY{X: s.RatePS, Y: s.P99US}
			if s.Verdict == "met" {
				line.Met = append(line.Met, pt)
			} else {
				line.Other = append(line.Other, pt)
			}
		}
		d.Lines = append(d.Lines, line)
	}
	return d
}

// medians is a figure over the rate: the lower median of the steps at each rate,
// in order; steps without an answer are left out.
func medians(steps []capacity.Step, of func(capacity.Step) float64) []plot.XY {
	at := make(map[float64][]float64)
	for _, s := range steps {
		if v := of(s); v > 0 {
			at[s.RatePS] = append(at[s.RatePS], v)
		}
	}
	var list []plot.XY
	for rate, values := range at {
		slices.Sort(values)
		list = append(list, plot.XY{X: rate, Y: values[(len(values)-1)/2]})
	}
	slices.SortFunc(list, func(a, b plot.XY) int { return cmp.Compare(a.X, b.X) })
	return list
}

func newFootprint(list []capacity.Result) plot.Footprint {
	f := plot.Footprint{Title: "Memory as more buckets live"}
	for _, c := range list {
		line := plot.Memory{Name: c.Limiter, Each: c.Memory.BytesPerKey}
		for _, p := range c.Memory.Points {
			line.Measured = append(line.Measured, plot.XY{X: float64(p.Keys), Y: p.UsedBytes})
			if p.Predicted > 0 {
				line.Predicted = append(line.Predicted, plot.XY{X: float64(p.Keys), Y: p.Predicted})
			}
		}
		if len(line.Measured) > 0 {
			f.Lines = append(f.Lines, line)
		}
	}
	return f
}
