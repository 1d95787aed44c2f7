package plot

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
)

// pathData writes SVG path data relative to the point before, in tenths of a
// point. Every point is rounded by itself, so that errors do not add up.
type pathData struct {
	b        strings.Builder
	x, y     int // tenths, where the pen is
	last     byte
	canvas   *svgCanvas
	subpaths int
}

// data turns a path into path data. Arcs become circles of two halves or
// polygons of small steps: no picture has a large one.
func (c *svgCanvas) data(path vg.Path) string {
	d := &pathData{canvas: c}
	for _, comp := range path {
		switch comp.Type {
		case vg.MoveComp:
			d.move(comp.Pos)
		case vg.LineComp:
			d.line(comp.Pos)
		case vg.ArcComp:
			d.arc(comp)
		case vg.CurveComp:
			d.line(comp.Pos)
		case vg.CloseComp:
			d.b.WriteByte('z')
			d.last = 'z'
		}
	}
	return d.b.String()
}

func (d *pathData) point(p vg.Point) (x, y int) {
	p = d.canvas.place(p)
	return int(math.Round(10 * p.X.Points())), int(math.Round(10 * (d.canvas.height - p.Y).Points()))
}

func (d *pathData) move(p vg.Point) {
	x, y := d.point(p)
	if d.subpaths == 0 || d.last == 'z' { // after z the pen is back at the start of its subpath
		d.command('M', x, y)
	} else {
		d.command('m', x-d.x, y-d.y)
	}
	d.x, d.y = x, y
	d.subpaths++
}

func (d *pathData) line(p vg.Point) {
	x, y := d.point(p)
	dx, dy := x-d.x, y-d.y
	switch {
	case dx == 0 && dy == 0 && d.last != 'm' && d.last != 'M':
		return
	case dy == 0:
		d.command('h', dx)
	case dx == 0:
		d.command('v', dy)
	default:
		d.command('l', dx, dy)
	}
	d.x, d.y = x, y
}

func (d *pathData) arc(comp vg.PathComp) {
	const step = math.Pi / 8
	n := max(1, int(math.Ceil(math.Abs(comp.Angle)/step)))
	for i := 0; i <= n; i++ {
		sin, cos := math.Sincos(comp.Start + comp.Angle*float64(i)/float64(n))
		p := vg.Point{X: comp.Pos.X + comp.Radius*vg.Length(cos), Y: comp.Pos.Y + comp.Radius*vg.Length(sin)}
		if d.subpaths == 0 {
			d.move(p)
			continue
		}
		d.line(p)
	}
}

// command writes a command with its numbers; the letter is left out where it
// repeats.
func (d *pathData) command(letter byte, tenths ...int) {
	repeated := letter == d.last && letter != 'M' && letter != 'm'
	if !repeated {
		d.b.WriteByte(letter)
	}
	for i, v := range tenths {
		if v >= 0 && (i > 0 || repeated) {
			d.b.WriteByte(' ')
		}
		d.b.WriteString(decimal(v))
	}
	d.last = letter
}

// decimal writes tenths: 12.3, -0.4 as -.4.
func decimal(tenths int) string {
	sign := ""
	if tenths < 0 {
		sign, tenths = "-", -tenths
	}
	whole, rest := tenths/10, tenths%10
	switch {
	case rest == 0:
		return sign + strconv.Itoa(whole)
	case whole == 0:
		return sign + "." + strconv.Itoa(rest)
	}
	return sign + strconv.Itoa(whole) + "." + strconv.Itoa(rest)
}
