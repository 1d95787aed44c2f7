package reports

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestRunLinksToItsPictureOfLinearizability(t *testing.T) {
	for _, c := range []struct{ path, want string }{
		{"", ""}, {"skew/app-clock/linearizability.html", "skew/app-clock/linearizability.html"},
		{"50% off/#1?/linearizability.html", "50%25%20off/%231%3F/linearizability.html"}, {"javascript:alert(1)", "./javascript:alert%281%29"},
		{"/etc/passwd", ""}, {"../other.html", ""}, {".", ""}, {"https://example.com/x", ""},
	} {
		run := Run{Linearizability: c.path}
		if got := newHTMLRun(&Report{Runs: []Run{run}}, 0, run, picture{}).Linearizability; got != c.want {
			t.Errorf("%q: link %q, want %q", c.path, got, c.want)
		}
	}
}

func TestRunSaysHowItWasRecorded(t *testing.T) {
	for witness, want := range map[bool]string{true: "true order recorded in Redis", false: "seen from outside"} {
		if facts := runFacts(Run{Witness: witness}); !slices.Contains(facts, fact{"Order of requests", want}) {
			t.Errorf("witness %v: %v, want %q among them", witness, facts, want)
		}
	}
}

// TestPagesLinkThePictures: both pages link the picture of a run that has one,
// whatever the run came to, once each, also when they are written again; and
// nothing where there is none.
func TestPagesLinkThePictures(t *testing.T) {
	f := newFixture()
	checks := []Check{{Name: "linearizability", Verdict: "fail", Expected: "any"}}
	f.report.Runs = []Run{
		{Scenario: "overload", Limiter: "control/get-set", Verdict: asExpected, Checks: checks, Linearizability: "overload/control-get-set/linearizability.html"},
		{Scenario: "mine", Limiter: "my_own", Verdict: notExpected, Checks: checks, Linearizability: "my own/linearizability.html"},
		{Scenario: "steady", Limiter: "redis-time", Verdict: asExpected},
	}
	dir := t.TempDir()
	for range 2 {
		if err := write(dir, f.report, nil, false); err != nil {
			t.Fatal(err)
		}
		for file, links := range map[string][]string{
			"report.html": {`href="overload/control-get-set/linearizability.html"`, `href="my%20own/linearizability.html"`},
			"report.md": {
				"- [control/get-set in overload](overload/control-get-set/linearizability.html)\n",
				"- [" + aboutPicture + "](my%20own/linearizability.html)\n",
			},
		} {
			text, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			for _, link := range links {
				if strings.Count(string(text), link) != 1 {
					t.Errorf("%s: %s stands there %d times, want once", file, link, strings.Count(string(text), link))
				}
			}
			if n := strings.Count(string(text), "linearizability.html"); n != len(links) {
				t.Errorf("%s: %d links to pictures, want %d", file, n, len(links))
			}
		}
		var err error
		if f.report, err = Read(dir); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRunSaysHowTheServersClockWasChanged: beside whose clock decides, and as the
// cause of what the change explains; also where results.json is read again.
func TestRunSaysHowTheServersClockWasChanged(t *testing.T) {
	over := Check{
		Name: "over-admission", Verdict: "fail", Expected: "fail", WithinPrediction: true,
		Value: map[string]float64{"peak_excess": 30, "predicted_peak_excess": 30, "spread_s": 0.3},
	}
	f := newFixture()
	f.report.Runs = []Run{{
		Scenario: "server-step", Limiter: "redis-time", Time: "server", Verdict: asExpected, Checks: []Check{over},
		Theory: Theory{PredictedPeakExcess: 30}, ServerClock: &Clock{DriftPPM: 5, Steps: []Step{{AtS: 1, ByS: 0.3}}},
	}}
	dir := t.TempDir()
	if err := write(dir, f.report, nil, false); err != nil {
		t.Fatal(err)
	}
	r, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	run := r.Runs[0]
	for _, want := range []fact{
		{"Clock", "the server's, shown with 5 ppm, +300 ms at 1 s; keys expire by its own"},
		{"Clocks explain", "up to 30 tokens"},
	} {
		if facts := runFacts(run); !slices.Contains(facts, want) {
			t.Errorf("%v, want %q among them", facts, want)
		}
	}
	want := "It exceeds the ideal bound by 30 tokens; the shift of the server's clock of 300 ms explains up to 30."
	if got := explanation(run, run.Checks[0]); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	run.Server, run.Time = "failover", "caller"
	run.Checks[0].Value["leaps"] = 1
	if facts, want := runFacts(run), (fact{"Clock", "the caller's; a replica took over, and keys expire by its clock: 5 ppm, +300 ms at 1 s"}); !slices.Contains(facts, want) {
		t.Errorf("%v, want %q among them", facts, want)
	}
	want = "It exceeds the ideal bound by 30 tokens; the key that expired early as the server's clock went forward explains up to 30."
	if got := explanation(run, run.Checks[0]); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	run.ServerClock, run.Time = nil, "server"
	if facts := runFacts(run); !slices.Contains(facts, fact{"Clock", "the server's"}) {
		t.Errorf("of the server's own clock: %v", facts)
	}
}
