package reports

import (
	"strings"
	"unicode/utf8"
)

// ink colours terminal text, or leaves it plain.
type ink struct{ color bool }

// ansi are the colours of the states; a symbol always stands beside them.
var ansi = map[state]string{
	absent: "\x1b[2m", skipped: "\x1b[2m", passed: "\x1b[32m", caught: "\x1b[34m", undecided: "\x1b[33m", unexpected: "\x1b[31;1m",
}

func (p ink) paint(s state, text string) string {
	if !p.color {
		return text
	}
	return ansi[s] + text + "\x1b[0m"
}

func (p ink) mark(s state) string {
	return p.paint(s, s.symbol())
}

// cell writes the symbols of a cell, padded to a width.
func (p ink) cell(marks []mark, width int) string {
	if len(marks) == 0 {
		marks = []mark{{State: absent}}
	}
	var b strings.Builder
	used := 0
	for _, s := range symbols(marks) {
		b.WriteString(p.paint(s.State, s.Text))
		used += utf8.RuneCountInString(s.Text)
	}
	return b.String() + strings.Repeat(" ", max(0, width-used))
}
