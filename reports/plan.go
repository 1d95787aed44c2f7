package reports

import (
	"fmt"
	"sort"
	"strings"
	"unicode"

	"bucketproof/bucket/check"
)

// imagesPerLimiter is how many runs of a limiter are drawn as PNG too, which
// takes ten times as long as SVG: those that tell most.
const imagesPerLimiter = 3

// plan decides what is drawn of each run, and under which name.
func plan(r *Report) []drawing {
	plans := make([]drawing, len(r.Runs))
	used := make(map[string]bool)
	telling := make(map[string][]int) // limiter → runs with something to see
	for i, run := range r.Runs {
		name := slug(run.Scenario) + "-" + slug(run.Limiter)
		for n := 2; used[name]; n++ {
			name = fmt.Sprintf("%s-%s-%d", slug(run.Scenario), slug(run.Limiter), n)
		}
		used[name] = true
		plans[i] = drawing{run: run, name: name}
		if stateOf(run) >= caught {
			telling[run.Limiter] = append(telling[run.Limiter], i)
		}
	}
	for _, list := range telling {
		sort.SliceStable(list, func(a, b int) bool { return weight(r.Runs[list[a]]) > weight(r.Runs[list[b]]) })
		for _, i := range list[:min(len(list), imagesPerLimiter)] {
			plans[i].png = true
		}
	}
	planGrowth(r, plans)
	if i := hero(r); i >= 0 {
		plans[i].hero, plans[i].png = true, true
	}
	return plans
}

// planGrowth marks the runs that show how an excess grows.
func planGrowth(r *Report, plans []drawing) {
	s := newStudy(r)
	if s == nil {
		return
	}
	for _, o := range s.ordeals {
		for _, limiter := range s.limiters {
			if i := longest(r, o, limiter); i >= 0 && lasting(r, o) {
				plans[i].growth = slug(o.growthName()) + "-study"
			}
		}
	}
}

// weight ranks runs by how much their picture tells: the unexpected before the
// expected, those before the undecided, and then by how far the bound was
// exceeded.
func weight(run Run) float64 {
	rank := map[state]float64{unexpected: 3e6, caught: 2e6, undecided: 1e6}[stateOf(run)]
	for _, c := range run.Checks {
		if c.Name == check.OverAdmission && run.Limit.Capacity > 0 {
			rank += min(c.Value["peak_excess"]/run.Limit.Capacity, 1e5)
		}
	}
	return rank
}

// conspicuous is the part of the capacity from which on an excess is seen in a
// picture at once.
const conspicuous = 0.2

// hero is the run to show first: the first that is not as expected, before the
// others one that the limiter's clock rule does not explain; else the first with
// a fault caught; and of these one that exceeds the bound before others, by what
// can be seen; -1 when there is none.
func hero(r *Report) int {
	best, rank := -1, 0
	for i, run := range r.Runs {
		score := 0
		for _, c := range run.Checks {
			n := 0
			switch {
			case stateOfCheck(run, c) == unexpected && !c.WithinPrediction:
				n = 12
			case stateOfCheck(run, c) == unexpected:
				n = 6
			case c.Verdict == string(check.Fail):
				n = 3
			default:
				continue
			}
			if c.Name == check.OverAdmission && evidenceOf(c).Window != nil {
				n++
				if c.Value["peak_excess"] >= conspicuous*run.Limit.Capacity {
					n++
				}
			}
			score = max(score, n)
		}
		if score > rank {
			best, rank = i, score
		}
	}
	return best
}

// slug makes a name safe in a file's: slashes become dashes, anything unusual
// an underscore.
func slug(name string) string {
	s := strings.Map(func(r rune) rune {
		switch {
		case r == '/' || r == '\\':
			return '-'
		case unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.+", r):
			return r
		}
		return '_'
	}, name)
	if runes := []rune(s); len(runes) > 60 {
		s = string(runes[:60])
	}
	return strings.TrimLeft(s, ".")
}
