package plot

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
	"bucketproof/reports/quantity"
)

// Envelope is the picture of this project: tokens granted over time, against
// what an ideal bucket grants to the same requests and against the bound
// C + R·t that no window may exceed.
type Envelope struct {
	Title      string
	Limit      bucket.Limit
	Contract   bucket.Contract     // one that counts in windows has no bound but in the worst window, and no ideal curve
	Operations []history.Operation // in order of call; of one key, or of all
	Instances  []string            // two to five of them are told apart by colour
	Window     *Window             // of the worst over-admission; nil: none
}

// Window is a stretch of time with more tokens than its bound, on the clock of
// the operations.
type Window struct {
	StartNS, EndNS int64
	Granted, Bound float64 // tokens
}

// mostColours is how many instances are told apart.
const mostColours = 5

// Trace is an envelope worked out and ready to be drawn in several sizes. It
// holds no operations.
type Trace struct {
	title     string
	windowed  bool    // the contract counts in windows
	rate      float64 // of all keys together
	capacity  float64
	keys      int
	instances []string
	window    *Window // on the trace's clock
	zeroWords string  // what time 0 is
	begin     float64 // ns, of the first call
	end       float64 // ns, of the last event

	granted, denied, lost, ideal staircase

	// base is what the total was before the grants of the worst window. It is
	// taken at the window's end, so that the distance there between total and
	// bound is the excess: grants in flight when the window opened are not
	// among those that it surely holds.
	base float64
}

// Trace works out the curves, in time proportional to the operations (and
// their sorting).
func (e Envelope) Trace() *Trace {
	t := &Trace{title: e.Title, instances: e.Instances, zeroWords: "the start of the run"}
	if len(t.instances) < 2 || len(t.instances) > mostColours {
		t.instances = nil
	}
	r := recorded{ops: e.Operations, index: make(map[string]int)}
	for i, name := range t.instances {
		r.index[name] = i
	}
	keys := make(map[string]bool)
	first, last := int64(0), int64(0)
	for i, op := range e.Operations {
		keys[op.Key] = true
		if i == 0 {
			first = op.Call
		}
		last = max(last, op.Call)
		if op.Return != history.Forever {
			last = max(last, op.Return)
		}
	}
	if first > 4*(last-first) || first < 0 { // another program's clock
		r.zero, t.zeroWords = first, "the first request"
	}
	t.begin, t.end = float64(first-r.zero), float64(last-r.zero)
	t.keys = max(1, len(keys))
	t.rate, t.capacity = e.Limit.Rate*float64(t.keys), e.Limit.Capacity*float64(t.keys)
	t.granted, t.denied, t.lost = r.granted(), r.denied(), r.lost()
	if t.windowed = e.Contract.Windowed(); !t.windowed {
		t.ideal = r.ideal(e.Limit)
	}
	if e.Window != nil {
		w := *e.Window
		w.StartNS, w.EndNS = w.StartNS-r.zero, w.EndNS-r.zero
		t.window = &w
		t.base = t.granted.through(float64(w.EndNS)) - w.Granted
	}
	return t
}

// Wide draws the trace for a page of its own: the whole run, and beside it the
// worst window where that is short.
func (t *Trace) Wide() Figure {
	return t.figure(760, 350, t.title, t.views())
}

// Untitled is Wide without its title, to stand below a heading.
func (t *Trace) Untitled() Figure {
	return t.figure(760, 330, "", t.views())
}

// Narrow draws the trace for a column or a phone, without a title: the worst
// window, or the whole run where there is none.
func (t *Trace) Narrow() Figure {
	views := t.views()
	return t.figure(narrowWidth, 280, "", views[len(views)-1:])
}

// narrowWidth is about that of a phone held upright.
const narrowWidth = 356

func (t *Trace) figure(width, height vg.Length, title string, views []view) Figure {
	return Figure{title: t.title, width: width, height: height, paint: func(c draw.Canvas) {
		c = draw.Crop(c, 8, -12, 6, -8)
		c = top(c, title, t.legend(views))
		const gap = 24
		each := (c.Max.X - c.Min.X - gap*vg.Length(len(views)-1)) / vg.Length(len(views))
		for i, v := range views {
			part := c
			part.Min.X = c.Min.X + (each+gap)*vg.Length(i)
			part.Max.X = part.Min.X + each
			t.panel(part, v)
		}
	}}
}

// view is a stretch of time to draw.
type view struct {
	from, to float64 // ns on the trace's clock
	zoomed   bool    // on the worst window
}

// views are the whole run and, where the worst window is short in it, that
// window with some air around it.
func (t *Trace) views() []view {
	whole := view{to: max(t.end, 1)}
	if t.begin > 0.05*t.end { // idle before the first request: nothing to see
		whole.from = t.begin - 0.02*(t.end-t.begin)
	}
	if t.window == nil {
		return []view{whole}
	}
	start, end := float64(t.window.StartNS), float64(t.window.EndNS)
	length := max(end-start, 1e3)
	if length > 0.3*t.end {
		return []view{whole}
	}
	from := max(start-0.25*length, -0.03*length) // nothing happened before 0
	return []view{whole, {from: from, to: end + 0.35*length, zoomed: true}}
}

func (t *Trace) legend(views []view) []entry {
	var list []entry
	for i, name := range t.instances {
		list = append(list, entry{label: "granted to " + name, color: series[i], sample: lineSample})
	}
	if len(list) == 0 {
		list = append(list, entry{label: "granted", color: series[0]})
	}
	if !t.windowed {
		list = append(list, entry{label: "ideal bucket", color: muted, dashes: dashed})
	}
	switch {
	case t.window != nil:
		list = append(list, entry{label: "bound in the worst window", color: text})
	case !t.windowed:
		list = append(list, entry{label: t.boundWords(), color: text})
	}
	if len(t.denied) > 0 {
		words := "denied"
		if len(t.instances) > 0 {
			words = "denied, a row each"
		}
		list = append(list, entry{label: words, color: rule, sample: rugSample})
	}
	if len(t.lost) > 0 {
		list = append(list, entry{label: "no answer", color: text, sample: rugSample})
	}
	if t.window != nil {
		list = append(list, entry{
			label:  fmt.Sprintf("%s granted, %s allowed", quantity.Number(t.window.Granted), quantity.Number(t.window.Bound)),
			strong: true, color: vermilion, sample: areaSample,
		})
	}
	return list
}

func (t *Trace) boundWords() string {
	if t.keys == 1 {
		return "bound C + R·t"
	}
	return fmt.Sprintf("bound of %s together", quantity.Things(t.keys, "key"))
}
