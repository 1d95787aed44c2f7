package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"bucketproof/reports/quantity"
	"bucketproof/scenarios/capacity"
)

// writeCapacity prints what was found out about one limiter.
func writeCapacity(w io.Writer, r *capacity.Result, color bool) error {
	var b strings.Builder
	bold := func(text string) string {
		if !color {
			return text
		}
		return "\x1b[1m" + text + "\x1b[0m"
	}
	fmt.Fprintf(&b, "\n%s  (%s tokens/s, capacity %s)\n\n", bold(printable(r.Limiter)), quantity.Number(r.Limit.Rate), quantity.Number(r.Limit.Capacity))
	writeLevels(&b, r)
	b.WriteString("\n")
	writeLaw(&b, r)
	writeKnee(&b, "knee", &r.Knee)
	if r.Pipelined != nil {
		writeKnee(&b, "knee, pipelined", r.Pipelined)
	}
	writeCosts(&b, r)
	for _, c := range r.Compare {
		text := c.Detail
		if c.Skipped != "" {
			text = c.Skipped
		}
		entry(&b, c.What, text)
	}
	if v := r.Verified; v != nil {
		entry(&b, "checked", fmt.Sprintf("%s: %s operations; %s", v.Verdict, quantity.Count(v.Operations), v.Detail))
	}
	for _, n := range r.Notes {
		entry(&b, "note", n)
	}
	writePlan(&b, r.Plan, bold)
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func writeLevels(b *strings.Builder, r *capacity.Result) {
	t := tabwriter.NewWriter(b, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "callers\t\tdecisions/s\tp50\tp99\tRedis busy\tgenerator idle\t\n")
	for _, l := range r.Connections {
		mode := "plain"
		if l.Pipelined {
			mode = "pipelined"
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t\n", l.N, mode, quantity.Number(l.ThroughputPS), quantity.Micros(l.P50US), quantity.Micros(l.P99US),
			quantity.Percent(l.RedisCPU), quantity.Percent(l.GeneratorIdle))
	}
	_ = t.Flush() // into memory
}

// entry prints a name and a text beside it, folded.
func entry(b *strings.Builder, name, text string) {
	const indent, width = 18, 100
	if len(name) > indent-2 {
		fmt.Fprintf(b, "%s\n", printable(name))
		name = ""
	}
	line := fmt.Sprintf("%-*s", indent, printable(name))
	used := len(line)
	for _, word := range strings.Fields(printable(text)) {
		if n := len([]rune(word)); used+n > width && used > indent {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line, used = strings.Repeat(" ", indent), indent
		}
		line += word + " "
		used += len([]rune(word)) + 1
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}

func writeLaw(b *strings.Builder, r *capacity.Result) {
	u := r.USL
	var text string
	if u.Lambda > 0 {
		text = fmt.Sprintf("X(n) = λn / (1 + σ(n − 1) + κn(n − 1)): λ %s/s, σ %.3g, κ %.3g, R² %.3f;", quantity.Number(u.Lambda), u.Sigma, u.Kappa, u.R2)
		if ci := u.CI95["peak_per_s"]; u.PeakN > 0 {
			text += fmt.Sprintf(" peak %s/s at %.0f callers (95 %%: %s to %s).", quantity.Number(u.PeakPS), u.PeakN, quantity.Number(max(ci.Low, 0)), quantity.Number(ci.High))
		} else {
			text += fmt.Sprintf(" best %s/s.", quantity.Number(u.PeakPS))
		}
	}
	if u.Why != "" {
		text += " Not to be trusted: " + u.Why + "."
	}
	entry(b, "scalability law", text)
}

func writeKnee(b *strings.Builder, name string, k *capacity.Knee) {
	found := "refused"
	if k.RatePS != nil {
		found = quantity.Number(*k.RatePS) + "/s"
	}
	entry(b, name, fmt.Sprintf("%s for %s, limited by %s: %s", found, k.SLO, k.LimitedBy, k.Why))
}

func writeCosts(b *strings.Builder, r *capacity.Result) {
	m, c := r.Memory, r.Cost
	switch {
	case m.Why != "":
		entry(b, "memory", m.Why)
	case m.BytesPerKey > 0:
		stay := "for ever"
		if m.IdleKeyS >= 0 {
			stay = quantity.Seconds(m.IdleKeyS)
		}
		entry(b, "memory", fmt.Sprintf("%.1f bytes a bucket, hash tables included (%.1f without; MEMORY USAGE says %.1f); an idle one stays %s", m.BytesPerKey, m.EntryBytes, m.UsageBytes, stay))
		for _, p := range m.Points {
			if p.Predicted > 0 {
				entry(b, "", fmt.Sprintf("%s buckets: %s bytes measured, %s predicted from fewer (%+.1f %%)", quantity.Count(int64(p.Keys)), quantity.Number(p.UsedBytes), quantity.Number(p.Predicted), 100*(p.Predicted/p.UsedBytes-1)))
			}
		}
	}
	if c.RedisUSPerCall > 0 {
		entry(b, "cost", fmt.Sprintf("%.1f µs of Redis' main thread a decision, %.1f µs of it in the command; %.0f bytes in and out", c.RedisUSPerCall, c.CommandUS, c.NetBytesPerCall))
	}
}

func writePlan(b *strings.Builder, p *capacity.Plan, bold func(string) string) {
	if p == nil {
		return
	}
	fmt.Fprintf(b, "\n%s", bold("plan"))
	if p.Refused != "" {
		fmt.Fprintf(b, "  %s", p.Refused)
	}
	b.WriteString("\n")
	for _, f := range p.Formulas {
		line := fmt.Sprintf("  %s: %s", f.Name, quantity.Number(f.Value))
		if f.Unit != f.Name {
			line += " " + f.Unit
		}
		b.WriteString(line + "\n")
		entry(b, "    = "+f.Text, "= "+f.Inputs)
	}
	if len(p.Unmeasured) > 0 {
		entry(b, "  not measured", strings.Join(p.Unmeasured, "; "))
	}
}
