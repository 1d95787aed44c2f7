package reports

import (
	"fmt"
	"strings"

	"bucketproof/reports/quantity"
	"bucketproof/scenarios/capacity"
)

// capacityFacts are what was found out about a limiter, each under its name.
func capacityFacts(c capacity.Result) []fact {
	var list []fact
	add := func(name, words string) {
		if words != "" {
			list = append(list, fact{name, words})
		}
	}
	add("Knee", kneeWords(c.Knee))
	if c.Pipelined != nil {
		add("Knee, pipelined", kneeWords(*c.Pipelined))
	}
	add("Throughput", throughputWords(c))
	add("Scalability law", lawWords(c.USL))
	add("Memory", memoryWords(c.Memory))
	add("Cost", costWords(c.Cost))
	for _, x := range c.Compare {
		add(capitalized(x.What), contrastWords(c, x))
	}
	add("Load generator", generatorWords(c.Generator))
	add("Checked", verifiedWords(c))
	for _, note := range c.Notes {
		add("Note", sentence(note))
	}
	return list
}

// throughputWords says what the best levels reached, and what was busy there.
func throughputWords(c capacity.Result) string {
	var parts []string
	for _, pipelined := range []bool{false, true} {
		l, ok := best(c, pipelined)
		if !ok {
			continue
		}
		words := fmt.Sprintf("%s with %s", quantity.Rate(l.ThroughputPS), callersWords(l))
		if l.RedisCPU > 0 {
			words += fmt.Sprintf(" (Redis' main thread busy for %s of the time, the generator's processors idle for %s)",
				quantity.Percent(l.RedisCPU), quantity.Percent(l.GeneratorIdle))
		}
		parts = append(parts, words)
	}
	return sentence(strings.Join(parts, "; "))
}

// lawWords are the coefficients of the fit with their intervals, and its doubts.
func lawWords(u capacity.USL) string {
	if u.Lambda <= 0 {
		return sentence(capitalized(u.Why))
	}
	with := func(name string, v float64, unit string) string {
		words := quantity.Number(v) + unit
		if ci := u.CI95[name]; ci.High > 0 {
			words += fmt.Sprintf(" (%s to %s)", quantity.Number(max(ci.Low, 0)), quantity.Number(ci.High))
		}
		return words
	}
	words := fmt.Sprintf("X(n) = λn / (1 + σ(n − 1) + κn(n − 1)) with λ = %s, σ = %s, κ = %s; ",
		with("lambda", u.Lambda, "/s"), with("sigma", u.Sigma, ""), with("kappa", u.Kappa, ""))
	if u.PeakN > 0 {
		words += fmt.Sprintf("its peak is %s with %s callers", with("peak_per_s", u.PeakPS, "/s"), quantity.Number(u.PeakN))
	} else {
		words += fmt.Sprintf("it has no peak, the best level had %s", quantity.Rate(u.PeakPS))
	}
	words += fmt.Sprintf("; R² = %s. In brackets: 95 %% confidence.", quantity.Number(u.R2))
	if u.Why != "" {
		words += " Not to be trusted: " + strings.TrimSuffix(u.Why, ".") + "."
	}
	return words
}

// kneeWords says how far the objective is met, or why nobody knows.
func kneeWords(k capacity.Knee) string {
	why := strings.TrimPrefix(k.Why, "refused: ")
	words, part := "Refused", ""
	if k.PeakPS > 0 {
		part = fmt.Sprintf(" (%s of the closed loop's best)", quantity.Percent(k.MetPS/k.PeakPS))
	}
	switch {
	case k.RatePS != nil:
		words = fmt.Sprintf("%s at %s%s", quantity.Rate(*k.RatePS), sloWords(k.SLO), part)
	case k.MetPS > 0:
		words += fmt.Sprintf(": at least %s at %s%s, and what comes above is not known", quantity.Rate(k.MetPS), sloWords(k.SLO), part)
	case len(k.Steps) > 0:
		words += ": no rate met " + sloWords(k.SLO)
	}
	switch k.LimitedBy {
	case "redis":
		words += ", limited by Redis"
	case "generator":
		words += ", limited by the load generator"
	}
	return strings.TrimSpace(sentence(words) + " " + sentence(capitalized(why)))
}

// memoryWords says what a bucket costs, and how long.
func memoryWords(m capacity.Memory) string {
	if m.BytesPerKey <= 0 {
		return sentence(capitalized(m.Why))
	}
	words := fmt.Sprintf("%s bytes a bucket, the server's hash tables included", quantity.Number(m.BytesPerKey))
	if m.EntryBytes > 0 {
		words += fmt.Sprintf(" (%s without them, %s of it the key's name)", quantity.Number(m.EntryBytes), quantity.Number(m.KeyBytes))
	}
	if m.UsageBytes > 0 {
		words += fmt.Sprintf("; MEMORY USAGE says %s", quantity.Number(m.UsageBytes))
	}
	stays := "ever"
	if m.IdleKeyS >= 0 {
		stays = quantity.Seconds(m.IdleKeyS)
	}
	words += "; a bucket of this limit that nobody asks stays for " + stays
	for _, p := range m.Points {
		if p.Predicted > 0 && p.UsedBytes > 0 {
			off := strings.Replace(fmt.Sprintf("%+.1f %%", 100*(p.Predicted/p.UsedBytes-1)), "-", "−", 1)
			words += fmt.Sprintf("; %s buckets used %s, %s were predicted from fewer (%s)", quantity.Count(int64(p.Keys)),
				quantity.Bytes(p.UsedBytes), quantity.Bytes(p.Predicted), off)
		}
	}
	return sentence(words)
}

// costWords says what a decision costs.
func costWords(c capacity.Cost) string {
	if c.RedisUSPerCall <= 0 {
		return ""
	}
	words := fmt.Sprintf("%s of Redis' main thread a decision", quantity.Micros(c.RedisUSPerCall))
	if c.CommandUS > 0 {
		words += fmt.Sprintf(", %s of it in the command itself", quantity.Micros(c.CommandUS))
	}
	if c.NetBytesPerCall > 0 {
		words += fmt.Sprintf("; %s in and out", quantity.Bytes(c.NetBytesPerCall))
	}
	return sentence(words)
}

// contrastWords are both sides' rates, where they are not those of the throughput
// already told, and what they mean.
func contrastWords(c capacity.Result, x capacity.Contrast) string {
	if x.Skipped != "" {
		return sentence(x.Skipped)
	}
	plain, _ := best(c, false)
	pipelined, _ := best(c, true)
	told := x.APerS == plain.ThroughputPS && x.BPerS == pipelined.ThroughputPS
	if told || x.APerS <= 0 || x.BPerS <= 0 {
		return sentence(x.Detail)
	}
	return sentence(fmt.Sprintf("%s %s, %s %s: %s", x.A, quantity.Rate(x.APerS), x.B, quantity.Rate(x.BPerS), x.Detail))
}

// generatorWords says how good the load itself was.
func generatorWords(g *capacity.Generator) string {
	if g == nil {
		return ""
	}
	words := fmt.Sprintf("%s of all open-loop sends were within 1 ms of their due time, lag p99 %s", quantity.Percent(g.OnTime), quantity.Micros(g.LagP99US))
	if g.CeilingPS > 0 {
		words += fmt.Sprintf("; against a bucket in its own process it makes %s", quantity.Rate(g.CeilingPS))
	}
	return sentence(words)
}

// verifiedWords says what the checks said of the load's own history, and what is
// not in it.
func verifiedWords(c capacity.Result) string {
	v := c.Verified
	if v == nil {
		return "Not checked."
	}
	words := fmt.Sprintf("%s: %s of the load were judged", capitalized(v.Verdict), quantity.Plural(quantity.Count(v.Operations), "operation"))
	if len(c.Memory.Points) > 0 {
		words += " (those that wrote buckets to be weighed were neither recorded nor judged)"
	}
	if v.Detail != "" {
		words += "; " + v.Detail
	}
	if v.Dir != "" {
		words += "; the history is in " + v.Dir
	}
	return sentence(words)
}
