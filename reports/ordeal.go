package reports

import (
	"strings"

	"bucketproof/reports/quantity"
)

// ordealWords name the kinds of disturbance: as a heading, and what stands
// behind the size of one.
var ordealWords = map[string]struct{ heading, after string }{
	"spread":              {"callers' clocks apart", " apart"},
	"drift":               {"callers' clocks drift", ""},
	"jitter":              {"callers' clocks jitter", ""},
	"strobe":              {"a caller's clock jumps to and fro", ""},
	"freeze":              {"a caller's clock stands still", ""},
	"step-back":           {"a caller's clock steps back", ""},
	"step-forward":        {"a caller's clock steps forward", ""},
	"step-both":           {"a caller's clock steps back and forward", ""},
	"leaves":              {"the caller ahead takes all and leaves", " apart"},
	"silence":             {"callers fall silent after a step back", ""},
	"server-step-back":    {"TIME alone steps back", ""},
	"server-step-forward": {"TIME alone steps forward", ""},
	"server-set-back":     {"the server's clock is set back", ""},
	"server-set-forward":  {"the server's clock is set forward", ""},
	"failover-behind":     {"a replica whose clock is behind takes over", ""},
	"failover-ahead":      {"a replica whose clock is ahead takes over", ""},
	kindHeld:              {"calls held on their way", ""},
	kindExpiry:            {"calls held past the key's expiry", ""},
	kindGrowth:            {"clocks apart under lasting overload", ""},
	kindPolite:            {"clocks apart under polite load", " apart"},
	kindOverload:          {"clocks apart under overload", " apart"},
}

// heading names an ordeal, with its scenario where another provokes the same.
func (o ordeal) heading() string {
	words := ordealWords[o.kind].heading
	if words == "" {
		words = strings.ReplaceAll(o.kind, "-", " ")
	}
	if o.shared {
		words += " (" + o.scenario + ")"
	}
	return words
}

// size writes the size of a point: 500 ms, 200 ppm.
func (o ordeal) size(p ordealPoint) string {
	return sizeWords(p.size, o.unit)
}

func sizeWords(size float64, unit string) string {
	switch unit {
	case "s":
		return quantity.Seconds(size)
	case "":
		return quantity.Number(size)
	}
	return quantity.Number(size) + " " + unit
}

// point names a point of an ordeal: by its size, or by its name in the sweep
// where that is over something else.
func (o ordeal) point(p ordealPoint) string {
	if !o.named() || p.name == "" {
		return o.size(p)
	}
	if d := duration(p.name); d > 0 {
		return quantity.Seconds(d.Seconds())
	}
	return p.name
}

// named says whether all points have one size, so that only their names tell
// them apart.
func (o ordeal) named() bool {
	return len(o.points) > 1 && o.points[0].size == o.points[len(o.points)-1].size
}

// at is point as the end of a sentence: "at 500 ms apart". It says nothing of
// the only point when that has no size.
func (o ordeal) at(p ordealPoint) string {
	switch {
	case o.named():
		return " at " + o.point(p)
	case len(o.points) == 1 && p.size == 0:
		return ""
	}
	return " at " + o.size(p) + ordealWords[o.kind].after
}

// sideWords name whose clock was disturbed, as a heading.
func sideWords(of string) string {
	switch of {
	case ofCaller:
		return "Callers' clocks"
	case ofServer:
		return "The server's clock"
	}
	return "Other disturbances"
}

// figureWords name a figure, as the heading of a row or an axis.
func figureWords(name string) string {
	words := map[string]string{
		peakExcess: "peak excess", excessPerSecond: "excess a second", lockout: "lock-out",
		spuriousDenials: "spurious denials", slowShare: "share of callers behind",
	}[name]
	if words == "" {
		words = spaced(name)
	}
	return words
}

// amount writes v in the unit of a figure.
func amount(v float64, unit string) string {
	switch unit {
	case "s":
		return quantity.Seconds(v)
	case "share":
		return quantity.Percent(v)
	case "tokens", "denials":
		return quantity.Plural(quantity.Number(v), strings.TrimSuffix(unit, "s"))
	case "tokens/s":
		return quantity.Number(v) + " tokens/s"
	case "":
		return quantity.Number(v)
	}
	return quantity.Number(v) + " " + unit
}
