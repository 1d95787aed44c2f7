package reports

import (
	"fmt"
	"strings"
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
