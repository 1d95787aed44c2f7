// Package quantity writes numbers for people: rounded to what can be read at a
// glance, with thousands separators and units. Exact numbers are in
// results.json. It stands beside the renderers in reports and needs nothing.
package quantity

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Count writes n with thousands separators: 1,234,567.
func Count(n int64) string {
	return group(strconv.FormatInt(n, 10))
}

// Number writes v with about three significant digits and thousands
// separators: 1,050 and 49.6 and 0.021. It never uses an exponent between 1e-4
// and 1e15.
func Number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "unknown"
	}
	size := math.Abs(v)
	switch {
	case size >= 1e15 || (size < 1e-4 && size > 0):
		return strconv.FormatFloat(v, 'g', 3, 64)
	case size >= 999.5:
		return group(fixed(v, 0))
	case size >= 9.995:
		return fixed(v, 1)
	case size >= 0.9995:
		return fixed(v, 2)
	}
	return fixed(v, 1-int(math.Floor(math.Log10(math.Max(size, 1e-4)))))
}

// Tokens writes an amount of tokens with its unit: "1 token", "49.6 tokens".
func Tokens(v float64) string {
	return Plural(Number(v), "token")
}

// Plural writes an already written number and a noun, with an s unless the
// number is 1.
func Plural(number, noun string) string {
	if number == "1" {
		return "1 " + noun
	}
	return number + " " + noun + "s"
}

// Things writes a count and a noun, with an s unless the count is 1.
func Things(n int, noun string) string {
	return Plural(Count(int64(n)), noun)
}

// Rate writes tokens or requests per second: "100/s".
func Rate(perSecond float64) string {
	return Number(perSecond) + "/s"
}

// Percent writes a part of one as "12.3 %".
func Percent(part float64) string {
	return Number(100*part) + " %"
}

// Seconds writes a time in the unit that suits it: 12 µs, 500 ms, 2.4 s, and
// from two minutes on in minutes, hours and days.
func Seconds(s float64) string {
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return "unknown"
	}
	size := math.Abs(s)
	switch {
	case size == 0:
		return "0 s"
	case size < 0.9995e-6:
		return Number(s*1e9) + " ns"
	case size < 0.9995e-3:
		return Number(s*1e6) + " µs"
	case size < 0.9995:
		return Number(s*1e3) + " ms"
	case size < 120:
		return Number(s) + " s"
	case size < 2*3600:
		return Number(s/60) + " min"
	case size < 48*3600:
		return Number(s/3600) + " h"
	}
	return Number(s/86400) + " d"
}

// Micros writes a time given in microseconds, as [Seconds] does.
func Micros(us float64) string {
	return Seconds(us / 1e6)
}

// Bytes writes an amount of memory or data: 512 bytes, 12.4 MB; a kB is 1000.
func Bytes(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "unknown"
	}
	units := []string{"bytes", "kB", "MB", "GB", "TB"}
	i := 0
	for ; i < len(units)-1 && math.Abs(v) >= 999.5; i++ {
		v /= 1000
	}
	if i == 0 && v == 1 {
		return "1 byte"
	}
	return Number(v) + " " + units[i]
}

// Signed writes a time in seconds with its sign: +250 ms, −1 s.
func Signed(s float64) string {
	if s < 0 {
		return "−" + Seconds(-s)
	}
	return "+" + Seconds(s)
}

// Instant writes a point of time to the second, in UTC; the zero time is
// "unknown".
func Instant(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// fixed is v with at most the given decimals, without trailing zeros.
func fixed(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}

// group puts a comma between every three digits of a whole number.
func group(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
