package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"bucketproof/bucket/check"
	"bucketproof/reports"
	"bucketproof/scenarios"
)

// screen is what a person sees while a command works: a line a run on standard
// output as soon as it is judged, notes on standard error, and a progress bar
// there if it is a terminal. With --format json standard output is the report
// alone. It is safe for concurrent use.
type screen struct {
	streams
	json  bool
	color bool

	mu  sync.Mutex
	bar *progressbar.ProgressBar // nil: no terminal
}

func newScreen(s streams, format string, runs int) *screen {
	c := &screen{streams: s, json: format == "json", color: isTerminal(s.out) && os.Getenv("NO_COLOR") == ""}
	if isTerminal(s.err) {
		c.bar = progressbar.NewOptions(runs,
			progressbar.OptionSetWriter(s.err), progressbar.OptionSetWidth(30), progressbar.OptionShowCount(),
			progressbar.OptionSetDescription("runs"), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(false))
	}
	return c
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// note prints a line on standard error.
func (c *screen) note(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
	fmt.Fprintln(c.err, line)
}

// wipe removes the bar, so that a line can stand where it was.
func (c *screen) wipe() {
	if c.bar != nil {
		_ = c.bar.Clear()
	}
}

func (c *screen) start(f runFlags, dir string) {
	c.note(fmt.Sprintf("seed %d, results go to %s", f.seed, dir))
}

// result prints a run's line.
func (c *screen) result(r *scenarios.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
	if !c.json {
		fmt.Fprintf(c.out, "%s %-24s %-26s %s\n", c.mark(r), r.Scenario.Name, r.Limiter, printable(gist(r)))
	}
	if c.bar != nil {
		_ = c.bar.Add(1)
	}
}

// mark is a run's outcome in a word.
func (c *screen) mark(r *scenarios.Result) string {
	word, colour := "ok       ", 32
	switch {
	case r.Outcome == scenarios.Unexpected:
		word, colour = "FAIL     ", 31
	case r.Outcome == scenarios.Undecided:
		word, colour = "undecided", 33
	case firstOf(r, check.Fail) != nil:
		word, colour = "caught   ", 36
	}
	if !c.color {
		return word
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", colour, word)
}

// gist is the sentence that matters most in a run: that of the first figure or
// check that made the outcome what it is.
func gist(r *scenarios.Result) string {
	if p := r.Astray(); p != nil {
		return p.String()
	}
	for _, verdict := range []check.Verdict{check.Fail, check.Undecided} {
		if v := firstOf(r, verdict); v != nil {
			return v.Name + ": " + v.Detail
		}
	}
	s := r.Report.Summary
	return fmt.Sprintf("granted %d of %d", s.Allowed, s.Offered)
}

// firstOf is the first check with a verdict, one that was not expected before
// one that was.
func firstOf(r *scenarios.Result, verdict check.Verdict) *scenarios.Verdict {
	var first *scenarios.Verdict
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if v.Verdict != verdict {
			continue
		}
		if string(v.Expected) == string(check.Pass) {
			return v
		}
		if first == nil {
			first = v
		}
	}
	return first
}

// end prints the summary, or the report as JSON, and where the page is.
func (c *screen) end(r *reports.Report, dir string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
	if c.json {
		return reports.JSON(c.out, r)
	}
	fmt.Fprintln(c.out)
	if err := reports.Text(c.out, r, c.color); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.out, "\nreport: %s\n", filepath.Join(dir, "report.html"))
	return err
}
