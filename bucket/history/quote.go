package history

import (
	"unicode/utf16"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// appendQuoted appends s as a JSON string.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			b = append(b, s[start:i]...)
			b = appendEscape(b, c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			b = append(b, s[start:i]...)
			b = append(b, "\ufffd"...)
			start = i + size
		}
		i += size
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// escaped goes on with a string from its first backslash; s.plain holds what
// came before.
func (s *scanner) escaped() ([]byte, error) {
	for s.at < len(s.line) {
		c := s.line[s.at]
		switch {
		case c == '"':
			s.at++
			return s.plain, nil
		case c < ' ':
			return nil, s.wrong("no control character in a string")
		case c != '\\':
			s.plain = append(s.plain, c)
			s.at++
		default:
			if err := s.escape(); err != nil {
				return nil, err
			}
		}
	}
	return nil, s.wrong(`a closing "`)
}

// escape takes one escape, or two that are the halves of a surrogate pair.
func (s *scanner) escape() error {
	s.at++
	if s.at >= len(s.line) {
		return s.wrong("an escape")
	}
	c := s.line[s.at]
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return s.escapedRune()
	default:
		return s.wrong("an escape")
	}
	s.plain = append(s.plain, c)
	s.at++
	return nil
}

// escapedRune takes the u and four digits of an escape. Half a pair alone
// becomes U+FFFD, as everywhere in Go.
func (s *scanner) escapedRune() error {
	r, ok := s.hex(s.at + 1)
	if !ok {
		return s.wrong(`four hexadecimal digits after \u`)
	}
	s.at += 5
	if utf16.IsSurrogate(r) && s.at+1 < len(s.line) && s.line[s.at] == '\\' && s.line[s.at+1] == 'u' {
		if low, ok := s.hex(s.at + 2); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				s.plain = utf8.AppendRune(s.plain, pair)
				s.at += 6
				return nil
			}
		}
	}
	s.plain = utf8.AppendRune(s.plain, r)
	return nil
}

// hex reads four hexadecimal digits.
func (s *scanner) hex(at int) (rune, bool) {
	if at+4 > len(s.line) {
		return 0, false
	}
	r := rune(0)
	for _, c := range s.line[at : at+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
