package plot

import (
	"math"
	"strconv"
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

// decode reads the path data that pathData writes, back into points in tenths.
func decode(t *rapid.T, data string) [][2]int {
	var points [][2]int
	x, y := 0, 0
	letter := byte(0)
	for i := 0; i < len(data); {
		if c := data[i]; c >= 'A' && c != '.' {
			letter = c
			i++
		}
		number := func() int {
			for i < len(data) && data[i] == ' ' {
				i++
			}
			start := i
			for i < len(data) && (data[i] == '-' && i == start || data[i] == '.' || data[i] >= '0' && data[i] <= '9') {
				i++
			}
			v, err := strconv.ParseFloat(data[start:i], 64)
			if err != nil {
				t.Fatalf("number %q in %q: %v", data[start:i], data, err)
			}
			return int(math.Round(v * 10))
		}
		switch letter {
		case 'M':
			x, y = number(), number()
		case 'm', 'l':
			x, y = x+number(), y+number()
		case 'h':
			x += number()
		case 'v':
			y += number()
		default:
			t.Fatalf("letter %q in %q", letter, data)
		}
		points = append(points, [2]int{x, y})
	}
	return points
}

func TestPathDataComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newSVG(1000, 1000, false)
		var path vg.Path
		var want [][2]int
		n := rapid.IntRange(1, 40).Draw(t, "points")
		for i := range n {
			x := float64(rapid.IntRange(-200, 20000).Draw(t, "x")) / 20
			y := float64(rapid.IntRange(-200, 20000).Draw(t, "y")) / 20
			if i > 0 && rapid.Bool().Draw(t, "level") {
				y = path[len(path)-1].Pos.Y.Points()
			}
			pt := vg.Point{X: vg.Length(x), Y: vg.Length(y)}
			point := [2]int{int(math.Round(10 * x)), int(math.Round(10 * (1000 - y)))}
			if i == 0 || rapid.IntRange(0, 9).Draw(t, "jump") == 0 {
				path.Move(pt)
			} else {
				path.Line(pt)
			}
			want = append(want, point)
		}
		got := decode(t, c.data(path))
		// Points that fall together are written once.
		if last := got[len(got)-1]; last != want[len(want)-1] {
			t.Fatalf("ends at %v, want %v", last, want[len(want)-1])
		}
		at := 0
		for _, p := range want {
			for at < len(got) && got[at] != p {
				at++
			}
			if at == len(got) {
				t.Fatalf("%v is not on the path %v, want %v", p, got, want)
			}
		}
	})
}

func TestDecimal(t *testing.T) {
	for _, c := range []struct {
		tenths int
		want   string
	}{{0, "0"}, {7, ".7"}, {-7, "-.7"}, {10, "1"}, {-123, "-12.3"}, {1230, "123"}} {
		if got := decimal(c.tenths); got != c.want {
			t.Errorf("decimal(%d) = %q, want %q", c.tenths, got, c.want)
		}
	}
}
