package reports

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"bucketproof/scenarios/capacity"
)

// Widths of what is told of capacity, in columns.
const (
	proseWidth     = 80 // it is folded to
	widestName     = 16 // a name with words beside it; those of a wider one begin on the line below
	widestQuantity = 22 // the same in a plan
)

// textCapacity tells what was found out about each limiter: names beside words,
// every number of callers, and the plan. Several stand side by side before that.
func textCapacity(b *strings.Builder, p ink, r *Report) {
	if len(r.Capacity) > 1 && len(r.Capacity) <= mostNamed {
		textTable(b, sideBySide(r.Capacity))
	}
	for i, c := range r.Capacity {
		s := newHTMLSubject(i, c)
		fmt.Fprintf(b, "\n%s %s", p.mark(s.State), clean(s.Limiter))
		if s.Limit != "" {
			fmt.Fprintf(b, "  (%s)", clean(s.Limit))
		}
		b.WriteString("\n")
		width := 0
		for _, f := range s.Facts {
			width = max(width, min(utf8.RuneCountInString(f.Name), widestName))
		}
		for _, f := range s.Facts {
			textEntry(b, width, f.Name, f.Words)
		}
		textTable(b, sweepTable(c))
		textPlan(b, c.Plan, s.Plan)
		if c.Plan != nil && len(c.Plan.Unmeasured) > 0 && !saidBelow(r.Capacity[i+1:], c.Plan.Unmeasured) {
			b.WriteString("\n")
			textEntry(b, 0, "", "Not measured, and so in no plan: "+strings.Join(c.Plan.Unmeasured, "; ")+".")
		}
	}
}

// sideBySide has a column for each limiter.
func sideBySide(list []capacity.Result) htmlTable {
	t := htmlTable{Head: make([]string, 1, 1+len(list))}
	for _, name := range overviewHead[1:] {
		t.Rows = append(t.Rows, []string{name})
	}
	for _, c := range list {
		row := overviewRow(c)
		t.Head = append(t.Head, clean(row[0]))
		for i := range t.Rows {
			t.Rows[i] = append(t.Rows[i], row[1+i])
		}
	}
	return t
}

// saidBelow reports whether a later plan leaves out the same things: what all have
// in common is told once, below the last.
func saidBelow(later []capacity.Result, unmeasured []string) bool {
	return slices.ContainsFunc(later, func(c capacity.Result) bool {
		return c.Plan != nil && slices.Equal(c.Plan.Unmeasured, unmeasured)
	})
}

// textEntry writes a name and paragraphs beside it, folded.
func textEntry(b *strings.Builder, width int, name string, paragraphs ...string) {
	indent := 2 // of the words
	if width > 0 {
		indent += width + 2
	}
	head := "  " + clean(name)
	if utf8.RuneCountInString(name) > width {
		b.WriteString(head + "\n")
		head = ""
	}
	for _, words := range paragraphs {
		for line := range strings.SplitSeq(wrapWords(clean(words), proseWidth-indent), "\n") {
			b.WriteString(pad(head, indent) + line + "\n")
			head = ""
		}
	}
}

// unit is that of a figure before it, and value what a symbol is said to be: no line
// ends between them.
var (
	unit  = regexp.MustCompile(`(\d) (%|(?:[nµm]?s|min|h|d|bytes?|[kMGT]B)\b)`)
	value = regexp.MustCompile(` = (\d)`)
)

// noBreak is a space at which no line ends.
const noBreak = "\u00a0"

// wrapWords breaks s between words, into lines of at most width.
func wrapWords(s string, width int) string {
	s = unit.ReplaceAllString(s, "${1}"+noBreak+"${2}")
	s = value.ReplaceAllString(s, noBreak+"="+noBreak+"${1}")
	var b strings.Builder
	used := 0
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' }) {
		n := utf8.RuneCountInString(word)
		switch {
		case used == 0:
		case used+1+n > width:
			b.WriteString("\n")
			used = 0
		default:
			b.WriteString(" ")
			used++
		}
		b.WriteString(word)
		used += n
	}
	return strings.ReplaceAll(b.String(), noBreak, " ")
}

// textTable writes figures below their heads, aligned to the right.
func textTable(b *strings.Builder, t htmlTable) {
	if len(t.Rows) == 0 {
		return
	}
	b.WriteString("\n")
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		fmt.Fprintln(w, strings.Join(row, "\t")+"\t")
	}
	_ = w.Flush() // into memory
}

// textPlan writes each quantity of a plan with its formula, and below that what was
// put in.
func textPlan(b *strings.Builder, plan *capacity.Plan, p *htmlPlan) {
	if p == nil {
		return
	}
	b.WriteString("\n")
	textEntry(b, 0, "", p.Heading)
	if p.Refused != "" {
		textEntry(b, 0, "", p.Refused)
	}
	if len(p.Table.Rows) == 0 {
		return
	}
	b.WriteString("\n")
	width := 0
	for _, row := range p.Table.Rows {
		width = max(width, min(utf8.RuneCountInString(row[0]), widestQuantity))
	}
	for _, row := range p.Table.Rows {
		textEntry(b, width, row[0], row[3]+" = "+row[1], "= "+row[2])
	}
}
