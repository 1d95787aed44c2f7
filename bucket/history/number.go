package history

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// What a number can be wrong about.
var (
	errNumber     = errors.New("want a number")
	errWhole      = errors.New("want a whole number")
	errOutOfRange = errors.New("out of range")
)

// decimal is a number in JSON's notation, taken apart.
type decimal struct {
	negative bool
	digits   []byte // with or without a point; no sign, no exponent
	point    int    // how many digits stand before the decimal point, after the exponent
}

// parseDecimal takes b apart. It accepts what JSON accepts and nothing else: no
// plus sign, no leading zeros, no NaN, no infinity.
func parseDecimal(b []byte) (decimal, error) {
	var d decimal
	i := 0
	if i < len(b) && b[i] == '-' {
		d.negative = true
		i++
	}
	start := i
	i = skipDigits(b, i)
	if i == start || b[start] == '0' && i > start+1 {
		return d, errNumber
	}
	d.point = i - start
	if i < len(b) && b[i] == '.' {
		fraction := i + 1
		if i = skipDigits(b, fraction); i == fraction {
			return d, errNumber
		}
	}
	d.digits = b[start:i]
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		e, n := parseExponent(b[i+1:])
		if n == 0 {
			return d, errNumber
		}
		d.point += e
		i += 1 + n
	}
	if i != len(b) {
		return d, errNumber
	}
	return d, nil
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	return i
}

// farExponent is beyond any number that is in range here.
const farExponent = 1 << 24

// parseExponent returns an exponent, held within ±farExponent, and how many
// bytes of b it took; 0 bytes: it is none.
func parseExponent(b []byte) (e, n int) {
	sign := 1
	if n < len(b) && (b[n] == '+' || b[n] == '-') {
		if b[n] == '-' {
			sign = -1
		}
		n++
	}
	start := n
	for n < len(b) && '0' <= b[n] && b[n] <= '9' {
		e = min(e*10+int(b[n]-'0'), farExponent)
		n++
	}
	if n == start {
		return 0, 0
	}
	return sign * e, n
}

// scaled is d·10^places as a whole number, rounded half away from zero, and
// whether nothing was rounded away.
func (d decimal) scaled(places int) (value int64, exact bool, err error) {
	exact = true
	whole := d.point + places // how many digits belong to the value
	magnitude := uint64(0)
	seen := 0
	for _, c := range d.digits {
		if c == '.' {
			continue
		}
		digit := uint64(c - '0')
		switch {
		case seen < whole:
			if magnitude > (math.MaxInt64-digit)/10 {
				return 0, false, errOutOfRange
			}
			magnitude = magnitude*10 + digit
		case digit != 0:
			exact = false
			if seen == whole && digit >= 5 {
				magnitude++
			}
		}
		seen++
	}
	for ; seen < whole && magnitude > 0; seen++ {
		if magnitude > math.MaxInt64/10 {
			return 0, false, errOutOfRange
		}
		magnitude *= 10
	}
	if magnitude > math.MaxInt64 {
		return 0, false, errOutOfRange
	}
	if d.negative {
		return -int64(magnitude), exact, nil
	}
	return int64(magnitude), exact, nil
}

// parseWhole reads a whole number, in any of JSON's notations: 1500, 1.5e3,
// 1500.0.
func parseWhole(b []byte) (int64, error) {
	if 0 < len(b) && len(b) <= 18 && '1' <= b[0] && b[0] <= '9' {
		v, plain := int64(0), true
		for _, c := range b {
			if c < '0' || c > '9' {
				plain = false
				break
			}
			v = v*10 + int64(c-'0')
		}
		if plain {
			return v, nil
		}
	}
	v, exact, err := parseScaled(b, 0)
	if err == nil && !exact {
		err = errWhole
	}
	return v, err
}

// parseScaled reads a number times 10^places.
func parseScaled(b []byte, places int) (v int64, exact bool, err error) {
	d, err := parseDecimal(b)
	if err != nil {
		return 0, false, err
	}
	return d.scaled(places)
}

// parseFloat reads a finite number, to the nearest float64.
func parseFloat(b []byte) (float64, error) {
	if len(b) == 1 && '0' <= b[0] && b[0] <= '9' {
		return float64(b[0] - '0'), nil
	}
	if _, err := parseDecimal(b); err != nil {
		return 0, err
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return 0, errOutOfRange
	}
	return v, nil
}

// appendScaled writes v·10^−places in plain decimal without trailing zeros, so
// that parseScaled returns v.
func appendScaled(b []byte, v int64, places int) []byte {
	magnitude := uint64(v)
	if v < 0 {
		b = append(b, '-')
		magnitude = -magnitude
	}
	unit := uint64(1)
	for range places {
		unit *= 10
	}
	b = strconv.AppendUint(b, magnitude/unit, 10)
	fraction := magnitude % unit
	if fraction == 0 {
		return b
	}
	b = append(b, '.')
	for fraction > 0 {
		unit /= 10
		b = append(b, '0'+byte(fraction/unit))
		fraction %= unit
	}
	return b
}

// numberError says what is wrong with the number b of a field.
func numberError(name string, b []byte, err error) error {
	const longest = 40
	if len(b) > longest {
		return fmt.Errorf("%s is %.*s…, %w", name, longest, b, err)
	}
	return fmt.Errorf("%s is %s, %w", name, b, err)
}
