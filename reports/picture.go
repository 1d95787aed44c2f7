package reports

import (
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"slices"
	"strings"

	"bucketproof/bucket"
	"bucketproof/bucket/check"
	"bucketproof/bucket/history"
	"bucketproof/reports/plot"
	"bucketproof/reports/quantity"
)

// picture is what was drawn of one run.
type picture struct {
	envelope template.HTML // for the page, narrow
	big      template.HTML // the same, wide: of the run shown first only
	shares   template.HTML // "" where there is nothing to compare
	file     string        // of the wide envelope, relative to the folder
	key      string        // that the envelope shows, "" for all
	warning  string        // why there is no picture

	response, service plot.Spectrum  // of runs made for their latencies
	overshoot         plot.Overshoot // of runs that show how an excess grows
}

// drawing draws the pictures of one run.
type drawing struct {
	run  Run
	name string // of its files, without an ending
	hero bool   // shown big at the top
	png  bool   // also as an image

	growth string // of the picture of a growing excess that the run is part of, without an ending
}

// draw makes the pictures of a run and the files that hold them.
func (d drawing) draw(load Loader) (picture, []output, error) {
	ops, err := load(d.run)
	if err != nil {
		return picture{warning: missing(err)}, nil, nil
	}
	var pic picture
	if len(ops) == 0 {
		return pic, nil, nil
	}
	if d.run.LatencyMeasured {
		pic.response = spectrum(ops, func(op history.Operation) int64 { return op.Return - op.Due })
		pic.service = spectrum(ops, func(op history.Operation) int64 { return op.Return - op.Call })
	}
	e := envelope(d.run, ops)
	if len(e.Operations) < len(ops) {
		pic.key, _ = shown(d.run)
	}
	if d.growth != "" {
		pic.overshoot = plot.NewOvershoot(e.Limit, e.Operations)
	}
	trace := e.Trace()
	pic.envelope = template.HTML(trace.Narrow().Inline())
	wide := trace.Wide()
	if d.hero {
		pic.big = template.HTML(trace.Untitled().Inline())
	}
	pic.file = "plots/" + d.name + "-envelope.svg"
	files := []output{{pic.file, wide.SVG()}}
	if d.png {
		image, err := wide.PNG()
		if err != nil {
			return pic, nil, fmt.Errorf("draw %s: %w", d.name, err)
		}
		files = append(files, output{"plots/" + d.name + "-envelope.png", image})
	}
	if s := shareFigure(d.run); len(s.Instances) > 1 {
		pic.shares = template.HTML(s.Narrow().Inline())
		files = append(files, output{"plots/" + d.name + "-shares.svg", s.Wide().SVG()})
	}
	return pic, files, nil
}

// missing says why a history could not be drawn.
func missing(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "no picture: its history is not there any more"
	}
	return "no picture: " + strings.ReplaceAll(err.Error(), "\n", " ")
}

// envelope is the main picture of a run: of the key in evidence, else of all
// keys together.
func envelope(run Run, ops []history.Operation) plot.Envelope {
	e := plot.Envelope{
		Title: run.Limiter + " in " + run.Scenario, Limit: bucket.Limit(run.Limit), Contract: bucket.Contract(run.Contract), Operations: ops,
	}
	key, window := shown(run)
	if w := window; w != nil {
		e.Window = &plot.Window{StartNS: w.StartNS, EndNS: w.EndNS, Granted: w.Granted, Bound: w.Bound}
	}
	if key != "" {
		e.Operations = ofKey(ops, key)
	}
	if apart(run) {
		for _, in := range run.Instances {
			e.Instances = append(e.Instances, in.Name)
		}
	}
	return e
}

// shown is what the picture of a run is about: the key in evidence, "" for all
// keys, and the worst window of over-admission, if any.
func shown(run Run) (key string, window *Window) {
	for _, c := range run.Checks {
		if c.Verdict != string(check.Fail) {
			continue
		}
		e := evidenceOf(c)
		if c.Name == check.OverAdmission && e.Window != nil {
			return e.Key, e.Window
		}
		if key == "" {
			key = e.Key
		}
	}
	return key, nil
}

func ofKey(ops []history.Operation, key string) []history.Operation {
	var list []history.Operation
	for _, op := range ops {
		if op.Key == key {
			list = append(list, op)
		}
	}
	return list
}

// apart says whether it matters which instance got a grant: their clocks
// differ, or one of them was treated worse.
func apart(run Run) bool {
	for _, in := range run.Instances {
		first := run.Instances[0].Clock
		if clockWords(in.Clock) != clockWords(first) {
			return true
		}
	}
	for _, c := range run.Checks {
		if (c.Name == check.Fairness || c.Name == check.SpuriousDenial) && c.Verdict == string(check.Fail) {
			return true
		}
	}
	return false
}

// unfair is how far below its part of the requests an instance's part of the
// grants must lie for the shares to be drawn.
const unfair = 0.75

// shareFigure compares instances where one got clearly less than its share; it
// holds none elsewhere.
func shareFigure(run Run) plot.Shares {
	s := plot.Shares{Title: "Who got the grants: " + run.Limiter + " in " + run.Scenario}
	if !apart(run) || run.Counts.Offered == 0 || run.Counts.Allowed == 0 || !shared(run) {
		return s
	}
	least := 1.0
	for _, in := range run.Instances {
		share := plot.Share{
			Name: in.Name, Granted: in.Share, Fair: float64(in.Counts.Offered) / float64(run.Counts.Offered),
		}
		s.Instances = append(s.Instances, share)
		if share.Fair > 0 {
			least = min(least, share.Granted/share.Fair)
		}
	}
	if least > unfair {
		s.Instances = nil
	}
	return s
}

// shared says that arrivals were random, so that shares tell something.
func shared(run Run) bool {
	return slices.ContainsFunc(run.Checks, func(c Check) bool {
		return c.Name == check.Fairness && c.Verdict != string(check.Skipped)
	})
}

func spectrum(ops []history.Operation, of func(history.Operation) int64) plot.Spectrum {
	nanos := make([]int64, 0, len(ops))
	for _, op := range ops {
		if op.Outcome == history.Allowed || op.Outcome == history.Denied {
			nanos = append(nanos, of(op))
		}
	}
	return plot.NewSpectrum(nanos)
}

// describe says in words what the picture of a run shows.
func describe(run Run, pic picture) string {
	words := fmt.Sprintf("%s granted of %s; %s grants %s of the same requests",
		quantity.Count(run.Counts.Allowed), quantity.Count(run.Counts.Offered), run.ideal(), quantity.Number(run.Theory.Allowed))
	if pic.key != "" {
		words += ". The picture shows key " + pic.key + " alone"
	}
	return words
}
