package reports

import (
	"fmt"
	"strings"

	"bucketproof/reports/quantity"
)

// markdown renders r to be pasted into an issue or a pull request: the
// verdict, the matrix, what needs a reader, and the latencies.
func markdown(r *Report) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", escape(headline(r)))
	markdownFacts(&b, r)
	if r.Selftest != nil {
		markdownSelftest(&b, r)
	}
	if s := newStudy(r); s != nil {
		markdownStudy(&b, r, s)
	}
	if len(r.Capacity) > 0 {
		markdownCapacity(&b, r)
	}
	markdownMatrix(&b, newMatrix(r))
	markdownRuns(&b, r)
	markdownDisorder(&b, r.Runs)
	markdownUnmet(&b, untold(r))
	markdownLatency(&b, r)
	markdownSkipped(&b, r.Skipped)
	return []byte(b.String())
}

func markdownFacts(b *strings.Builder, r *Report) {
	if r.Command != "" {
		fmt.Fprintf(b, "    %s\n\n", clean(r.Command))
	}
	fmt.Fprintf(b, "- seed %d\n- Redis: %s\n- machine: %s\n- %s, took %s\n\n", r.Seed, escape(redisWords(r.Redis)),
		escape(machineWords(r.Harness)), quantity.Instant(r.StartedAt), quantity.Seconds(r.FinishedAt.Sub(r.StartedAt).Seconds()))
	if words := libraries(r); words != "" {
		fmt.Fprintf(b, "Libraries: %s.\n\n", escape(words))
	}
	for _, w := range warnings(r) {
		fmt.Fprintf(b, "> **Warning:** %s\n\n", escape(w))
	}
}

// markdownSelftest tabulates the controls. Threads are code, so that pasting
// the report leaves no trace in them.
func markdownSelftest(b *strings.Builder, r *Report) {
	fmt.Fprintf(b, "## %s, %s\n\n%s\n\n", escape(caughtWords(r)), escape(alarmWords(r)), aboutControls)
	b.WriteString("| | control | check | stands for | where it happened | what was found | to see it |\n")
	b.WriteString("| :---: | --- | --- | --- | --- | --- | --- |\n")
	for _, c := range ranked(r) {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", stateOfControl(r, c).symbol(), escape(c.Name), escape(c.Check),
			escape(sentence(c.StandsFor)), code(c.Threads), escape(controlWords(r, c)), code(controlCommand(c)))
	}
	b.WriteString("\n")
	for _, name := range alarmNames(r) {
		fmt.Fprintf(b, "- false alarm: %s\n", escape(name))
	}
	if len(alarmNames(r)) > 0 {
		b.WriteString("\n")
	}
}

func markdownMatrix(b *strings.Builder, m matrix) {
	if len(m.Rows) == 0 {
		return
	}
	b.WriteString("| " + m.RowsAre)
	for _, c := range m.Columns {
		b.WriteString(" | " + escape(c))
	}
	b.WriteString(" |\n| ---" + strings.Repeat(" | :---:", len(m.Columns)) + " |\n")
	for _, row := range m.Rows {
		b.WriteString("| " + escape(row))
		for _, c := range m.Columns {
			b.WriteString(" | " + markdownCell(m.at(row, c)))
		}
		b.WriteString(" |\n")
	}
	b.WriteString("\n")
	var key []string
	for _, s := range []state{passed, caught, unexpected, undecided, skipped} {
		key = append(key, s.symbol()+" "+s.words())
	}
	b.WriteString(strings.Join(key, ", ") + ". Several symbols are the points of a sweep; a number counts them.\n\n")
}

func markdownCell(marks []mark) string {
	var cell strings.Builder
	for _, s := range symbols(marks) {
		cell.WriteString(s.Text)
	}
	return cell.String()
}

// markdownRuns explains the runs that are not as expected or not decided.
func markdownRuns(b *strings.Builder, r *Report) {
	for _, s := range []state{unexpected, undecided} {
		first := true
		for _, run := range r.Runs {
			if stateOf(run) != s {
				continue
			}
			if first {
				fmt.Fprintf(b, "## %s\n\n", capitalized(s.words()))
				first = false
			}
			markdownRun(b, run)
		}
	}
}

func markdownRun(b *strings.Builder, run Run) {
	fmt.Fprintf(b, "**%s in %s**\n\n", escape(run.Limiter), escape(run.Scenario))
	for _, line := range findings(run) {
		fmt.Fprintf(b, "- %s\n", escape(line))
	}
	if link := pictureLink(run); link != "" {
		fmt.Fprintf(b, "- [%s](%s)\n", aboutPicture, link)
	}
	b.WriteString("\n")
}

// markdownDisorder links the pictures of the runs that are not told of above.
func markdownDisorder(b *strings.Builder, runs []Run) {
	first := true
	for _, run := range runs {
		link := pictureLink(run)
		if s := stateOf(run); link == "" || s == unexpected || s == undecided {
			continue
		}
		if first {
			fmt.Fprintf(b, "## %s\n\n", aboutPicture)
			first = false
		}
		fmt.Fprintf(b, "- [%s in %s](%s)\n", escape(run.Limiter), escape(run.Scenario), link)
	}
	if !first {
		b.WriteString("\n")
	}
}

func markdownUnmet(b *strings.Builder, unmet []Unmet) {
	if len(unmet) == 0 {
		return
	}
	b.WriteString("## Expected faults that no run showed\n\n")
	for _, u := range unmet {
		fmt.Fprintf(b, "- **%s**, %s: %s\n", escape(u.Limiter), escape(u.Check), escape(sentence(u.Detail)))
	}
	b.WriteString("\n")
}

// markdownLatency tabulates the runs that were made for their latencies.
func markdownLatency(b *strings.Builder, r *Report) {
	first := true
	for _, run := range r.Runs {
		l, s := run.LatencyUS, run.ServiceLatencyUS
		if !run.LatencyMeasured || l == nil || s == nil {
			continue
		}
		if first {
			b.WriteString("## Latency\n\n")
			if r.Redis.Kind == embeddedRedis {
				fmt.Fprintf(b, "> **Warning:** %s\n\n", embeddedWarning)
			}
			b.WriteString("From the time the schedule wanted the request; in brackets from the call.\n\n")
			b.WriteString("| scenario | limiter | p50 | p99 | p99.9 | max |\n| --- | --- | ---: | ---: | ---: | ---: |\n")
			first = false
		}
		fmt.Fprintf(b, "| %s | %s", escape(run.Scenario), escape(run.Limiter))
		for _, pair := range [][2]float64{{l.P50, s.P50}, {l.P99, s.P99}, {l.P999, s.P999}, {l.Max, s.Max}} {
			fmt.Fprintf(b, " | %s (%s)", quantity.Micros(pair[0]), quantity.Micros(pair[1]))
		}
		b.WriteString(" |\n")
	}
	if !first {
		b.WriteString("\n")
	}
}

func markdownSkipped(b *strings.Builder, skips []Skip) {
	if len(skips) == 0 {
		return
	}
	b.WriteString("## Skipped\n\n")
	for _, s := range skips {
		fmt.Fprintf(b, "- %s in %s: %s\n", escape(s.Limiter), escape(s.Scenario), escape(s.Reason))
	}
}

// marks are the characters that Markdown or HTML would take for their own.
var marks = strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "|", "\\|", "[", "\\[", "]", "\\]",
	"&", "&amp;", "<", "&lt;", ">", "&gt;")

// escape makes s plain text in Markdown, on one line.
func escape(s string) string {
	return marks.Replace(clean(s))
}

// code makes s literal text in a table of Markdown; "" stays empty.
func code(s string) string {
	if s == "" {
		return s
	}
	return "`" + strings.NewReplacer("`", "'", "|", "\\|").Replace(clean(s)) + "`"
}

func capitalized(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
