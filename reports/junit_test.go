package reports

import (
	"encoding/xml"
	"strings"
	"testing"
)

func decodedJUnit(t *testing.T, r *Report) junitReport {
	t.Helper()
	data, err := junit(r)
	if err != nil {
		t.Fatal(err)
	}
	var report junitReport
	if err := xml.Unmarshal(data, &report); err != nil {
		t.Fatal(err)
	}
	return report
}

func TestJUnitFailsOnlyTheUnexpected(t *testing.T) {
	f := troubled()
	report := decodedJUnit(t, f.report)
	verdicts := make(map[string]string)
	for _, run := range f.report.Runs {
		verdicts[clean(run.Scenario)+" "+run.Limiter] = run.Verdict
	}
	tests, failures, skips := 0, 0, 0
	for _, s := range report.Suites {
		for _, c := range s.Cases {
			tests++
			verdict := verdicts[c.Class+" "+c.Name]
			if c.Failure != nil {
				failures++
				if verdict != notExpected && !strings.HasPrefix(s.Name, "expectations") {
					t.Errorf("%s in %s fails, its verdict is %q", c.Name, c.Class, verdict)
				}
			}
			if c.Skipped != nil {
				skips++
				if verdict != notDecided && verdict != "" {
					t.Errorf("%s in %s is skipped, its verdict is %q", c.Name, c.Class, verdict)
				}
				if c.Skipped.Message == "" {
					t.Errorf("%s in %s is skipped without a reason", c.Name, c.Class)
				}
			}
		}
	}
	if tests != report.Tests || failures != report.Failures || skips != report.Skipped {
		t.Errorf("the file counts %d, %d, %d; it holds %d, %d, %d", report.Tests, report.Failures, report.Skipped, tests, failures, skips)
	}
	if want := len(f.report.Runs) + len(f.report.Skipped) + len(f.report.Unmet); tests != want {
		t.Errorf("%d cases, want %d", tests, want)
	}
	if failures != 2 { // one unexpected run, one unmet expectation
		t.Errorf("%d failures, want 2", failures)
	}
}
