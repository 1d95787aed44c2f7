package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/plot/vg"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

const hostile = `<script>alert("1")</script>&'` + "\x00\u202e"

// gallery has one picture of every kind, with many data and with none.
func gallery() map[string]Figure {
	random := rand.New(rand.NewPCG(1, 2))
	var ops []history.Operation
	for i := range 20_000 {
		at := int64(i) * 200_000
		ops = append(ops, history.Operation{
			Call: at, Return: at + random.Int64N(5_000_000), Cost: 1, Key: "k", Instance: "app-" + strconv.Itoa(i%3+1),
			Outcome: history.Outcome(1 + random.IntN(4)),
		})
	}
	instances := []string{"app-1", "app-2", "app-3"}
	limit := bucket.Limit{Rate: 1000, Capacity: 100}
	trace := Envelope{Title: hostile, Limit: limit, Operations: ops, Instances: instances}.Trace()
	window := Envelope{Title: strings.Repeat("long-name/", 30), Limit: limit, Operations: ops, Instances: instances,
		Window: &Window{StartNS: 1e9, EndNS: 1.2e9, Granted: 330, Bound: 300}}.Trace()
	empty := Envelope{Limit: limit}.Trace()
	var nanos []int64
	for range 5000 {
		nanos = append(nanos, int64(1e5*math.Exp(random.NormFloat64())))
	}
	latency := Latency{Title: hostile, Note: "latencies are of the embedded miniredis, not of a Redis"}
	shares := Shares{Title: hostile}
	sweep := Sweep{Title: hostile, Points: []string{"10ms", "100ms", hostile}, Predicted: []float64{1, 10, math.NaN()}}
	for i := range 14 {
		name := fmt.Sprintf("control/a-limiter-with-a-long-name-%d", i)
		latency.Lines = append(latency.Lines, Line{name, NewSpectrum(nanos), NewSpectrum(nanos)})
		shares.Instances = append(shares.Instances, Share{name, 0.01 * float64(i), 1.0 / 14})
		sweep.Lines = append(sweep.Lines, SweepLine{name, []float64{0.5, math.NaN(), 40}})
	}
	matrix := Matrix{Title: hostile, Rows: []string{hostile, "b"}, Columns: []string{"x", hostile}, Cells: func(i, j int) []Outcome {
		return []Outcome{Passed, Caught, Unexpected, Undecided, Skipped}[:2*i+j+1]
	}}
	crowded := Matrix{Title: hostile, Rows: []string{"a", "b"}, Columns: []string{"x"}, Cells: func(i, _ int) []Outcome {
		return make([]Outcome, 67*i+1)
	}}
	responses := responses()
	growth := Growth{Title: hostile}
	ledger := Ledger{Title: strings.Repeat("a long title ", 20), Groups: []LedgerGroup{{Heading: hostile}, {Heading: "callers' clocks"}}}
	for i := range 8 {
		name := fmt.Sprintf("control/a-limiter-with-a-long-name-%d", i)
		growth.Lines = append(growth.Lines, Grown{name, NewOvershoot(bucket.Limit{Rate: 100, Capacity: 10}, ops), 1000 * float64(i)})
		ledger.Columns = append(ledger.Columns, name)
	}
	for i := range 6 {
		row := LedgerRow{Name: strings.Repeat("words and ", 2*i) + hostile}
		for j := range 8 {
			row.Cells = append(row.Cells, LedgerCell{Outcome(j % 5), []string{"+49.9 tokens", "locked out for 6.36 s", hostile}[:1+j%3]})
		}
		ledger.Groups[i%2].Rows = append(ledger.Groups[i%2].Rows, row)
	}
	return map[string]Figure{
		"response": responses[0].Wide(), "response-narrow": responses[0].Narrow(), "responses": responses[1].Wide(), "responses-narrow": responses[1].Narrow(),
		"single": responses[2].Wide(), "single-narrow": responses[2].Narrow(), "no-response": Response{}.Wide(), "no-panel": Response{Panels: make([]Panel, 1)}.Narrow(),
		"growth": growth.Wide(), "growth-narrow": growth.Narrow(), "no-growth": Growth{}.Narrow(),
		"ledger": ledger.Wide(), "ledger-narrow": ledger.Narrow(), "no-ledger": Ledger{}.Narrow(),
		"crowded-matrix": crowded.Figure(),
		"envelope":       trace.Wide(), "envelope-narrow": trace.Narrow(), "window": window.Wide(), "window-narrow": window.Narrow(),
		"untitled": window.Untitled(), "empty": empty.Wide(), "empty-narrow": empty.Narrow(),
		"latency": latency.Wide(), "latency-narrow": latency.Narrow(), "no-latency": Latency{}.Wide(),
		"shares": shares.Wide(), "shares-narrow": shares.Narrow(), "no-shares": Shares{}.Narrow(),
		"sweep": sweep.Wide(), "sweep-narrow": sweep.Narrow(), "no-sweep": Sweep{}.Wide(),
		"matrix": matrix.Figure(), "no-matrix": Matrix{Title: "nothing"}.Figure(),
	}
}

// responses are pictures of many limiters at many sizes, of two panels, and of
// one point.
func responses() []Response {
	many := Panel{X: "clocks apart by", Y: "peak excess (tokens)", SizeUnit: "s"}
	for i := range 8 {
		line := Answer{Name: fmt.Sprintf("control/a-limiter-with-a-long-name-%d", i)}
		for j, size := range []float64{0, 1e-6, 0.001, 0.01, 0.1, 0.3, 0.5, 2, 3600} {
			line.Points = append(line.Points, Point{size, float64(i * i * i * j * j), float64(i * j), 1.5, j == 3})
		}
		line.Points[2].Measured, line.Points[4].Predicted = math.NaN(), math.NaN()
		many.Lines = append(many.Lines, line)
	}
	part := Panel{Name: hostile, X: "by", Y: "part of a fair share", SizeUnit: hostile, Part: true, Fair: 1, Lines: []Answer{
		{"a", []Point{{-1, 0.5, 0.4, 0.2, false}, {1, 0.1, math.NaN(), 0, true}}}, {hostile, []Point{{-1, 1, 1, 0, false}, {1, 1.2, 1, 0.1, true}}},
	}}
	single := Panel{X: "size", Y: "lock-out (seconds)", SizeUnit: "s", Lines: []Answer{{"a", []Point{{0, 0, 0, 0, false}}}, {"b", []Point{{0, math.NaN(), 0, 0, false}}}}}
	return []Response{{hostile, []Panel{many}}, {strings.Repeat("words of a title ", 9), []Panel{part, part}}, {"one", []Panel{single}}}
}

func TestSVGIsWellFormedSmallAndInside(t *testing.T) {
	for name, f := range gallery() {
		for kind, data := range map[string][]byte{"file": f.SVG(), "inline": f.Inline()} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				if len(data) > 40_000 {
					t.Errorf("%d bytes", len(data))
				}
				if bytes.Contains(data, []byte("NaN")) || bytes.Contains(data, []byte("Inf")) {
					t.Error("holds a number that is none")
				}
				inspect(t, data)
			})
		}
	}
}

// inspect reads an SVG, and looks for identifiers and for text that leaves it.
func inspect(t *testing.T, data []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(data))
	box, pen := make([]float64, 4), struct{ x, size float64 }{}
	anchor, turned, inText := "", false, false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			attrs := make(map[string]string)
			for _, a := range x.Attr {
				attrs[a.Name.Local] = a.Value
			}
			if attrs["id"] != "" || x.Name.Local == "script" {
				t.Errorf("has <%s id=%q>", x.Name.Local, attrs["id"])
			}
			if x.Name.Local == "svg" {
				for i, s := range strings.Fields(attrs["viewBox"]) {
					box[i], _ = strconv.ParseFloat(s, 64)
				}
			}
			inText = x.Name.Local == "text"
			pen.x, _ = strconv.ParseFloat(attrs["x"], 64)
			pen.size, _ = strconv.ParseFloat(attrs["font-size"], 64)
			anchor, turned = attrs["text-anchor"], attrs["transform"] != ""
		case xml.CharData:
			if !inText || turned {
				continue
			}
			width := float64(style(vg.Length(pen.size), text).Width(string(x)))
			left := pen.x - map[string]float64{"end": width, "middle": width / 2}[anchor]
			if left < -1 || left+width > box[2]+1+0.1*width { // bold is a little wider than measured here
				t.Errorf("text %q from %.0f to %.0f leaves the picture of width %.0f", x, left, left+width, box[2])
			}
		case xml.EndElement:
			inText = false
		}
	}
}

func TestPNG(t *testing.T) {
	pictures := gallery()
	for _, name := range []string{"window-narrow", "matrix", "no-shares"} { // drawing dots is slow under the race detector
		data, err := pictures[name].PNG()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		image, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		colours := make(map[color.Color]bool)
		for x := 0; x < image.Bounds().Dx(); x += 3 {
			for y := 0; y < image.Bounds().Dy(); y += 3 {
				colours[image.At(x, y)] = true
			}
		}
		if len(colours) < 2 {
			t.Errorf("%s: the picture is blank", name)
		}
	}
}

func TestPicturesAreTheSameEveryTime(t *testing.T) {
	a, b := gallery(), gallery()
	var wg sync.WaitGroup
	for name := range a {
		wg.Go(func() {
			if !bytes.Equal(a[name].SVG(), b[name].SVG()) {
				t.Errorf("%s differs from itself", name)
			}
		})
	}
	wg.Wait()
}

func TestVariablesNameEveryColour(t *testing.T) {
	for name, f := range gallery() {
		inline := string(f.Inline())
		for _, part := range strings.Split(inline, "var(")[1:] {
			variable, _, _ := strings.Cut(part, ")")
			for _, dark := range []bool{false, true} {
				if !strings.Contains(Variables(dark), variable+":#") {
					t.Errorf("%s uses %s, which the page does not define (dark: %v)", name, variable, dark)
				}
			}
		}
	}
}
