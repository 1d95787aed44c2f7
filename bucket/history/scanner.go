package history

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// scanner reads one JSON value from a line, as RFC 8259 has it: it accepts
// what encoding/json accepts, and copies only strings with escapes. Depth is
// bounded; nothing here panics.
type scanner struct {
	line  []byte
	at    int
	plain []byte // the last string that had escapes
}

// valueKind is what a JSON value is, by its first byte.
type valueKind string

const (
	noValue     valueKind = ""
	nullValue   valueKind = "null"
	numberValue valueKind = "a number"
	stringValue valueKind = "a string"
	boolValue   valueKind = "true or false"
	objectValue valueKind = "an object"
	arrayValue  valueKind = "an array"
)

// kind looks at the next value.
func (s *scanner) kind() valueKind {
	switch c := s.next(); {
	case c == 'n':
		return nullValue
	case c == '-' || '0' <= c && c <= '9':
		return numberValue
	case c == '"':
		return stringValue
	case c == 't' || c == 'f':
		return boolValue
	case c == '{':
		return objectValue
	case c == '[':
		return arrayValue
	}
	return noValue
}

// next skips white space and returns the byte there, 0 at the end.
func (s *scanner) next() byte {
	for ; s.at < len(s.line); s.at++ {
		switch c := s.line[s.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// wrong says what is at the present place where want should be.
func (s *scanner) wrong(want string) error {
	if s.at >= len(s.line) {
		return fmt.Errorf("the line ends where %s should be", want)
	}
	r, _ := utf8.DecodeRune(s.line[s.at:])
	return fmt.Errorf("%q at byte %d, want %s", r, s.at+1, want)
}

// expect takes the byte c.
func (s *scanner) expect(c byte, want string) error {
	if s.next() != c || s.at >= len(s.line) {
		return s.wrong(want)
	}
	s.at++
	return nil
}

// end makes sure that nothing but white space is left.
func (s *scanner) end() error {
	if s.next(); s.at < len(s.line) {
		return s.wrong("the end of the line")
	}
	return nil
}

// object reads an object and has each member's value read by value.
func (s *scanner) object(value func(name []byte) error) error {
	if err := s.expect('{', "{"); err != nil {
		return err
	}
	if s.next() == '}' {
		s.at++
		return nil
	}
	for {
		if s.next() != '"' {
			return s.wrong("a name in quotes")
		}
		name, err := s.text()
		if err != nil {
			return err
		}
		if err := s.expect(':', ":"); err != nil {
			return err
		}
		if err := value(name); err != nil {
			return err
		}
		if s.next() == ',' {
			s.at++
			continue
		}
		return s.expect('}', ", or }")
	}
}

// number takes a number's bytes, and those of NaN and the like; whether they
// are a number parseDecimal decides.
func (s *scanner) number() ([]byte, error) {
	s.next()
	start := s.at
	for s.at < len(s.line) && inNumber(s.line[s.at]) {
		s.at++
	}
	if s.at == start {
		return nil, s.wrong("a number")
	}
	return s.line[start:s.at], nil
}

func inNumber(c byte) bool {
	return '0' <= c && c <= '9' || c == '.' || c == '-' || c == '+' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// text takes a string and returns what it stands for, valid until the next
// string with escapes.
func (s *scanner) text() ([]byte, error) {
	if s.next() != '"' {
		return nil, s.wrong("a string")
	}
	s.at++
	start := s.at
	for ; s.at < len(s.line); s.at++ {
		switch c := s.line[s.at]; {
		case c == '"':
			s.at++
			return s.line[start : s.at-1], nil
		case c == '\\':
			s.plain = append(s.plain[:0], s.line[start:s.at]...)
			return s.escaped()
		case c < ' ':
			return nil, s.wrong("no control character in a string")
		}
	}
	return nil, s.wrong(`a closing "`)
}

// maxDepth bounds how deep a value that is skipped may be nested.
const maxDepth = 100

// skip takes any value.
func (s *scanner) skip() error { return s.skipAt(0) }

func (s *scanner) skipAt(depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("nested deeper than %d", maxDepth)
	}
	switch s.kind() {
	case nullValue, boolValue:
		return s.word()
	case numberValue:
		b, err := s.number()
		if err != nil {
			return err
		}
		if _, err := parseDecimal(b); err != nil {
			return fmt.Errorf("%.40s is no number", b)
		}
		return nil
	case stringValue:
		_, err := s.text()
		return err
	case objectValue:
		return s.object(func([]byte) error { return s.skipAt(depth + 1) })
	case arrayValue:
		return s.skipArray(depth)
	}
	return s.wrong("a value")
}

func (s *scanner) word() error {
	for _, w := range []string{"null", "true", "false"} {
		if bytes.HasPrefix(s.line[s.at:], []byte(w)) {
			s.at += len(w)
			return nil
		}
	}
	return s.wrong("null, true or false")
}

func (s *scanner) skipArray(depth int) error {
	s.at++
	if s.next() == ']' {
		s.at++
		return nil
	}
	for {
		if err := s.skipAt(depth + 1); err != nil {
			return err
		}
		if s.next() == ',' {
			s.at++
			continue
		}
		return s.expect(']', ", or ]")
	}
}
