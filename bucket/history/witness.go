package history

import (
	"fmt"
	"math"
	"strconv"

	"bucketproof/bucket"
)

// A witnessed state is two numbers. A number that is not known is left out, as
// everywhere; what JSON has no number for is a word: "inf" and "-inf", and
// "none" for a state that did not exist, in place of its tokens. NaN, which is
// all that a field without a number can be, is a number that is not known.
const (
	noState     = "none"
	infinite    = "inf"
	minInfinite = "-inf"
)

// seenFields has the bits of the fields that only a witness tells.
const seenFields = 1<<sequenceField | 1<<serverField | 1<<serverEndField | beforeFields | afterFields

const (
	beforeFields = 1<<tokensBeforeField | 1<<timeBeforeField
	afterFields  = 1<<tokensAfterField | 1<<timeAfterField
)

// appendWitnessJSON appends the members that w has, each behind a comma.
func appendWitnessJSON(b []byte, w *bucket.Witness) []byte {
	if *w == (bucket.Witness{}) {
		return b
	}
	member := func(f field) {
		b = append(b, `,"`...)
		b = append(append(b, fieldNames[f]...), `":`...)
	}
	if w.Sequence != 0 {
		member(sequenceField)
		b = strconv.AppendInt(b, w.Sequence, 10)
	}
	if w.BeforeMicros != 0 {
		member(serverField)
		b = strconv.AppendInt(b, w.BeforeMicros, 10)
	}
	if w.AfterMicros != w.BeforeMicros {
		member(serverEndField)
		b = strconv.AppendInt(b, w.AfterMicros, 10)
	}
	for i, f := range []field{tokensBeforeField, timeBeforeField, tokensAfterField, timeAfterField} {
		v, word := seen(w, i)
		switch {
		case word != "":
			member(f)
			b = append(append(append(b, '"'), word...), '"')
		case !math.IsNaN(v):
			member(f)
			b = appendNumber(b, v)
		}
	}
	return b
}

// appendWitnessCSV appends the cells of w, each behind a comma.
func appendWitnessCSV(b []byte, w *bucket.Witness) []byte {
	none := *w == bucket.Witness{}
	b = append(b, ',')
	if w.Sequence != 0 {
		b = strconv.AppendInt(b, w.Sequence, 10)
	}
	b = append(b, ',')
	if w.BeforeMicros != 0 {
		b = strconv.AppendInt(b, w.BeforeMicros, 10)
	}
	b = append(b, ',')
	if w.AfterMicros != w.BeforeMicros {
		b = strconv.AppendInt(b, w.AfterMicros, 10)
	}
	for i := range 4 {
		b = append(b, ',')
		if none {
			continue
		}
		v, word := seen(w, i)
		switch {
		case word != "":
			b = append(b, word...)
		case !math.IsNaN(v):
			b = appendNumber(b, v)
		}
	}
	return b
}

// seen is the i-th of the four numbers of w's states in the order of their
// fields: a word where there is no number for it, NaN where nothing is written.
func seen(w *bucket.Witness, i int) (v float64, word string) {
	s := &w.Before
	if i >= 2 {
		s = &w.After
	}
	v = s.Tokens
	if i%2 == 1 {
		v = s.Time
	}
	switch {
	case !s.Exists && i%2 == 0:
		return 0, noState
	case !s.Exists:
		return math.NaN(), ""
	case math.IsInf(v, 1):
		return v, infinite
	case math.IsInf(v, -1):
		return v, minInfinite
	}
	return v, ""
}

// appendNumber writes a finite v so that it reads back as the same double, in
// plain decimal unless that is long.
func appendNumber(b []byte, v float64) []byte {
	format := byte('f')
	if m := math.Abs(v); m != 0 && (m < 1e-6 || m >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, v, format, -1, 64)
}

// state is the number of a witnessed state that f is. The first one that comes
// makes a state of which nothing else is known.
func (d *draft) state(f field) *float64 {
	w := &d.op.Witness
	s := &w.Before
	if f >= tokensAfterField {
		s = &w.After
	}
	if !s.Exists {
		*s = bucket.Unseen()
	}
	if f == timeBeforeField || f == timeAfterField {
		return &s.Time
	}
	return &s.Tokens
}

// word sets a number of a witnessed state that is written as a word.
func (d *draft) word(f field, b []byte) error {
	switch {
	case string(b) == infinite:
		*d.state(f) = math.Inf(1)
	case string(b) == minInfinite:
		*d.state(f) = math.Inf(-1)
	case string(b) == noState && (f == tokensBeforeField || f == tokensAfterField):
		d.gone |= 1 << f
	case f == tokensBeforeField || f == tokensAfterField:
		return fmt.Errorf(`%s is %.40q, want a number, "inf", "-inf", or "none" for a key that was not there`, fieldNames[f], b)
	default:
		return fmt.Errorf(`%s is %.40q, want a number, "inf" or "-inf"`, fieldNames[f], b)
	}
	return nil
}

// isWord reports whether a cell of a state's column is a word and no number.
func isWord(cell []byte) bool {
	return string(cell) == noState || string(cell) == infinite || string(cell) == minInfinite
}

// finishWitness fills in what may be missing of a witness.
func (d *draft) finishWitness() error {
	w := &d.op.Witness
	if d.present&seenFields == 0 {
		return nil
	}
	if !d.has(serverEndField) {
		w.AfterMicros = w.BeforeMicros
	}
	for _, half := range []struct {
		state        *bucket.State
		tokens, time field
	}{
		{&w.Before, tokensBeforeField, timeBeforeField},
		{&w.After, tokensAfterField, timeAfterField},
	} {
		switch gone := d.gone&(1<<half.tokens) != 0; {
		case gone && d.has(half.time):
			return fmt.Errorf(`%s is "none", and there is a %s`, fieldNames[half.tokens], fieldNames[half.time])
		case gone:
			*half.state = bucket.State{}
		case !half.state.Exists:
			*half.state = bucket.Unseen()
		}
	}
	return nil
}

// validWitness reports the first thing that makes w none.
func validWitness(w *bucket.Witness) error {
	switch {
	case w.Sequence < 0:
		return fmt.Errorf("sequence is %d, want 0 or more", w.Sequence)
	case w.BeforeMicros < 0:
		return fmt.Errorf("server_us is %d, want 0 or more", w.BeforeMicros)
	case w.AfterMicros < 0:
		return fmt.Errorf("server_end_us is %d, want 0 or more", w.AfterMicros)
	}
	return nil
}
