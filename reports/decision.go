package reports

import (
	"slices"
	"strings"

	"bucketproof/reports/quantity"
)

// ruling is what an ordeal did to a limiter, at all its points.
type ruling struct {
	ordeal    ordeal
	harmed    []ruled // by size
	unharmed  []ordealPoint
	undecided []ordealPoint
	outside   []ruled // figures that theory did not predict
}

// ruled is a point with what happened there.
type ruled struct {
	ordealPoint
	harm
}

// rule judges a limiter in an ordeal.
func rule(r *Report, o ordeal, limiter string) ruling {
	g := ruling{ordeal: o}
	for _, p := range o.points {
		i, ran := p.runs[limiter]
		if !ran {
			continue
		}
		h := harmOf(r.Runs[i])
		switch {
		case h.any():
			g.harmed = append(g.harmed, ruled{p, h})
		case h.undecided:
			g.undecided = append(g.undecided, p)
		default:
			g.unharmed = append(g.unharmed, p)
		}
		if len(h.outside) > 0 {
			g.outside = append(g.outside, ruled{p, h})
		}
	}
	return g
}

// state is absent where the limiter did not run.
func (g ruling) state() state {
	switch {
	case len(g.harmed) > 0:
		return caught
	case len(g.undecided) > 0:
		return undecided
	case len(g.unharmed) > 0:
		return passed
	}
	return absent
}

// sentence says what happened, in one sentence without its full stop.
func (g ruling) sentence() string {
	switch g.state() {
	case absent:
		return "not run"
	case undecided:
		if len(g.unharmed) == 0 {
			return "undecided"
		}
		return g.closing([]string{"unharmed" + g.places(g.unharmed)})
	case passed:
		return g.closing([]string{"unharmed"})
	}
	clauses := g.clauses()
	if none := g.harmed[0]; none.size == 0 && len(g.disturbed()) < len(g.harmed) {
		clauses = append(clauses, "not unharmed at "+g.ordeal.point(none.ordealPoint)+" either")
	}
	if len(g.unharmed) > 0 {
		clauses = append(clauses, "nothing"+g.places(g.unharmed))
	}
	return g.closing(clauses)
}

// closing ends a sentence with what qualifies it.
func (g ruling) closing(clauses []string) string {
	if len(g.undecided) > 0 {
		clauses = append(clauses, "undecided"+g.places(g.undecided))
	}
	if len(g.outside) > 0 {
		var points []ordealPoint
		for _, p := range g.outside {
			points = append(points, p.ordealPoint)
		}
		clauses = append(clauses, "not as predicted"+g.places(points))
	}
	return strings.Join(clauses, "; ")
}

// places says where points lie: "at 1 ms", "up to 10 ms" where they are the
// smallest, "at 1 ms, 100 ms to 2 s". The only point of an ordeal needs no
// place.
func (g ruling) places(points []ordealPoint) string {
	all := g.ordeal.points
	if len(all) == 1 {
		return ""
	}
	if len(points) > 1 && slices.EqualFunc(points, all[:len(points)], samePoint) {
		return " up to " + g.ordeal.point(points[len(points)-1])
	}
	var names []string
	for n := 0; n < len(points); {
		first := slices.IndexFunc(all, func(p ordealPoint) bool { return samePoint(p, points[n]) })
		length := 1
		for n+length < len(points) && samePoint(points[n+length], all[first+length]) {
			length++
		}
		if length > 2 {
			names = append(names, g.ordeal.point(points[n])+" to "+g.ordeal.point(points[n+length-1]))
			n += length
			continue
		}
		names = append(names, g.ordeal.point(points[n]))
		n++
	}
	return " at " + strings.Join(names, ", ")
}

func samePoint(a, b ordealPoint) bool { return a.size == b.size && a.name == b.name }

// clauses tell the harm, each kind of it where it was worst.
func (g ruling) clauses() []string {
	var list []string
	if p, several, ok := g.worst(func(h harm) float64 { return h.excess }, func(h harm) bool { return h.over }); ok {
		words := "granted " + upTo(several) + overWords(p.excess)
		if p.growth > 0 {
			words += ", " + quantity.Number(p.growth) + " a second"
		}
		list = append(list, words+g.ordeal.at(p.ordealPoint))
	}
	if p, several, ok := g.worst(func(h harm) float64 { return h.lockout }, func(h harm) bool { return h.wrong }); ok {
		if p.lockout > 0 {
			list = append(list, "locked out for "+upTo(several)+quantity.Seconds(p.lockout)+g.ordeal.at(p.ordealPoint))
		} else {
			p, several, _ = g.worst(func(h harm) float64 { return h.denials }, func(h harm) bool { return h.wrong })
			list = append(list, "denied "+upTo(several)+quantity.Plural(quantity.Number(p.denials), "request")+" wrongly"+g.ordeal.at(p.ordealPoint))
		}
	}
	if p, several, ok := g.worst(func(h harm) float64 { return 1 - h.share }, func(h harm) bool { return h.starved }); ok {
		words := "callers whose clocks are behind got "
		if several && p.share > 0 {
			words += "as little as "
		}
		list = append(list, words+shareWords(p.share)+g.ordeal.at(p.ordealPoint))
	}
	return list
}

// worst is the point where a kind of harm was largest; several says whether it
// was smaller elsewhere.
func (g ruling) worst(size func(harm) float64, is func(harm) bool) (worst ruled, several, ok bool) {
	for _, p := range g.harmed {
		if !is(p.harm) {
			continue
		}
		several = ok
		if !ok || size(p.harm) > size(worst.harm) {
			worst = p
		}
		ok = true
	}
	return worst, several, ok
}

func upTo(several bool) string {
	if several {
		return "up to "
	}
	return ""
}

// overWords say how many tokens were granted beyond the limit.
func overWords(excess float64) string {
	if excess <= 0 {
		return "more than the limit"
	}
	return quantity.Tokens(excess) + " too many"
}

// shareWords say what part of a fair share some callers got.
func shareWords(share float64) string {
	if share <= 0 {
		return "nothing"
	}
	return quantity.Percent(share) + " of their share"
}

// disturbed are the points where the limiter broke, without that of size 0 if
// there are others: what breaks there does not do so for the disturbance.
func (g ruling) disturbed() []ruled {
	list := slices.DeleteFunc(slices.Clone(g.harmed), func(p ruled) bool { return p.size == 0 })
	if len(list) == 0 {
		return g.harmed
	}
	return list
}

// since says from which size on the limiter broke.
func (g ruling) since() string {
	harmed := g.disturbed()
	first := harmed[0]
	if len(g.ordeal.points) == 1 {
		return strings.TrimSpace(g.ordeal.at(first.ordealPoint))
	}
	over := func(p ordealPoint) bool { return p.size > first.size }
	if slices.ContainsFunc(g.unharmed, over) || len(harmed) == 1 {
		var points []ordealPoint
		for _, p := range harmed {
			points = append(points, p.ordealPoint)
		}
		return strings.TrimSpace(g.places(points))
	}
	return "from " + g.ordeal.point(first.ordealPoint) + " on"
}
