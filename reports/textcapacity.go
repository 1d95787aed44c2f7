package reports

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"bucketproof/scenarios/capacity"
)

// textCapacity draws what was found out about each limiter, names beside words.
func textCapacity(b *strings.Builder, p ink, r *Report) {
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
			textEntry(b, f.Name, f.Words, width)
		}
		textPlan(b, c.Plan, s.Plan)
	}
}

// widestName is how wide names may be before their words begin on a line below.
const widestName = 16

// textEntry writes a name and words beside it, folded.
func textEntry(b *strings.Builder, name, words string, width int) {
	indent := strings.Repeat(" ", width+4)
	head := "  " + pad(clean(name), width) + "  "
	if utf8.RuneCountInString(name) > width {
		b.WriteString("  " + clean(name) + "\n")
		head = indent
	}
	for i, line := range strings.Split(strings.TrimRight(wrapWords(clean(words), terminalWidth-width-4), "\n"), "\n") {
		if i > 0 {
			head = indent
		}
		b.WriteString(strings.TrimRight(head+line, " ") + "\n")
	}
}

// wrapWords breaks s between words, into lines of at most width.
func wrapWords(s string, width int) string {
	var b strings.Builder
	used := 0
	for _, word := range strings.Fields(s) {
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
	return b.String()
}

func textPlan(b *strings.Builder, plan *capacity.Plan, p *htmlPlan) {
	if p == nil {
		return
	}
	fmt.Fprintf(b, "\n  %s\n", clean(p.Heading))
	if p.Refused != "" {
		textEntry(b, "", p.Refused, 0)
	}
	for i, row := range p.Table.Rows {
		fmt.Fprintf(b, "    %s: %s\n", clean(row[0]), clean(row[3]))
		textEntry(b, "", fmt.Sprintf("= %s = %s", plan.Formulas[i].Text, plan.Formulas[i].Inputs), 4)
	}
	if len(p.Unmeasured) > 0 {
		textEntry(b, "", "Not measured: "+strings.Join(p.Unmeasured, "; ")+".", 0)
	}
}
