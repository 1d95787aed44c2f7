package plot

import (
	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const rugRow = 6 // points of height for one row of marks

// rugLine is a row of marks below the curves.
type rugLine struct {
	events staircase
	who    int // only of this instance; -1: of all
	color  shade
}

// rug is the rows below the curves: denials, one row an instance where they are
// told apart, and requests without an answer.
func (t *Trace) rug() []rugLine {
	var rows []rugLine
	if len(t.denied) > 0 && len(t.instances) == 0 {
		rows = append(rows, rugLine{t.denied, -1, rule})
	}
	if len(t.denied) > 0 {
		for i := range t.instances {
			rows = append(rows, rugLine{t.denied, i, series[i]})
		}
	}
	if len(t.lost) > 0 {
		rows = append(rows, rugLine{t.lost, -1, text})
	}
	return rows
}

// rug draws the rows, the first on top.
func (k *curves) rug(c draw.Canvas, p *gonum.Plot) {
	rows := k.t.rug()
	for i, row := range rows {
		y := c.Min.Y + vg.Length(rugRow*(len(rows)-i)) - rugRow/2
		c.SetLineStyle(draw.LineStyle{Color: row.color.faded(0.5), Width: rugRow - 2})
		c.Stroke(k.marks(c, p, row, y))
	}
}

// marks is one row: a stroke where something happened within a column of the
// picture, one stroke for neighbours.
func (k *curves) marks(c draw.Canvas, p *gonum.Plot, row rugLine, y vg.Length) vg.Path {
	n, last := count(c), -2
	width := (k.v.to - k.v.from) / float64(n)
	at := func(column int) vg.Length { return c.X(p.X.Norm(k.v.from + float64(column)*width)) }
	var path vg.Path
	for _, e := range row.events {
		i := int((e.at - k.v.from) / width)
		if e.at < k.v.from || i >= n || i <= last || (row.who >= 0 && e.who != row.who) {
			continue
		}
		if i == last+1 {
			path[len(path)-1].Pos.X = at(i + 1)
		} else {
			path.Move(vg.Point{X: at(i), Y: y})
			path.Line(vg.Point{X: at(i + 1), Y: y})
		}
		last = i
	}
	return path
}
