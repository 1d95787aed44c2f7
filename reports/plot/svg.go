package plot

import (
	"fmt"
	"html"
	"image"
	"image/color"
	"math"
	"strconv"
	"strings"
	"unicode"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// svgCanvas is a [vg.Canvas] that writes small SVG: no groups, relative paths
// to a tenth of a point, one font for all, no identifiers. gonum's own canvas
// writes about three times as much and can neither follow a page's colours nor
// anchor text, which keeps labels in place when the reader has another font.
type svgCanvas struct {
	width, height vg.Length
	inline        bool // colours are variables of the page
	body          strings.Builder
	stack         []pen
}

// pen is what Push saves.
type pen struct {
	color  shade
	line   vg.Length
	dashes []vg.Length
	angle  float64 // of the axes, radians
	origin vg.Point
}

func newSVG(width, height vg.Length, inline bool) *svgCanvas {
	c := &svgCanvas{width: width, height: height, inline: inline, stack: []pen{{}}}
	vg.Initialize(c)
	return c
}

func (c *svgCanvas) pen() *pen { return &c.stack[len(c.stack)-1] }

// Size implements [vg.CanvasSizer].
func (c *svgCanvas) Size() (w, h vg.Length) { return c.width, c.height }

// SetLineWidth implements [vg.Canvas].
func (c *svgCanvas) SetLineWidth(w vg.Length) { c.pen().line = w }

// SetLineDash implements [vg.Canvas].
func (c *svgCanvas) SetLineDash(pattern []vg.Length, _ vg.Length) { c.pen().dashes = pattern }

// SetColor implements [vg.Canvas].
func (c *svgCanvas) SetColor(clr color.Color) { c.pen().color = shadeOf(clr) }

// Rotate implements [vg.Canvas].
func (c *svgCanvas) Rotate(rad float64) { c.pen().angle += rad }

// Translate implements [vg.Canvas].
func (c *svgCanvas) Translate(pt vg.Point) { c.pen().origin = c.place(pt) }

// Scale implements [vg.Canvas]; no picture here scales.
func (c *svgCanvas) Scale(_, _ float64) {}

// DrawImage implements [vg.Canvas]; no picture here holds another.
func (c *svgCanvas) DrawImage(_ vg.Rectangle, _ image.Image) {}

// Push implements [vg.Canvas].
func (c *svgCanvas) Push() { c.stack = append(c.stack, *c.pen()) }

// Pop implements [vg.Canvas].
func (c *svgCanvas) Pop() { c.stack = c.stack[:len(c.stack)-1] }

// place turns a point of the current axes into one of the canvas, origin at
// the bottom left.
func (c *svgCanvas) place(p vg.Point) vg.Point {
	pen := c.pen()
	sin, cos := math.Sincos(pen.angle)
	return vg.Point{
		X: pen.origin.X + p.X*vg.Length(cos) - p.Y*vg.Length(sin),
		Y: pen.origin.Y + p.X*vg.Length(sin) + p.Y*vg.Length(cos),
	}
}

// Stroke implements [vg.Canvas].
func (c *svgCanvas) Stroke(path vg.Path) {
	pen := c.pen()
	if pen.line <= 0 || len(path) == 0 {
		return
	}
	fmt.Fprintf(&c.body, `<path fill="none" stroke="%s"`, c.paint(pen.color))
	if pen.color.alpha < 1 {
		fmt.Fprintf(&c.body, ` stroke-opacity="%s"`, tenth(pen.color.alpha, 2))
	}
	if pen.line != 1 {
		fmt.Fprintf(&c.body, ` stroke-width="%s"`, tenth(pen.line.Points(), 2))
	}
	if len(pen.dashes) > 0 {
		var list []string
		for _, d := range pen.dashes {
			list = append(list, tenth(d.Points(), 1))
		}
		fmt.Fprintf(&c.body, ` stroke-dasharray="%s"`, strings.Join(list, " "))
	}
	fmt.Fprintf(&c.body, ` d="%s"/>`+"\n", c.data(path))
}

// Fill implements [vg.Canvas].
func (c *svgCanvas) Fill(path vg.Path) {
	if len(path) == 0 {
		return
	}
	clr := c.pen().color
	fmt.Fprintf(&c.body, `<path fill="%s"`, c.paint(clr))
	if clr.alpha < 1 {
		fmt.Fprintf(&c.body, ` fill-opacity="%s"`, tenth(clr.alpha, 2))
	}
	fmt.Fprintf(&c.body, ` d="%s"/>`+"\n", c.data(path))
}

// FillString implements [vg.Canvas]. Text that goes through [lettering] comes
// by way of label.
func (c *svgCanvas) FillString(f font.Face, pt vg.Point, s string) {
	c.label(f.Font, pt, 0, 0, s)
}

// label writes s at a baseline point, aligned to it by the part align of its
// width (0, −0.5 or −1), turned by an angle in radians.
func (c *svgCanvas) label(f font.Font, pt vg.Point, align, angle float64, s string) {
	p := c.place(pt)
	x, y := tenth(p.X.Points(), 1), tenth((c.height-p.Y).Points(), 1)
	fmt.Fprintf(&c.body, `<text x="%s" y="%s" font-size="%s" fill="%s"`, x, y, tenth(f.Size.Points(), 1), c.paint(c.pen().color))
	switch {
	case align < -0.75:
		c.body.WriteString(` text-anchor="end"`)
	case align < -0.25:
		c.body.WriteString(` text-anchor="middle"`)
	}
	if f.Weight > 0 {
		c.body.WriteString(` font-weight="bold"`)
	}
	if angle != 0 {
		fmt.Fprintf(&c.body, ` transform="rotate(%s %s %s)"`, tenth(-angle*180/math.Pi, 1), x, y)
	}
	fmt.Fprintf(&c.body, ">%s</text>\n", html.EscapeString(visible(s)))
}

// paint is a colour as an SVG attribute wants it.
func (c *svgCanvas) paint(s shade) string {
	if c.inline && s.name != "" {
		return "var(--p-" + s.name + ")"
	}
	return s.hex()
}

// document is the whole picture. Inline, it is made to stand in a page: it
// fills the width it is given, and the page says what it shows.
func (c *svgCanvas) document(title string) []byte {
	const family = `font-family="Liberation Sans,Arimo,Arial,Helvetica,sans-serif"`
	w, h := tenth(c.width.Points(), 1), tenth(c.height.Points(), 1)
	var b strings.Builder
	if c.inline {
		fmt.Fprintf(&b, `<svg viewBox="0 0 %s %s" %s role="img" aria-label="%s">`+"\n", w, h, family, html.EscapeString(visible(title)))
	} else {
		fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" %s>`+"\n", w, h, w, h, family)
		fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(visible(title)))
		fmt.Fprintf(&b, `<rect width="%s" height="%s" fill="%s"/>`+"\n", w, h, paper.hex())
	}
	b.WriteString(c.body.String())
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// tenth writes v with at most the given decimals, without trailing zeros.
func tenth(v float64, decimals int) string {
	scale := math.Pow10(decimals)
	v = math.Round(v*scale) / scale
	if v == 0 {
		return "0" // and not -0
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// visible replaces what cannot be shown, and what XML does not allow.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r != ' ' && !unicode.IsGraphic(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}
