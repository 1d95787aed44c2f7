package reports

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// markdownStudy tabulates what each disturbance did to each limiter, in words
// and in figures.
func markdownStudy(b *strings.Builder, r *Report, s *study) {
	fmt.Fprintf(b, "## %s\n\n", studyTitle)
	head := func(first string) {
		b.WriteString("| " + first)
		for _, limiter := range s.limiters {
			b.WriteString(" | " + escape(limiter))
		}
		b.WriteString(" |\n|" + strings.Repeat(" --- |", len(s.limiters)+1) + "\n")
	}
	head("what happened")
	for i, o := range s.ordeals {
		if i == 0 || s.ordeals[i-1].of != o.of {
			fmt.Fprintf(b, "| **%s** |%s\n", escape(sideWords(o.of)), strings.Repeat(" |", len(s.limiters)))
		}
		row := newHTMLOrdeal(r, s, o)
		b.WriteString("| " + escape(row.Heading))
		for _, cell := range row.Rulings {
			b.WriteString(" | " + escape(cell.Words))
		}
		b.WriteString(" |\n")
	}
	b.WriteString("\n")
	for _, limiter := range s.limiters {
		fmt.Fprintf(b, "- **%s**: %s\n", escape(limiter), escape(strings.Join(newChoice(r, s, limiter).sentences(), " ")))
	}
	if words := ttlWords(r, s); len(words) > 0 {
		fmt.Fprintf(b, "\n%s\n", escape(strings.Join(words, " ")))
	}
	fmt.Fprintf(b, "\n%s.\n\n", escape(count(r, s).words()))
	head("figure")
	for _, o := range s.ordeals {
		fmt.Fprintf(b, "| **%s** |%s\n", escape(capitalized(o.heading())), strings.Repeat(" |", len(s.limiters)))
		for _, row := range figureRows(r, s, o) {
			b.WriteString("| " + escape(row.Name))
			for _, cell := range row.Cells {
				b.WriteString(" | " + escape(cell.words()))
			}
			b.WriteString(" |\n")
		}
	}
	b.WriteString("\n")
}

// words are the cell on one line.
func (c figureCell) words() string {
	words := c.Measured
	switch {
	case c.Verdict != "":
		words += " (predicted " + c.Predicted + ", " + c.Verdict + ")"
	case c.Predicted != "":
		words += " (" + c.Predicted + ")"
	}
	return words
}

// textStudy draws a line for each limiter: in how many disturbances of each
// side it broke, and what happened at worst.
func textStudy(b *strings.Builder, p ink, r *Report, s *study) {
	var sides []string
	for _, o := range s.ordeals {
		if !slices.Contains(sides, o.of) {
			sides = append(sides, o.of)
		}
	}
	rows := [][]string{{studyTitle}}
	for _, of := range sides {
		rows[0] = append(rows[0], strings.ToLower(sideWords(of)))
	}
	rows[0] = append(rows[0], "at worst")
	var states []state
	for _, limiter := range s.limiters {
		c := newChoice(r, s, limiter)
		row := []string{limiter}
		for _, of := range sides {
			row = append(row, c.countWords(of))
		}
		rows = append(rows, append(row, strings.Join(c.worst(false), ", ")))
		states = append(states, c.state())
	}
	widths := make([]int, len(rows[0])-1)
	for _, row := range rows {
		for i := range widths {
			widths[i] = max(widths[i], utf8.RuneCountInString(clean(row[i])))
		}
	}
	b.WriteString("\n")
	for n, row := range rows {
		line := "  "
		if n > 0 {
			line = p.mark(states[n-1]) + " "
		}
		for i, width := range widths {
			line += pad(clean(row[i]), width) + "  "
		}
		b.WriteString(strings.TrimRight(line+clean(row[len(row)-1]), " ") + "\n")
	}
}
