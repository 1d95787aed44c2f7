package plot

import (
	"fmt"
	"image/color"
)

// shade is a colour with a name, so that a picture inside a page can take the
// page's variable --p-name in its place and follow its dark mode. It is a
// [color.Color].
type shade struct {
	name    string
	r, g, b uint8
	alpha   float64 // 0..1
}

// The colours of all pictures. The series are Okabe and Ito's, which people
// with any of the common colour blindnesses tell apart; vermilion always means
// that something is wrong.
var (
	paper     = shade{"paper", 0xff, 0xff, 0xff, 1}
	text      = shade{"text", 0x1f, 0x23, 0x28, 1}
	muted     = shade{"muted", 0x57, 0x60, 0x6a, 1}
	grid      = shade{"grid", 0xe3, 0xe7, 0xec, 1}
	rule      = shade{"rule", 0x9a, 0xa4, 0xaf, 1}
	vermilion = shade{"bad", 0xd5, 0x5e, 0x00, 1}

	series = []shade{
		{"blue", 0x00, 0x72, 0xb2, 1},
		{"orange", 0xe6, 0x9f, 0x00, 1},
		{"green", 0x00, 0x9e, 0x73, 1},
		{"purple", 0xcc, 0x79, 0xa7, 1},
		{"sky", 0x56, 0xb4, 0xe9, 1},
		{"olive", 0x8a, 0x7a, 0x00, 1},
	}
)

// night has the colours of a dark page, by name.
var night = map[string]shade{
	"paper":  {"paper", 0x16, 0x1b, 0x22, 1},
	"text":   {"text", 0xe6, 0xed, 0xf3, 1},
	"muted":  {"muted", 0x9d, 0xa7, 0xb3, 1},
	"grid":   {"grid", 0x2a, 0x31, 0x3a, 1},
	"rule":   {"rule", 0x6b, 0x76, 0x82, 1},
	"bad":    {"bad", 0xff, 0x7b, 0x3a, 1},
	"blue":   {"blue", 0x4d, 0xb2, 0xf0, 1},
	"orange": {"orange", 0xf0, 0xb4, 0x29, 1},
	"green":  {"green", 0x2f, 0xc9, 0x9c, 1},
	"purple": {"purple", 0xe0, 0x9b, 0xc4, 1},
	"sky":    {"sky", 0x8f, 0xd0, 0xf5, 1},
	"olive":  {"olive", 0xc9, 0xb8, 0x3a, 1},
}

// faded is s, let through by the given part.
func (s shade) faded(alpha float64) shade {
	s.alpha = alpha
	return s
}

// RGBA implements [color.Color].
func (s shade) RGBA() (r, g, b, a uint32) {
	return color.NRGBA{s.r, s.g, s.b, uint8(255*s.alpha + 0.5)}.RGBA()
}

// hex is the colour for SVG, without its alpha.
func (s shade) hex() string {
	return fmt.Sprintf("#%02x%02x%02x", s.r, s.g, s.b)
}

// shadeOf is c as a shade; a colour that is none keeps its value and has no
// name.
func shadeOf(c color.Color) shade {
	if s, ok := c.(shade); ok {
		return s
	}
	if c == nil {
		return text
	}
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	return shade{"", n.R, n.G, n.B, float64(n.A) / 255}
}
