package reports

import (
	"fmt"
	"slices"

	"bucketproof/reports/quantity"
	"bucketproof/scenarios/capacity"
)

// The part of the view model that shows capacity.
type (
	htmlCapacity struct {
		Title, Objective string
		Overview         htmlTable
		Pictures         []htmlPicture
		Subjects         []htmlSubject
	}
	htmlSubject struct {
		ID, Limiter, Limit string
		State              state
		Facts              []fact
		Plan               *htmlPlan
		Details            []htmlTable
	}
	htmlPlan struct {
		Heading, Refused string
		Table            htmlTable
		Unmeasured       []string
	}
	htmlTable struct {
		Name string
		Head []string
		Rows [][]string
		Open bool // shown without a click
	}
)

// newHTMLCapacity arranges what was found out about capacity; nil when nothing
// was.
func newHTMLCapacity(r *Report, g gallery) *htmlCapacity {
	if len(r.Capacity) == 0 {
		return nil
	}
	view := &htmlCapacity{Title: capacityTitle, Objective: sloWords(r.Capacity[0].Knee.SLO), Overview: htmlTable{Head: overviewHead}}
	for _, pic := range g.capacity {
		view.Pictures = append(view.Pictures, htmlPicture{pic.wide, pic.narrow, pic.big})
	}
	for i, c := range r.Capacity {
		view.Overview.Rows = append(view.Overview.Rows, overviewRow(c))
		view.Subjects = append(view.Subjects, newHTMLSubject(i, c))
	}
	return view
}

func newHTMLSubject(i int, c capacity.Result) htmlSubject {
	s := htmlSubject{
		ID: fmt.Sprintf("capacity-%d", i+1), Limiter: c.Limiter, State: stateOfCapacity(c), Facts: capacityFacts(c),
		Details: []htmlTable{sweepTable(c), stepsTable("Every rate that was tried", c.Knee)},
	}
	if c.Limit.Rate > 0 {
		s.Limit = fmt.Sprintf("%s tokens/s, capacity %s", quantity.Number(c.Limit.Rate), quantity.Number(c.Limit.Capacity))
	}
	if c.Pipelined != nil {
		s.Details = append(s.Details, stepsTable("Every rate that was tried, pipelined", *c.Pipelined))
	}
	s.Details = slices.DeleteFunc(s.Details, func(t htmlTable) bool { return len(t.Rows) == 0 })
	if p := c.Plan; p != nil {
		s.Plan = &htmlPlan{Heading: planHeading(c), Refused: sentence(capitalized(p.Refused)), Unmeasured: p.Unmeasured}
		s.Plan.Table = htmlTable{Head: formulaHead}
		for _, f := range p.Formulas {
			s.Plan.Table.Rows = append(s.Plan.Table.Rows, formulaRow(f))
		}
	}
	return s
}

func sweepTable(c capacity.Result) htmlTable {
	t := htmlTable{Name: "Every number of callers", Head: levelHead}
	for _, l := range c.Connections {
		t.Rows = append(t.Rows, levelRow(l))
	}
	return t
}

func stepsTable(name string, k capacity.Knee) htmlTable {
	t := htmlTable{Name: name, Head: stepHead}
	for _, s := range k.Steps {
		t.Rows = append(t.Rows, stepRow(s))
	}
	return t
}

// planHeading says what the plan is for, and comes to.
func planHeading(c capacity.Result) string {
	p := c.Plan
	if p.Refused != "" && len(p.Formulas) == 0 {
		return "No plan"
	}
	what := "one shard"
	if p.TargetPS > 0 {
		what = quantity.Rate(p.TargetPS)
	}
	if p.Keys > 0 {
		what += " over " + quantity.Number(p.Keys) + " buckets"
	}
	words := fmt.Sprintf("Plan for %s, %s kept free", what, quantity.Percent(p.Headroom))
	if p.Shards > 0 && p.TargetPS > 0 && p.Refused == "" {
		words += ": " + quantity.Things(p.Shards, "shard")
		if p.MemoryBytes > 0 {
			words += " of " + quantity.Bytes(p.MemoryBytes) + " each"
		}
		words += regardless(c)
	}
	return words
}

// Big are the pictures that take the width of the page.
func (v *htmlCapacity) Big() []htmlPicture { return v.pictures(true) }

// Small are the others.
func (v *htmlCapacity) Small() []htmlPicture { return v.pictures(false) }

func (v *htmlCapacity) pictures(big bool) []htmlPicture {
	return slices.DeleteFunc(slices.Clone(v.Pictures), func(p htmlPicture) bool { return p.Big != big })
}
