package history

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// AppendJSON appends op as a JSON object, without a line end. A field that has
// its default is left out. What is not UTF-8 in a name becomes U+FFFD.
func AppendJSON(b []byte, op *Operation) []byte {
	b = append(b, `{"call_ns":`...)
	b = strconv.AppendInt(b, op.Call, 10)
	if op.Return != Forever {
		b = append(b, `,"return_ns":`...)
		b = strconv.AppendInt(b, op.Return, 10)
	}
	b = append(b, `,"outcome":"`...)
	b = append(b, op.Outcome.String()...)
	b = append(b, '"')
	if op.Key != "" {
		b = append(b, `,"key":`...)
		b = appendQuoted(b, op.Key)
	}
	if op.Instance != "" {
		b = append(b, `,"instance":`...)
		b = appendQuoted(b, op.Instance)
	}
	if op.Cost != 1 {
		b = append(b, `,"cost":`...)
		b = strconv.AppendFloat(b, op.Cost, 'g', -1, 64)
	}
	if op.Due != op.Call {
		b = append(b, `,"due_ns":`...)
		b = strconv.AppendInt(b, op.Due, 10)
	}
	return append(appendTold(b, op), '}')
}

// appendTold appends what clocks, limiter and witness said.
func appendTold(b []byte, op *Operation) []byte {
	if op.Clock != NoClock {
		b = append(b, `,"now_ms":`...)
		b = appendScaled(b, op.Clock, nowPlaces)
	}
	if isFinite(op.Remaining) {
		b = append(b, `,"remaining":`...)
		b = strconv.AppendFloat(b, op.Remaining, 'g', -1, 64)
	}
	if op.RetryAfter >= 0 {
		b = append(b, `,"retry_after_s":`...)
		b = appendScaled(b, int64(op.RetryAfter), retryPlaces)
	}
	return appendWitnessJSON(b, &op.Witness)
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// object reads d's fields from line, a JSON object. Names it does not know it
// skips, as other programs record more; null is a field that is missing.
func (d *draft) object(s *scanner) error {
	return s.object(func(name []byte) error {
		f := fieldOf(name)
		if f == noField {
			return s.skip()
		}
		return d.member(f, s)
	})
}

// member reads the value of f.
func (d *draft) member(f field, s *scanner) error {
	kind := s.kind()
	if kind == nullValue {
		return s.skip()
	}
	if err := d.claim(f); err != nil {
		return err
	}
	want := numberValue
	if f.isText() || f.isState() && kind == stringValue {
		want = stringValue
	}
	if kind != want && kind != noValue {
		return fmt.Errorf("%s is %s, want %s", fieldNames[f], kind, want)
	}
	if want == numberValue {
		b, err := s.number()
		if err != nil {
			return err
		}
		return d.number(f, b)
	}
	b, err := s.text()
	switch {
	case err != nil:
		return err
	case f.isState():
		return d.word(f, b)
	}
	return d.text(f, b)
}

var (
	errNoObject   = errors.New("want one JSON object on each line")
	errLateHeader = errors.New("a header may only be the first line: histories cannot be joined as they are")
)
