package reports

import (
	"encoding/xml"
	"fmt"
	"strings"

	"bucketproof/bucket/check"
	"bucketproof/scenarios/capacity"
)

// The parts of the JUnit format that CI systems read.
type (
	junitReport struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name      string      `xml:"name,attr"`
		Tests     int         `xml:"tests,attr"`
		Failures  int         `xml:"failures,attr"`
		Errors    int         `xml:"errors,attr"`
		Skipped   int         `xml:"skipped,attr"`
		Time      string      `xml:"time,attr"`
		Timestamp string      `xml:"timestamp,attr,omitempty"`
		Cases     []junitCase `xml:"testcase"`
		seconds   float64
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitProblem `xml:"failure"`
		Skipped *junitProblem `xml:"skipped"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitProblem struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// junit renders r for CI systems: a suite a scenario, a case a limiter. Only
// what is not as expected is a failure; an undecided run counts as skipped.
func junit(r *Report) ([]byte, error) {
	report := junitReport{Name: "bucketproof"}
	seconds := 0.0
	for _, s := range junitSuites(r) {
		s.Time = junitTime(s.seconds)
		if !r.StartedAt.IsZero() {
			s.Timestamp = r.StartedAt.UTC().Format("2006-01-02T15:04:05")
		}
		report.Suites = append(report.Suites, *s)
		report.Tests += s.Tests
		report.Failures += s.Failures
		report.Skipped += s.Skipped
		seconds += s.seconds
	}
	report.Time = junitTime(seconds)
	data, err := xml.MarshalIndent(report, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("render JUnit: %w", err)
	}
	return cleanLines(append([]byte(xml.Header), append(data, '\n')...)), nil
}

// junitSuites are the suites with their cases: of a selftest the controls, then
// the scenarios, then expectations that no single run can meet.
func junitSuites(r *Report) []*junitSuite {
	var list []*junitSuite
	index := make(map[string]*junitSuite)
	suite := func(name string) *junitSuite {
		if index[name] == nil {
			index[name] = &junitSuite{Name: name}
			list = append(list, index[name])
		}
		return index[name]
	}
	if r.Selftest != nil {
		const selftest = "selftest of the harness"
		for _, c := range selftestCases(r, selftest) {
			suite(selftest).add(c, 0)
		}
	}
	for _, run := range r.Runs {
		suite(suiteName(r, run.Scenario)).add(runCase(run), run.DurationS)
	}
	for _, s := range r.Skipped {
		suite(suiteName(r, s.Scenario)).add(junitCase{
			Class: s.Scenario, Name: s.Limiter, Skipped: &junitProblem{Message: s.Reason},
		}, 0)
	}
	for _, c := range r.Capacity {
		const carried = "capacity"
		suite(carried).add(capacityCase(r, carried, c), 0)
	}
	const expectations = "expectations over the whole command"
	for _, u := range untold(r) {
		suite(expectations).add(unmetCase(expectations, u), 0)
	}
	return list
}

// suiteName is the scenario; the clean runs of a selftest share a suite.
func suiteName(r *Report, scenario string) string {
	if r.Selftest != nil && strings.HasPrefix(scenario, cleanScenario+"/") {
		return cleanScenario
	}
	return scenario
}

func (s *junitSuite) add(c junitCase, seconds float64) {
	c.Time = junitTime(seconds)
	s.Cases = append(s.Cases, c)
	s.seconds += seconds
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Skipped != nil {
		s.Skipped++
	}
}

func runCase(run Run) junitCase {
	c := junitCase{Class: run.Scenario, Name: run.Limiter, Out: strings.Join(checkLines(run), "\n")}
	switch s := stateOf(run); s {
	case unexpected:
		c.Failure = &junitProblem{
			Message: strings.Join(checkNames(run, unexpected), ", ") + " not as expected",
			Text:    strings.Join(findings(run), "\n"),
		}
	case undecided:
		c.Skipped = &junitProblem{Message: "undecided: " + strings.Join(doubts(run), " ")}
	}
	return c
}

// selftestCases are one for each control and one for the clean runs.
func selftestCases(r *Report, class string) []junitCase {
	var cases []junitCase
	for _, c := range r.Selftest.Controls {
		out := junitCase{Class: class, Name: c.Name, Out: controlWords(r, c)}
		switch stateOfControl(r, c) {
		case unexpected:
			out.Failure = &junitProblem{
				Message: "missed by " + c.Check, Text: controlWords(r, c) + " It stands for: " + strings.TrimSuffix(c.StandsFor, ".") + ".",
			}
		case undecided:
			out.Skipped = &junitProblem{Message: controlWords(r, c)}
		}
		cases = append(cases, out)
	}
	alarms := junitCase{Class: class, Name: "false alarms", Out: alarmWords(r)}
	switch stateOfAlarms(r) {
	case unexpected:
		alarms.Failure = &junitProblem{Message: alarmWords(r), Text: strings.Join(alarmNames(r), "\n")}
	case undecided:
		alarms.Skipped = &junitProblem{Message: alarmWords(r)}
	}
	return append(cases, alarms)
}

// capacityCase fails where the load's own history does and that was not expected;
// a knee that is refused is no failure.
func capacityCase(r *Report, class string, c capacity.Result) junitCase {
	out := junitCase{Class: class, Name: c.Limiter}
	var lines []string
	for _, f := range capacityFacts(c) {
		lines = append(lines, f.Name+": "+f.Words)
	}
	out.Out = strings.Join(lines, "\n")
	words, s := verifiedWords(c), stateOfCapacity(c)
	switch {
	case s == unexpected && r.Verdict == string(check.Fail):
		out.Failure = &junitProblem{Message: "the load's own history fails its checks", Text: words}
	case s == undecided:
		out.Skipped = &junitProblem{Message: words}
	}
	return out
}

func unmetCase(class string, u Unmet) junitCase {
	return junitCase{Class: class, Name: u.Limiter + " " + u.Check, Failure: &junitProblem{
		Message: u.Check + " was expected to fail in at least one run", Text: sentence(u.Detail),
	}}
}

// checkLines are the checks of a run in words.
func checkLines(run Run) []string {
	var lines []string
	for _, c := range run.Checks {
		lines = append(lines, fmt.Sprintf("%s: %s (expected %s): %s",
			c.Name, c.Verdict, c.Expected, strings.Join(sentences(run, c), " ")))
	}
	return lines
}

func checkNames(run Run, s state) []string {
	var names []string
	for _, c := range run.Checks {
		if stateOfCheck(run, c) == s {
			names = append(names, c.Name)
		}
	}
	if names == nil {
		names = []string{"verdict"}
	}
	return names
}

func junitTime(seconds float64) string {
	return fmt.Sprintf("%.3f", seconds)
}
