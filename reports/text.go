package reports

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"bucketproof/reports/quantity"
)

// Text writes the summary that ends a command on a terminal: the verdict, the
// matrix (of a selftest, the controls in its place), what is not as expected or
// not decided, and what was skipped. With color it uses the eight ANSI colours.
func Text(w io.Writer, r *Report, color bool) error {
	p := ink{color: color}
	var b strings.Builder
	b.WriteString(p.paint(topState(r), clean(headline(r))) + "\n")
	for _, warning := range warnings(r) {
		b.WriteString(p.paint(undecided, "warning: ") + clean(warning) + "\n")
	}
	switch {
	case r.Selftest != nil:
		textSelftest(&b, p, r)
		textRuns(&b, p, r)
	case len(r.Runs) == 1 && len(r.Skipped) == 0:
		textChecks(&b, p, r.Runs[0])
	default:
		textMatrix(&b, p, newMatrix(r))
		textRuns(&b, p, r)
	}
	if s := newStudy(r); s != nil {
		textStudy(&b, p, r, s)
	}
	textCapacity(&b, p, r)
	for _, u := range untold(r) {
		fmt.Fprintf(&b, "\n%s %s: %s was expected in at least one run\n", p.mark(unexpected), clean(u.Limiter), clean(u.Check))
		textLine(&b, sentence(u.Detail))
	}
	textSkipped(&b, p, r.Skipped)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	return nil
}

// topState is the verdict of the whole as a state.
func topState(r *Report) state {
	if r.Selftest != nil && stateOfSelftest(r) == unexpected {
		return unexpected
	}
	switch r.Verdict {
	case "pass":
		return passed
	case "undecided":
		return undecided
	}
	return unexpected
}

// textSelftest draws a line for each control, those to look at first, and one
// for the clean runs.
func textSelftest(b *strings.Builder, p ink, r *Report) {
	names, checks := 0, 0
	for _, c := range r.Selftest.Controls {
		names, checks = max(names, utf8.RuneCountInString(clean(c.Name))), max(checks, utf8.RuneCountInString(clean(c.Check)))
	}
	b.WriteString("\n")
	for _, c := range ranked(r) {
		head := fmt.Sprintf("%s  %s  ", pad(clean(c.Name), names), pad(clean(c.Check), checks))
		room := max(terminalWidth-2-utf8.RuneCountInString(head), 30)
		fmt.Fprintf(b, "%s %s%s\n", p.mark(stateOfControl(r, c)), head, shortened(clean(controlFigure(r, c)), room))
	}
	fmt.Fprintf(b, "\n%s %s\n", p.mark(stateOfAlarms(r)), alarmWords(r))
	for _, name := range alarmNames(r) {
		textLine(b, name)
	}
}

// shortened cuts s between words so that it takes at most width.
func shortened(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	s = string([]rune(s)[:width-1])
	if i := strings.LastIndexByte(s, ' '); i > 0 {
		s = s[:i]
	}
	return strings.TrimRight(s, " ,;:") + "…"
}

func textRuns(b *strings.Builder, p ink, r *Report) {
	for _, run := range r.Runs {
		textRun(b, p, run)
	}
}

// textRun explains a run that is not as expected or not decided.
func textRun(b *strings.Builder, p ink, run Run) {
	s := stateOf(run)
	if s != unexpected && s != undecided {
		return
	}
	fmt.Fprintf(b, "\n%s %s in %s: %s\n", p.mark(s), clean(run.Limiter), clean(run.Scenario), s.words())
	for _, line := range findings(run) {
		textLine(b, line)
	}
}

// textChecks tells all that was found in a run that is the only one.
func textChecks(b *strings.Builder, p ink, run Run) {
	fmt.Fprintf(b, "\n%s in %s, %s: %s\n\n", clean(run.Limiter), clean(run.Scenario), witnessWords(run), describe(run, picture{}))
	width := 0
	for _, c := range run.Checks {
		width = max(width, utf8.RuneCountInString(c.Name))
	}
	for _, c := range run.Checks {
		fmt.Fprintf(b, "%s %s  %s\n", p.mark(stateOfCheck(run, c)), pad(clean(c.Name), width), clean(strings.Join(sentences(run, c), " ")))
	}
	for _, w := range run.Warnings {
		textLine(b, "warning: "+w)
	}
}

func textLine(b *strings.Builder, s string) {
	if s != "" {
		b.WriteString("    " + clean(s) + "\n")
	}
}

func textSkipped(b *strings.Builder, p ink, skips []Skip) {
	if len(skips) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s skipped:\n", p.mark(skipped))
	for _, s := range skips {
		textLine(b, fmt.Sprintf("%s in %s: %s", s.Limiter, s.Scenario, s.Reason))
	}
}

// terminalWidth is what the matrix may take before its columns are numbered.
const terminalWidth = 100

// textMatrix draws the matrix with one symbol a run. Columns are numbered and
// listed below where their names would not fit.
func textMatrix(b *strings.Builder, p ink, m matrix) {
	if len(m.Rows) == 0 {
		return
	}
	first := 0
	for _, row := range m.Rows {
		first = max(first, utf8.RuneCountInString(row))
	}
	heads, numbered := make([]string, len(m.Columns)), false
	total := first
	for i, c := range m.Columns {
		heads[i] = clean(c)
		total += 2 + utf8.RuneCountInString(c)
	}
	if total > terminalWidth {
		numbered = true
		for i := range heads {
			heads[i] = fmt.Sprint(i + 1)
		}
	}
	line := strings.Repeat(" ", first)
	widths := make([]int, len(heads))
	for i, column := range m.Columns {
		widths[i] = utf8.RuneCountInString(heads[i])
		for _, row := range m.Rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(ink{}.cell(m.at(row, column), 0)))
		}
		line += "  " + pad(heads[i], widths[i])
	}
	b.WriteString("\n" + strings.TrimRight(line, " ") + "\n")
	for _, row := range m.Rows {
		line := pad(clean(row), first)
		for i, column := range m.Columns {
			line += "  " + p.cell(m.at(row, column), widths[i])
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	textKey(b, p, m, numbered)
}

// textKey explains symbols and numbered columns, as far as they occur.
func textKey(b *strings.Builder, p ink, m matrix, numbered bool) {
	if numbered {
		var names []string
		for i, c := range m.Columns {
			names = append(names, fmt.Sprintf("%d %s", i+1, clean(c)))
		}
		b.WriteString("\n" + wrap(names, terminalWidth))
	}
	seen := make(map[state]int)
	for _, marks := range m.cells {
		for _, mk := range marks {
			seen[mk.State]++
		}
	}
	var parts []string
	for s := unexpected; s > absent; s-- {
		if seen[s] > 0 {
			parts = append(parts, fmt.Sprintf("%s %s: %s", p.mark(s), s.words(), quantity.Count(int64(seen[s]))))
		}
	}
	b.WriteString("\n" + strings.Join(parts, "   ") + "\n")
}

// wrap joins items with two spaces, in lines of at most width.
func wrap(items []string, width int) string {
	var b strings.Builder
	used := 0
	for i, item := range items {
		n := utf8.RuneCountInString(item)
		switch {
		case i == 0:
		case used+2+n > width:
			b.WriteString("\n")
			used = 0
		default:
			b.WriteString("  ")
			used += 2
		}
		b.WriteString(item)
		used += n
	}
	return b.String() + "\n"
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}
