package reports

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"bucketproof/scenarios/capacity"
)

// markdownCapacity tells what was found out about capacity, to be pasted into a
// design document.
func markdownCapacity(b *strings.Builder, r *Report) {
	fmt.Fprintf(b, "## %s\n\n", capacityTitle)
	if slo := sloWords(r.Capacity[0].Knee.SLO); slo != "" {
		fmt.Fprintf(b, "The objective: %s, from the time a request was due.\n\n", escape(slo))
	}
	var rows [][]string
	for _, c := range r.Capacity {
		rows = append(rows, overviewRow(c))
	}
	markdownTable(b, overviewHead, rows, false)
	for _, p := range capacityPages(r) {
		fmt.Fprintf(b, "![%s](plots/%s.png)\n\n", escape(p.figure.Title()), p.name)
	}
	for i, c := range r.Capacity {
		s := newHTMLSubject(i, c)
		fmt.Fprintf(b, "### %s\n\n", escape(c.Limiter))
		for _, f := range s.Facts {
			fmt.Fprintf(b, "- **%s**: %s\n", escape(f.Name), escape(f.Words))
		}
		b.WriteString("\n")
		markdownPlan(b, s.Plan)
		for _, t := range s.Details {
			fmt.Fprintf(b, "<details><summary>%s</summary>\n\n", escape(t.Name))
			markdownTable(b, t.Head, t.Rows, true)
			b.WriteString("</details>\n\n")
		}
	}
}

func markdownPlan(b *strings.Builder, p *htmlPlan) {
	if p == nil {
		return
	}
	fmt.Fprintf(b, "**%s**\n\n", escape(p.Heading))
	if p.Refused != "" {
		fmt.Fprintf(b, "%s\n\n", escape(p.Refused))
	}
	if len(p.Table.Rows) > 0 {
		markdownTable(b, p.Table.Head, p.Table.Rows, false)
	}
	if len(p.Unmeasured) > 0 {
		fmt.Fprintf(b, "Not measured, and so not in the plan: %s.\n\n", escape(strings.Join(p.Unmeasured, "; ")))
	}
}

// markdownTable writes rows below their heads; figures have their columns
// aligned to the right.
func markdownTable(b *strings.Builder, head []string, rows [][]string, figures bool) {
	align := " ---"
	if figures {
		align = " ---:"
	}
	b.WriteString("| " + strings.Join(head, " | ") + " |\n|" + strings.Repeat(align+" |", len(head)) + "\n")
	for _, row := range rows {
		for _, cell := range row {
			b.WriteString("| " + escape(cell) + " ")
		}
		b.WriteString("|\n")
	}
	b.WriteString("\n")
}

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
