package limiterfile

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// scalar is a text of the file that can tell where each of its characters
// stands in the source, for the mistakes inside expressions.
type scalar struct {
	text  string
	at    place      // of its first character: a quote, or the | of a block
	style token.Type // how it is written
	src   *source
}

func (s *source) scalar(text string, n ast.Node) scalar {
	return scalar{text: text, at: start(n), style: style(n), src: s}
}

func style(n ast.Node) token.Type {
	if l, ok := n.(*ast.LiteralNode); ok {
		return l.Start.Type
	}
	return n.GetToken().Type
}

// plain reports that the text stands unquoted in the file.
func (s scalar) plain() bool {
	switch s.style {
	case token.DoubleQuoteType, token.SingleQuoteType, token.LiteralType, token.FoldedType:
		return false
	}
	return true
}

// place finds the source of the n-th character of the text, counted from 0. A
// text that YAML folded from several lines is placed at its beginning.
func (s scalar) place(n int) place {
	line := s.src.line(s.at.line)
	switch s.style {
	case token.LiteralType:
		return s.blockPlace(n)
	case token.FoldedType:
		return s.at
	case token.DoubleQuoteType, token.SingleQuoteType:
		i := s.at.column // the index just behind the opening quote
		for ; n > 0 && i < len(line); n-- {
			i += width(line[i:], s.style)
		}
		if n > 0 || i >= len(line) {
			return s.at
		}
		return place{s.at.line, i + 1}
	}
	if s.at.column-1+n > len(line) {
		return s.at
	}
	return place{s.at.line, s.at.column + n}
}

// width is the number of source characters that stand for the first character
// of a quoted text.
func width(rest []rune, style token.Type) int {
	switch {
	case style == token.SingleQuoteType && rest[0] == '\'':
		return 2 // ''
	case style == token.DoubleQuoteType && rest[0] == '\\' && len(rest) > 1:
		switch rest[1] {
		case 'x':
			return 4
		case 'u':
			return 6
		case 'U':
			return 10
		}
		return 2
	}
	return 1
}

// blockPlace finds the n-th character of a | block: its lines are the lines
// below the header, without their common indentation.
func (s scalar) blockPlace(n int) place {
	before := string([]rune(s.text)[:min(n, len([]rune(s.text)))])
	row := strings.Count(before, "\n")
	column := len([]rune(before[strings.LastIndexByte(before, '\n')+1:]))
	return place{s.at.line + 1 + row, s.indent() + column + 1}
}

// indent is the indentation of a block: that of its first line with content.
func (s scalar) indent() int {
	for n := s.at.line + 1; n <= len(s.src.lines); n++ {
		for i, c := range s.src.line(n) {
			if c != ' ' {
				return i
			}
		}
	}
	return 0
}
