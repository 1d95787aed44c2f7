package reports

import (
	"bytes"
	"strings"
	"unicode"
)

// clean replaces what a terminal would act on or cannot show, and puts
// everything on one line: names and messages come from files and servers.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case !unicode.IsGraphic(r):
			return '\uFFFD'
		}
		return r
	}, s)
}

// cleanLines is clean for a whole file, which keeps its lines.
func cleanLines(data []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsGraphic(r) {
			return '\uFFFD'
		}
		return r
	}, data)
}
