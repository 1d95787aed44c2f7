package reports

import (
	"encoding/xml"
	"fmt"
	"strings"
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
	suites := make(map[string]*junitSuite)
	suite := func(name string) *junitSuite {
		if suites[name] == nil {
			suites[name] = &junitSuite{Name: name}
			if !r.StartedAt.IsZero() {
				suites[name].Timestamp = r.StartedAt.UTC().Format("2006-01-02T15:04:05")
			}
		}
		return suites[name]
	}
	for _, run := range r.Runs {
		suite(run.Scenario).add(runCase(run), run.DurationS)
	}
	for _, s := range r.Skipped {
		suite(s.Scenario).add(junitCase{
			Class: s.Scenario, Name: s.Limiter, Skipped: &junitProblem{Message: s.Reason},
		}, 0)
	}
	names := scenarioNames(r)
	if len(r.Unmet) > 0 {
		const expectations = "expectations over the whole command"
		for _, u := range r.Unmet {
			suite(expectations).add(unmetCase(expectations, u), 0)
		}
		names = append(names, expectations)
	}
	seconds := 0.0
	for _, name := range names {
		s := suites[name]
		s.Time = junitTime(s.seconds)
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
