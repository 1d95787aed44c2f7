package scenarios

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// Duration is a time.Duration written as Go does: 250ms, -1.5s, 0.
type Duration time.Duration

// UnmarshalYAML reads a scalar such as 250ms.
func (d *Duration) UnmarshalYAML(n ast.Node) error {
	text := scalar(n)
	v, err := time.ParseDuration(text)
	if err != nil {
		return at(n, "%q is no duration, write one like 250ms or 1.5s", text)
	}
	*d = Duration(v)
	return nil
}

// String renders d as time.Duration does, without zero minutes and seconds.
func (d Duration) String() string { return time.Duration(d).String() }

// PPM is a clock's drift in parts per million, written 200ppm.
type PPM float64

// UnmarshalYAML reads a scalar such as 200ppm.
func (p *PPM) UnmarshalYAML(n ast.Node) error {
	text := scalar(n)
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "ppm"), 64)
	if err != nil || math.IsNaN(v) || math.Abs(v) >= 1e6 {
		return at(n, "%q is no drift, write one like 200ppm", text)
	}
	*p = PPM(v)
	return nil
}

// String renders p as it is written in a file.
func (p PPM) String() string { return number(float64(p)) + "ppm" }

// Rate is requests or tokens a second, written as a number with an optional
// suffix: 500, 12.5, 5k, 1M.
type Rate float64

// UnmarshalYAML reads a scalar such as 5k.
func (r *Rate) UnmarshalYAML(n ast.Node) error {
	v, err := ParseRate(scalar(n))
	if err != nil {
		return at(n, "%v", err)
	}
	*r = Rate(v)
	return nil
}

// ParseRate reads a number above 0 with an optional suffix k or M.
func ParseRate(text string) (float64, error) {
	digits, factor := text, 1.0
	switch {
	case strings.HasSuffix(text, "k"):
		digits, factor = text[:len(text)-1], 1e3
	case strings.HasSuffix(text, "M"):
		digits, factor = text[:len(text)-1], 1e6
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number, write one like 500, 12.5 or 5k", text)
	}
	v *= factor
	if math.IsNaN(v) || math.IsInf(v, 0) || v <= 0 {
		return 0, fmt.Errorf("%s is not above 0", text)
	}
	return v, nil
}

// UnmarshalYAML reads a fixed wait, or {share, from, to}.
func (h *Hold) UnmarshalYAML(n ast.Node) error {
	if _, ok := n.(ast.MapNode); !ok {
		var d Duration
		if err := d.UnmarshalYAML(n); err != nil {
			return err
		}
		*h = Hold{Share: 1, From: d, To: d}
		return nil
	}
	var m struct {
		Share float64  `yaml:"share"`
		From  Duration `yaml:"from"`
		To    Duration `yaml:"to"`
	}
	if err := decode(n, &m); err != nil {
		return err
	}
	*h = Hold(m)
	return nil
}

// Points names points of a sweep, or all of a scenario.
type Points struct {
	All   bool
	Names []string
}

// UnmarshalYAML reads true, false or a list of names.
func (p *Points) UnmarshalYAML(n ast.Node) error {
	if _, ok := n.(*ast.BoolNode); ok {
		return decode(n, &p.All)
	}
	return decode(n, &p.Names)
}

// scalar is the text of a scalar node.
func scalar(n ast.Node) string {
	if s, ok := n.(*ast.StringNode); ok {
		return s.Value
	}
	return strings.TrimSpace(n.String())
}
