package check

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// tokens writes a number of tokens (or of anything) for people: whole numbers
// whole, others to three or four digits.
func tokens(x float64) string {
	a := math.Abs(x)
	switch {
	case x == math.Trunc(x) && a < 1e15, a >= 1000:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case a >= 10:
		return trimmed(strconv.FormatFloat(x, 'f', 1, 64))
	case a >= 0.01:
		return trimmed(strconv.FormatFloat(x, 'f', 2, 64))
	}
	return strconv.FormatFloat(x, 'g', 2, 64)
}

func trimmed(s string) string {
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// length writes a stretch of ns nanoseconds for people.
func length(ns int64) string {
	s := float64(ns) / 1e9
	switch a := math.Abs(s); {
	case a >= 100:
		return strconv.FormatFloat(s, 'f', 0, 64) + " s"
	case a >= 1:
		return trimmed(strconv.FormatFloat(s, 'f', 2, 64)) + " s"
	case a >= 1e-3:
		return trimmed(strconv.FormatFloat(s*1e3, 'f', 1, 64)) + " ms"
	case a == 0:
		return "0 s"
	}
	return trimmed(strconv.FormatFloat(s*1e6, 'f', 1, 64)) + " µs"
}

// onKey names a key in a sentence; the key without a name is passed over.
func onKey(key string) string {
	if key == "" {
		return ""
	}
	return ", key " + key
}

// called names an instance in a sentence.
func called(name string) string {
	if name == "" {
		return "the instance without a name"
	}
	return "instance " + name
}

// many writes "1 denial", "3 denials".
func many(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if stem, ok := strings.CutSuffix(what, "ply"); ok {
		return fmt.Sprintf("%d %splies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// span writes a stretch of the history, times in seconds on the history's
// clock; of a history counted from 1970, say, in seconds after its first call.
func (r *reading) span(from, to int64) string {
	base, after := r.origin, ""
	if base < 0 || base > int64(1e12) {
		base, after = 0, " after the first call"
	}
	return fmt.Sprintf("%.3f s to %.3f s%s", float64(base+from)/1e9, float64(base+to)/1e9, after)
}
