// Package plot draws what was measured: grants against the bound, latencies,
// shares of instances, and the matrix of verdicts. Each picture is a value
// made of numbers; it computes no verdicts. It stands at the end of the flow,
// called by package reports.
package plot

import (
	"bytes"
	"fmt"
	"image/png"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Figure is a picture, ready to be written in several formats. It may be
// written by several goroutines at once.
type Figure struct {
	title         string
	width, height vg.Length // points, which are CSS pixels here
	paint         func(c draw.Canvas)
}

// Title is what the picture is called.
func (f Figure) Title() string { return f.title }

// SVG returns the picture as a file of its own, on white paper.
func (f Figure) SVG() []byte {
	return f.draw(false).document(f.title)
}

// Inline returns the picture as an element for an HTML page. It has no
// identifiers and no size of its own but its viewBox; its colours are the
// page's variables --p-paper, --p-text, --p-muted, --p-grid, --p-rule, --p-bad
// and --p-blue to --p-olive (see [Variables]).
func (f Figure) Inline() []byte {
	return f.draw(true).document(f.title)
}

func (f Figure) draw(inline bool) *svgCanvas {
	c := newSVG(f.width, f.height, inline)
	f.paint(draw.New(c))
	return c
}

// dotsPerInch makes a picture for screens with two dots a pixel.
const dotsPerInch = 144

// PNG returns the picture as an image with two dots a point.
func (f Figure) PNG() ([]byte, error) {
	c := vgimg.NewWith(vgimg.UseWH(f.width, f.height), vgimg.UseDPI(dotsPerInch))
	f.paint(draw.New(c))
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&b, c.Image()); err != nil {
		return nil, fmt.Errorf("encode picture %s: %w", f.title, err)
	}
	return b.Bytes(), nil
}

// Variables returns the CSS declarations that [Figure.Inline] refers to, for a
// page on white paper or for a dark one.
func Variables(dark bool) string {
	var b bytes.Buffer
	for _, s := range append([]shade{paper, text, muted, grid, rule, vermilion}, series...) {
		if dark {
			s = night[s.name]
		}
		fmt.Fprintf(&b, "--p-%s:%s;", s.name, s.hex())
	}
	return b.String()
}
