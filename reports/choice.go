package reports

import (
	"fmt"
	"slices"
	"strings"

	"bucketproof/reports/quantity"
)

// choice sums up what all ordeals did to a limiter.
type choice struct {
	limiter string
	rulings []ruling // of the ordeals it ran in, in their order
}

func newChoice(r *Report, s *study, limiter string) choice {
	c := choice{limiter: limiter}
	for _, o := range s.ordeals {
		if g := rule(r, o, limiter); g.state() != absent {
			c.rulings = append(c.rulings, g)
		}
	}
	return c
}

// in are the rulings that came to a state.
func (c choice) in(s state) []ruling {
	var list []ruling
	for _, g := range c.rulings {
		if g.state() == s {
			list = append(list, g)
		}
	}
	return list
}

// state is the worst that happened.
func (c choice) state() state {
	switch {
	case len(c.in(caught)) > 0:
		return caught
	case len(c.in(undecided)) > 0:
		return undecided
	}
	return passed
}

// sentences say from which size on the limiter broke, by how much at most, and
// who suffers.
func (c choice) sentences() []string {
	total := len(c.rulings)
	broken, doubtful := c.in(caught), c.in(undecided)
	if len(broken) == 0 {
		return []string{unbroken(total, len(doubtful))}
	}
	under := "the only disturbance"
	if total > 1 {
		under = fmt.Sprintf("%d of %d disturbances", len(broken), total)
	}
	list := []string{"Broke under " + under + thresholds(broken)}
	if worst := c.worst(true); len(worst) > 0 {
		list = append(list, "At worst "+strings.Join(worst, ", ")+".")
	}
	if who := c.sufferers(); len(who) > 0 {
		list = append(list, "Who suffers: "+strings.Join(who, ", ")+".")
	}
	if len(doubtful) > 0 {
		list = append(list, fmt.Sprintf("Undecided: %d.", len(doubtful)))
	}
	return list
}

// mostThresholds is how many disturbances are told one by one.
const mostThresholds = 4

// thresholds say from which size on each of a few disturbances broke the
// limiter, or which were the smallest that did.
func thresholds(broken []ruling) string {
	var places []string
	if len(broken) <= mostThresholds {
		for _, g := range broken {
			places = append(places, strings.TrimSpace(g.ordeal.heading()+" "+g.since()))
		}
		return ": " + strings.Join(places, "; ") + "."
	}
	least := make(map[string]ruling) // by unit
	var units []string
	for _, g := range broken {
		size := g.disturbed()[0].size
		before, known := least[g.ordeal.unit]
		switch {
		case size <= 0 || known && size >= before.disturbed()[0].size:
			continue
		case !known:
			units = append(units, g.ordeal.unit)
		}
		least[g.ordeal.unit] = g
	}
	for _, unit := range units {
		g := least[unit]
		places = append(places, g.ordeal.size(g.disturbed()[0].ordealPoint)+" ("+g.ordeal.heading()+")")
	}
	if len(places) == 0 {
		return "."
	}
	return ", the smallest " + strings.Join(places, ", ") + "."
}

// unbroken sums up a limiter that no disturbance was seen to break.
func unbroken(total, doubtful int) string {
	switch {
	case doubtful == total:
		return "Undecided under " + all(total) + "."
	case doubtful > 0:
		return fmt.Sprintf("Unharmed by %d of %s; the rest is undecided.", total-doubtful, quantity.Things(total, "disturbance"))
	}
	return "Unharmed by " + all(total) + "."
}

func all(n int) string {
	if n == 1 {
		return "the only disturbance"
	}
	return fmt.Sprintf("all %d disturbances", n)
}

// worst tells each kind of harm where it was worst of all, with the place when
// it is asked for.
func (c choice) worst(placed bool) []string {
	var list []string
	tell := func(size func(harm) float64, is func(harm) bool, words func(harm) string) {
		var found *ruling
		var worst ruled
		for _, g := range c.in(caught) {
			p, _, ok := g.worst(size, is)
			if ok && size(p.harm) > 0 && (found == nil || size(p.harm) > size(worst.harm)) {
				found, worst = &g, p
			}
		}
		if found == nil {
			return
		}
		told := words(worst.harm)
		if placed {
			place := found.ordeal.heading()
			if at := found.ordeal.at(worst.ordealPoint); at != "" {
				place += "," + at
			}
			told += " (" + place + ")"
		}
		list = append(list, told)
	}
	tell(func(h harm) float64 { return h.excess }, func(h harm) bool { return h.over },
		func(h harm) string { return overWords(h.excess) })
	tell(func(h harm) float64 { return h.lockout }, func(h harm) bool { return h.wrong },
		func(h harm) string { return "locked out for " + quantity.Seconds(h.lockout) })
	if len(list) == 0 {
		tell(func(h harm) float64 { return h.denials }, func(h harm) bool { return h.wrong },
			func(h harm) string { return quantity.Plural(quantity.Number(h.denials), "request") + " denied wrongly" })
	}
	tell(func(h harm) float64 { return 1 - h.share }, func(h harm) bool { return h.starved },
		func(h harm) string { return "callers behind got " + shareWords(h.share) })
	return list
}

// sufferers are what the limit protects, where more was granted than it allows,
// and the callers that were denied wrongly.
func (c choice) sufferers() []string {
	var list []string
	note := func(who string) {
		if who != "" && !slices.Contains(list, who) {
			list = append(list, who)
		}
	}
	for _, g := range c.in(caught) {
		for _, p := range g.harmed {
			if p.over {
				note(theProtected)
			}
		}
	}
	for _, g := range c.in(caught) {
		for _, p := range g.harmed {
			note(p.victims)
		}
	}
	if slices.Contains(list, everyCaller) { // who are all there is
		list = slices.DeleteFunc(list, func(who string) bool { return who != theProtected && who != everyCaller })
	}
	return list
}

// Those who suffer.
const (
	theProtected = "what the limit protects"
	everyCaller  = "every caller"
)

// counts are how many ordeals of a side the limiter broke in, and how many it
// ran in.
func (c choice) counts(of string) (broken, doubtful, total int) {
	for _, g := range c.rulings {
		if g.ordeal.of != of {
			continue
		}
		total++
		switch g.state() {
		case caught:
			broken++
		case undecided:
			doubtful++
		}
	}
	return broken, doubtful, total
}

// countWords are counts for a narrow column: "broke in 4 of 5".
func (c choice) countWords(of string) string {
	broken, doubtful, total := c.counts(of)
	switch {
	case total == 0:
		return "not run"
	case broken > 0:
		return fmt.Sprintf("broke in %d of %d", broken, total)
	case doubtful > 0:
		return fmt.Sprintf("undecided in %d of %d", doubtful, total)
	}
	return fmt.Sprintf("unharmed in %d", total)
}
