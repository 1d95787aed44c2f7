package limiterfile

import (
	"fmt"
	"math"
	"strconv"

	"bucketproof/bucket"

	"github.com/expr-lang/expr/types"
)

// name is a name that an expression may use.
type name uint8

const (
	nameKey name = iota
	nameRate
	nameCapacity
	nameCost
	nameNowS
	nameNowMS
	nameNowUS
	nameNowNS
	nameInstance
	nameRequest
	nameWindowS
	nameWindowMS
	nameReply
	nameStatus
	nameHeaders
	nameBody
	nameCount
)

// names spells each name and gives its type to the compiler. The ones of a
// request come first, then the ones of a reply.
var names = [nameCount]struct {
	spelling string
	kind     types.Type
}{
	nameKey:      {"key", types.String},
	nameRate:     {"rate", types.Float64},
	nameCapacity: {"capacity", types.Float64},
	nameCost:     {"cost", types.Float64},
	nameNowS:     {"now_s", types.Int},
	nameNowMS:    {"now_ms", types.Int},
	nameNowUS:    {"now_us", types.Int},
	nameNowNS:    {"now_ns", types.Int},
	nameInstance: {"instance", types.String},
	nameRequest:  {"request", types.String},
	nameWindowS:  {"window_s", types.Float64},
	nameWindowMS: {"window_ms", types.Float64},
	nameReply:    {"reply", types.Any},
	nameStatus:   {"status", types.Int},
	nameHeaders:  {"headers", types.TypeOf(map[string]string{})},
	nameBody:     {"body", types.String},
}

// The names that are known where.
var (
	requestNames = nameRange(nameKey, nameWindowMS)
	replyNames   = append(nameRange(nameKey, nameWindowMS), nameReply)
	httpNames    = append(nameRange(nameKey, nameWindowMS), nameStatus, nameHeaders, nameBody)
)

func nameRange(first, last name) []name {
	var out []name
	for n := first; n <= last; n++ {
		out = append(out, n)
	}
	return out
}

// nameSet is a set of names, a bit each.
type nameSet uint32

func (s nameSet) has(n name) bool { return s&(1<<n) != 0 }
func (s *nameSet) add(n name)     { *s |= 1 << n }

// nowNames are the names of the caller's clock.
const nowNames = nameSet(1<<nameNowS | 1<<nameNowMS | 1<<nameNowUS | 1<<nameNowNS)

// limitNames are the names that depend on the limit.
const limitNames = nameSet(1<<nameRate | 1<<nameCapacity | 1<<nameWindowS | 1<<nameWindowMS)

// Response is what an HTTP limiter answered.
type Response struct {
	Status  int
	Headers map[string]string // by canonical name, such as Retry-After; the first value of each
	Body    string
}

const second = int64(1e9) // in nanoseconds

// scope is what the names stand for in one call.
type scope struct {
	limit bucket.Limit
	req   bucket.Request
	reply any
	http  Response
}

// value is what n stands for, as the compiler was told its type.
func (s *scope) value(n name) (any, error) {
	switch n {
	case nameKey:
		return s.req.Key, nil
	case nameInstance:
		return s.req.Instance, nil
	case nameRequest:
		return s.req.ID, nil
	case nameNowS, nameNowMS, nameNowUS, nameNowNS:
		ticks, err := s.now(n)
		return int(ticks), err
	case nameReply:
		return s.reply, nil
	case nameStatus:
		return s.http.Status, nil
	case nameHeaders:
		return s.http.Headers, nil
	case nameBody:
		return s.http.Body, nil
	}
	return s.number(n), nil
}

// number is what a name of type float64 stands for.
func (s *scope) number(n name) float64 {
	switch n {
	case nameRate:
		return s.limit.Rate
	case nameCapacity:
		return s.limit.Capacity
	case nameCost:
		return s.req.Cost
	case nameWindowS:
		return s.limit.Capacity / s.limit.Rate
	case nameWindowMS:
		return s.limit.Capacity / s.limit.Rate * 1000
	}
	return math.NaN()
}

// now is the caller's clock in whole ticks since 1970, rounded down also
// before 1970: package time counts nanoseconds up from a floored second.
func (s *scope) now(n name) (int64, error) {
	t := s.req.Now
	switch n {
	case nameNowS:
		return t.Unix(), nil
	case nameNowMS:
		return t.UnixMilli(), nil
	case nameNowUS:
		return t.UnixMicro(), nil
	}
	if sec := t.Unix(); sec <= math.MinInt64/second || sec >= math.MaxInt64/second {
		return 0, fmt.Errorf("now_ns of the year %d does not fit in 64 bits", t.Year())
	}
	return t.UnixNano(), nil
}

// append appends what n stands for as it is sent, without boxing it.
func (s *scope) append(b []byte, n name) ([]byte, error) {
	switch n {
	case nameRate, nameCapacity, nameCost, nameWindowS, nameWindowMS:
		return appendFloat(b, s.number(n))
	case nameNowS, nameNowMS, nameNowUS, nameNowNS:
		ticks, err := s.now(n)
		return strconv.AppendInt(b, ticks, 10), err
	case nameKey:
		return append(b, s.req.Key...), nil
	case nameInstance:
		return append(b, s.req.Instance...), nil
	case nameRequest:
		return append(b, s.req.ID...), nil
	}
	v, err := s.value(n)
	if err != nil {
		return b, err
	}
	return appendValue(b, v)
}
