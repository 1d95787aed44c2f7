package history

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// field is one of the named values of a record, the same in JSON lines and CSV.
type field uint8

const (
	callField field = iota
	returnField
	outcomeField
	keyField
	instanceField
	costField
	dueField
	nowField
	remainingField
	retryField
	sequenceField
	serverField
	serverEndField
	tokensBeforeField
	timeBeforeField
	tokensAfterField
	timeAfterField
	fields        // how many there are
	noField field = 255
)

// fieldNames are the names in histories, in the order in which CSV has them.
var fieldNames = [fields]string{
	callField:         "call_ns",
	returnField:       "return_ns",
	outcomeField:      "outcome",
	keyField:          "key",
	instanceField:     "instance",
	costField:         "cost",
	dueField:          "due_ns",
	nowField:          "now_ms",
	remainingField:    "remaining",
	retryField:        "retry_after_s",
	sequenceField:     "sequence",
	serverField:       "server_us",
	serverEndField:    "server_end_us",
	tokensBeforeField: "tokens_before",
	timeBeforeField:   "time_before",
	tokensAfterField:  "tokens_after",
	timeAfterField:    "time_after",
}

// Decimal places of the fields whose unit is not that of [Operation].
const (
	nowPlaces   = 6 // ms to ns
	retryPlaces = 9 // s to ns
)

// fieldOf returns the field of a name, or noField for a name of somebody else,
// which is nobody's error.
func fieldOf(name []byte) field {
	for f, n := range fieldNames {
		if string(name) == n {
			return field(f)
		}
	}
	return noField
}

// isText reports whether a field is a string in JSON.
func (f field) isText() bool { return f == outcomeField || f == keyField || f == instanceField }

// isState reports whether a field belongs to a witnessed state: a number, or
// one of the words of [stateWords].
func (f field) isState() bool { return tokensBeforeField <= f && f <= timeAfterField }

// draft is an operation while its fields come in.
type draft struct {
	op      *Operation
	names   *names
	present uint32 // bit f: field f came
	gone    uint32 // bit f: field f says that there was no state
}

// start makes d an operation with no field yet.
func (d *draft) start(op *Operation) {
	*op = Operation{Return: Forever, Clock: NoClock, Cost: 1, Remaining: math.NaN(), RetryAfter: -1}
	d.op, d.present, d.gone = op, 0, 0
}

func (d *draft) has(f field) bool { return d.present&(1<<f) != 0 }

// claim notes that f came. Which of two would count depends on the reader, so
// there is one.
func (d *draft) claim(f field) error {
	if d.has(f) {
		return fmt.Errorf("%s is there twice", fieldNames[f])
	}
	d.present |= 1 << f
	return nil
}

// text sets a field that is a string.
func (d *draft) text(f field, b []byte) error {
	switch f {
	case keyField:
		d.op.Key = d.names.key(b)
	case instanceField:
		d.op.Instance = d.names.instance(b)
	case outcomeField:
		for o := Allowed; o <= Unknown; o++ {
			if string(b) == outcomes[o] {
				d.op.Outcome = o
				return nil
			}
		}
		return fmt.Errorf("outcome is %.40q, want allowed, denied, unsent or unknown", b)
	}
	return nil
}

// number sets a field that is a number, from JSON's notation.
func (d *draft) number(f field, b []byte) error {
	var err error
	switch f {
	case callField:
		d.op.Call, err = parseWhole(b)
	case returnField:
		d.op.Return, err = parseWhole(b)
	case dueField:
		d.op.Due, err = parseWhole(b)
	case sequenceField:
		d.op.Witness.Sequence, err = parseWhole(b)
	case serverField:
		d.op.Witness.BeforeMicros, err = parseWhole(b)
	case serverEndField:
		d.op.Witness.AfterMicros, err = parseWhole(b)
	case tokensBeforeField, timeBeforeField, tokensAfterField, timeAfterField:
		*d.state(f), err = parseFloat(b)
	case nowField:
		d.op.Clock, _, err = parseScaled(b, nowPlaces)
	case costField:
		d.op.Cost, err = parseFloat(b)
	case remainingField:
		d.op.Remaining, err = parseFloat(b)
	case retryField:
		var ns int64
		ns, _, err = parseScaled(b, retryPlaces)
		d.op.RetryAfter = max(time.Duration(ns), -1) // −1 s says "not told" in some protocols
	}
	if err != nil {
		return numberError(fieldNames[f], b, err)
	}
	return nil
}

// finish fills in what may be missing and checks the operation.
func (d *draft) finish() error {
	if d.present&required != required {
		return d.missing()
	}
	op := d.op
	if !d.has(dueField) {
		op.Due = op.Call
	}
	switch {
	case !d.has(returnField) && op.Outcome == Unsent:
		op.Return = op.Call // nothing was sent, so nothing took time
	case d.has(returnField) && op.Return == Forever:
		return inRange("return_ns", op.Return)
	}
	if err := d.finishWitness(); err != nil {
		return err
	}
	return op.Validate()
}

// required has the bits of the fields that every record must have.
const required = 1<<callField | 1<<outcomeField

func (d *draft) missing() error {
	var lost []string
	for _, f := range []field{callField, outcomeField} {
		if !d.has(f) {
			lost = append(lost, fieldNames[f])
		}
	}
	if len(lost) == 1 {
		return errors.New(lost[0] + " is missing")
	}
	return errors.New(strings.Join(lost, " and ") + " are missing")
}

// names keeps one copy of every key and instance. Both are few beside the
// operations, and the last one is often the next.
type names struct {
	known                 map[string]string
	lastKey, lastInstance string
}

func newNames() *names { return &names{known: make(map[string]string)} }

func (n *names) key(b []byte) string {
	if string(b) != n.lastKey {
		n.lastKey = n.intern(b)
	}
	return n.lastKey
}

func (n *names) instance(b []byte) string {
	if string(b) != n.lastInstance {
		n.lastInstance = n.intern(b)
	}
	return n.lastInstance
}

func (n *names) intern(b []byte) string {
	if s, ok := n.known[string(b)]; ok {
		return s
	}
	s := string(b)
	n.known[s] = s
	return s
}
