package reports

import (
	"fmt"
	"html/template"
	"io/fs"
	"net/url"
	"strings"

	"bucketproof/bucket/check"
	"bucketproof/reports/quantity"
)

// The part of the view model that shows one run.
type (
	htmlRun struct {
		ID                string
		Limiter, Scenario string
		Point             string // of a sweep
		State             state
		Open              bool // its details are shown without a click
		Summary           string
		Envelope, Shares  template.HTML
		Description       string // of the picture, in words
		File              string
		Linearizability   string // a file too
		Warnings          []string
		Facts             []fact
		Checks            []htmlCheck
		Instances         [][]string
		Latencies         [][]string
		LatencyNote       string
		LatencyAside      string
		Errors            []Error
	}
	htmlCheck struct {
		Name, Verdict, Expected, Figure string
		State                           state
		ByClocks                        bool // a fault, and the clocks explain it
		Sentences                       []string
		Evidence                        *htmlEvidence
	}
	htmlEvidence struct {
		Key, Window string
		Notes       []string
		Lockouts    []string
		Operations  [][]string
		Keys        [][]string
	}
)

func newHTMLRun(r *Report, i int, run Run, pic picture) htmlRun {
	s := stateWithin(r, run)
	view := htmlRun{
		ID: runID(i), Limiter: run.Limiter, Scenario: run.Scenario, State: s, Open: s >= undecided || len(r.Runs) == 1,
		Summary: runSummary(run), Envelope: pic.envelope, Shares: pic.shares, File: pic.file, Description: describe(run, pic),
		Warnings: append([]string(nil), run.Warnings...), Errors: run.Errors,
		Facts: runFacts(run), Latencies: latencyRows(run), LatencyNote: latencyNote(r),
		Linearizability: pictureLink(run),
	}
	if !run.LatencyMeasured {
		view.LatencyAside = "by the way: this run was not made for its latencies"
	}
	if pic.warning != "" {
		view.Warnings = append(view.Warnings, pic.warning)
	}
	if run.Repeated {
		view.Warnings = append(view.Warnings, "it was undecided at first and ran once more, alone")
	}
	for _, c := range run.Checks {
		view.Checks = append(view.Checks, newHTMLCheck(run, c))
	}
	if len(run.Instances) > 1 {
		view.Instances = instanceRows(run)
	}
	return view
}

// aboutPicture says what Porcupine's picture shows.
const aboutPicture = "The requests that no order explains, as Porcupine draws them"

// pictureLink is where a page in the result folder finds Porcupine's picture of
// a run; "" when there is none.
func pictureLink(run Run) string {
	if !fs.ValidPath(run.Linearizability) || run.Linearizability == "." { // somewhere else than beside the page
		return ""
	}
	return (&url.URL{Path: run.Linearizability}).String()
}

// runSummary is what the line of a closed run tells: the checks with something
// to tell, else how close the limiter came to the ideal.
func runSummary(run Run) string {
	var parts, doubtful []string
	for _, c := range run.Checks {
		switch s := stateOfCheck(run, c); {
		case s == undecided:
			doubtful = append(doubtful, c.Name)
		case s < caught:
		case c.Verdict == string(check.Fail) && mainFigure(c) != "":
			parts = append(parts, c.Name+": "+mainFigure(c))
		default:
			parts = append(parts, c.Name+": "+c.Verdict)
		}
	}
	if len(doubtful) > 0 {
		parts = append(parts, "undecided: "+strings.Join(doubtful, ", "))
	}
	if len(parts) == 0 {
		return idealWords(run)
	}
	return strings.Join(parts, " · ")
}

func idealWords(run Run) string {
	if run.Theory.Allowed <= 0 {
		return quantity.Count(run.Counts.Allowed) + " granted"
	}
	return fmt.Sprintf("%s granted, %s by %s", quantity.Count(run.Counts.Allowed), quantity.Number(run.Theory.Allowed), run.ideal())
}

func runFacts(run Run) []fact {
	var list []fact
	if run.Library != "" {
		list = append(list, fact{"Library", run.Library})
	}
	list = append(list, []fact{
		{"Limit", fmt.Sprintf("%s, capacity %s", quantity.Rate(run.Limit.Rate), quantity.Number(run.Limit.Capacity))},
		{"Clock", clockOwner(run)},
		{"Took", quantity.Seconds(run.DurationS)},
		{"Offered", quantity.Count(run.Counts.Offered)},
		{"Allowed", quantity.Count(run.Counts.Allowed)},
		{"Denied", quantity.Count(run.Counts.Denied)},
		{"Unsent", quantity.Count(run.Counts.Unsent)},
		{"Unknown", quantity.Count(run.Counts.Unknown)},
		{"Ideal bucket", quantity.Number(run.Theory.Allowed)},
	}...)
	if run.Theory.Ratio > 0 {
		list = append(list, fact{"Granted / ideal", fmt.Sprintf("%.3f", run.Theory.Ratio)})
	}
	if run.Theory.PredictedPeakExcess > 0 && clockSpread(run) > 0 {
		list = append(list, fact{"Clocks explain", "up to " + quantity.Tokens(run.Theory.PredictedPeakExcess)})
	}
	return append(list, fact{"Order of requests", witnessWords(run)})
}

func newHTMLCheck(run Run, c Check) htmlCheck {
	view := htmlCheck{
		Name: c.Name, Verdict: c.Verdict, Expected: c.Expected, Figure: mainFigure(c), State: stateOfCheck(run, c),
		ByClocks: c.Verdict == string(check.Fail) && c.WithinPrediction, Sentences: sentences(run, c),
	}
	if !decided(c) {
		view.Figure = ""
	}
	view.Evidence = newHTMLEvidence(c)
	return view
}

// mostRows is how many lines of evidence and of keys the page shows.
const mostRows = 20

func newHTMLEvidence(c Check) *htmlEvidence {
	e := evidenceOf(c)
	view := htmlEvidence{Key: e.Key, Notes: e.Notes}
	if w := e.Window; w != nil {
		view.Window = fmt.Sprintf("from %s to %s (%s long): %s granted, %s allowed", seconds(w.StartNS), seconds(w.EndNS),
			quantity.Seconds(float64(w.EndNS-w.StartNS)/1e9), quantity.Number(w.Granted), quantity.Number(w.Bound))
	}
	for _, name := range sortedKeys(e.Lockouts) {
		view.Lockouts = append(view.Lockouts, fmt.Sprintf("%s was locked out for %s", name, quantity.Seconds(e.Lockouts[name])))
	}
	for _, op := range e.Operations[:min(len(e.Operations), mostRows)] {
		view.Operations = append(view.Operations, operationRow(op))
	}
	if len(c.Keys) > 1 {
		for _, k := range c.Keys[:min(len(c.Keys), mostRows)] {
			view.Keys = append(view.Keys, []string{k.Key, k.Verdict, quantity.Number(k.Figure)})
		}
	}
	if view.Window == "" && len(view.Notes)+len(view.Lockouts)+len(view.Operations)+len(view.Keys) == 0 {
		return nil
	}
	return &view
}

func operationRow(op Operation) []string {
	end, took := "none", ""
	if op.ReturnNS != nil {
		end, took = seconds(*op.ReturnNS), quantity.Seconds(float64(*op.ReturnNS-op.CallNS)/1e9)
	}
	return []string{seconds(op.CallNS), end, took, op.Outcome, op.Instance, quantity.Number(op.Cost)}
}

// seconds writes an instant of a run to the microsecond.
func seconds(ns int64) string {
	return fmt.Sprintf("%.6f s", float64(ns)/1e9)
}

func instanceRows(run Run) [][]string {
	var rows [][]string
	for _, in := range run.Instances {
		lockout, clock := "–", clockWords(in.Clock)
		if run.Time == "" {
			clock = "not known"
		}
		if in.LongestLockoutS > 0 {
			lockout = quantity.Seconds(in.LongestLockoutS)
		}
		rows = append(rows, []string{
			in.Name, clock, quantity.Count(in.Counts.Offered), quantity.Count(in.Counts.Allowed),
			quantity.Count(in.Counts.Denied), quantity.Count(in.Counts.Unsent + in.Counts.Unknown),
			quantity.Percent(in.Share), lockout,
		})
	}
	return rows
}

func latencyRows(run Run) [][]string {
	var rows [][]string
	for _, l := range []struct {
		name string
		*Latency
	}{
		{"from the due time", run.LatencyUS},
		{"from the call", run.ServiceLatencyUS},
		{"lag behind the schedule", run.ScheduleLagUS},
	} {
		if l.Latency == nil {
			continue
		}
		row := []string{l.name}
		for _, us := range []float64{l.P50, l.P90, l.P99, l.P999, l.Max, l.Mean} {
			row = append(row, quantity.Micros(us))
		}
		rows = append(rows, row)
	}
	return rows
}

// What Run.Server says of a server of the run's own.
const (
	serverOwn      = "own"
	serverFailover = "failover"
)

// clockOwner says whose clock a limiter decides by, and how that was changed.
func clockOwner(run Run) string {
	words := map[string]string{"caller": "the caller's", "server": "the server's", "process": "its own process's"}[run.Time]
	if words == "" {
		return "not known"
	}
	if run.ServerClock == nil {
		return words
	}
	clock := clockWords(*run.ServerClock)
	switch run.Server {
	case serverOwn:
		return words + "; the server's was set, and keys expire by it: " + clock
	case serverFailover:
		return words + "; a replica took over, and keys expire by its clock: " + clock
	}
	return words + ", shown with " + clock + "; keys expire by its own"
}
