package plot

import (
	"image/color"
	"math"
	"strings"

	"golang.org/x/image/font"
	gonumfont "gonum.org/v1/plot/font"
	gonumtext "gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// lettering is gonum's plain text handler, which on an svgCanvas keeps the
// alignment instead of computing where the first letter would stand.
type lettering struct{ gonumtext.Plain }

var letters = lettering{gonumtext.Plain{Fonts: gonumfont.DefaultCache}}

// Draw implements gonum's text.Handler, for text of one line.
func (l lettering) Draw(c vg.Canvas, txt string, sty gonumtext.Style, pt vg.Point) {
	svg := svgOf(c)
	if svg == nil {
		l.Plain.Draw(c, visible(txt), sty, pt)
		return
	}
	if txt == "" {
		return
	}
	face := l.Fonts.Lookup(sty.Font, sty.Font.Size)
	// The baseline, as Plain.Draw finds it, in axes turned by the rotation.
	below := sty.Height(txt)*vg.Length(sty.YAlign) - face.Extents().Ascent + sty.Font.Size
	sin, cos := math.Sincos(sty.Rotation)
	pt.X -= below * vg.Length(sin)
	pt.Y += below * vg.Length(cos)
	svg.SetColor(sty.Color)
	svg.label(sty.Font, pt, float64(sty.XAlign), sty.Rotation, txt)
}

// svgOf unwraps the canvas that drawing areas are stacked on.
func svgOf(c vg.Canvas) *svgCanvas {
	for {
		switch x := c.(type) {
		case *svgCanvas:
			return x
		case draw.Canvas:
			c = x.Canvas
		case *draw.Canvas:
			c = x.Canvas
		default:
			return nil
		}
	}
}

// The sizes of text, in points.
const (
	titleSize = 13
	labelSize = 11.5
	tickSize  = 11
)

func style(size vg.Length, clr color.Color) draw.TextStyle {
	return draw.TextStyle{
		Color:   clr,
		Font:    gonumfont.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		XAlign:  draw.XLeft,
		YAlign:  draw.YBottom,
		Handler: letters,
	}
}

func bold(s draw.TextStyle) draw.TextStyle {
	s.Font.Weight = font.WeightBold
	return s
}

// fit shortens s in the middle until it is no wider than width, so that both
// the beginning and the end of a long name can be read.
func fit(s string, width vg.Length, sty draw.TextStyle) string {
	s = visible(s)
	if sty.Width(s) <= width {
		return s
	}
	runes := []rune(s)
	for n := len(runes) - 1; n > 0; n-- {
		head := (n + 1) / 2
		short := string(runes[:head]) + "…" + string(runes[len(runes)-(n-head):])
		if sty.Width(short) <= width {
			return short
		}
	}
	return "…"
}

// lines breaks s between words, into lines no wider than width.
func lines(s string, width vg.Length, sty draw.TextStyle) []string {
	var list []string
	line := ""
	for _, word := range strings.Fields(s) {
		longer := strings.TrimSpace(line + " " + word)
		if line != "" && sty.Width(longer) > width {
			list = append(list, line)
			longer = word
		}
		line = fit(longer, width, sty)
	}
	return append(list, line)
}
