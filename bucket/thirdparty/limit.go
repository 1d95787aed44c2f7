package thirdparty

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"bucketproof/bucket"
)

// wholeTokens is a capacity as the whole number that libraries take.
func wholeTokens(capacity float64) (int, error) {
	if capacity != math.Trunc(capacity) {
		return 0, fmt.Errorf("capacity %v is no whole number of tokens", capacity)
	}
	return int(capacity), nil
}

// mostPlaces is how many decimal places of a rate a period in seconds can take
// up before a [time.Duration] ends.
const mostPlaces = 9

// perPeriod writes a rate as n tokens in a period of 1 s, 10 s, 100 s and so on,
// the shortest that makes n whole: 33.3/s is 333 in 10 s.
func perPeriod(rate float64) (n int, period time.Duration, err error) {
	whole, places, _ := strings.Cut(strconv.FormatFloat(rate, 'f', -1, 64), ".")
	if len(places) > mostPlaces {
		return 0, 0, fmt.Errorf("rate %v is no whole number of tokens in any period of up to 10^%d s", rate, mostPlaces)
	}
	if n, err = strconv.Atoi(whole + places); err != nil {
		return 0, 0, fmt.Errorf("rate %v does not fit a whole number: %w", rate, err)
	}
	period = time.Second
	for range places {
		period *= 10
	}
	return n, period, nil
}

// window is how long capacity tokens last at the rate, as a whole number of
// unit: that many requests in that time are the window that has both.
func window(l bucket.Limit, unit time.Duration) (time.Duration, error) {
	exact := l.Capacity / l.Rate * (float64(time.Second) / float64(unit))
	whole := math.Round(exact)
	if whole < 1 || math.Abs(exact-whole) > 1e-9*exact {
		return 0, fmt.Errorf("a window of capacity/rate = %.6g s is no whole number of %s", l.Capacity/l.Rate, plural[unit])
	}
	if whole*float64(unit) >= math.MaxInt64 {
		return 0, fmt.Errorf("a window of %v s is too long", l.Capacity/l.Rate)
	}
	return time.Duration(whole) * unit, nil
}

// plural names the units that windows are counted in.
var plural = map[time.Duration]string{time.Millisecond: "milliseconds", time.Second: "seconds"}

// wholeCost is a request's cost as a whole number.
func wholeCost(r bucket.Request) (int, error) {
	if r.Cost != math.Trunc(r.Cost) || r.Cost < 1 {
		return 0, fmt.Errorf("%w: a cost of %v is no whole number of tokens", bucket.ErrUnsent, r.Cost)
	}
	return int(r.Cost), nil
}
