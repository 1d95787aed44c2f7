package reports

import (
	"slices"
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
