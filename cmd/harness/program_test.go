package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bucketproof/bucket/backend/backendtest"
	"bucketproof/bucket/lua"
	"bucketproof/reports"
)

const examples = "../../bucket/remote/examples"

// TestPrograms: the same script, called by programs in three languages, gets the
// verdicts that it gets in this process: where its callers' clocks agree and where
// they do not.
func TestPrograms(t *testing.T) {
	python := backendtest.Program(t, "python", "python3")
	for _, folder := range []string{filepath.Dir(python), "/usr/bin"} { // the one that apt installs modules for
		t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	if out, err := exec.Command("python3", "-c", "import redis").CombinedOutput(); err != nil {
		backendtest.Require(t, "python", "its module redis: "+lastLine(string(out)))
	}
	backendtest.Program(t, "node", "node")
	if out, err := exec.Command(backendtest.Program(t, "perl", "perl"), "-MJSON::PP", "-e", "").CombinedOutput(); err != nil {
		backendtest.Require(t, "perl", lastLine(string(out)))
	}
	languages := []string{"python", "node", "perl"}
	files := []string{"app-clock"}
	for _, language := range languages {
		files = append(files, filepath.Join(examples, language+".yaml"))
	}
	r := runFor(t, files, "atomic-burst", filepath.Join("testdata", "remote", "apart.yaml"),
		"--witness", "off", "--redis", url(backendtest.Real(t)))
	if len(r.Runs) != 3*len(files) {
		t.Fatalf("%d runs, want %d", len(r.Runs), 3*len(files))
	}
	for _, run := range r.Runs {
		model := runOf(r, run.Scenario, "app-clock")
		for i, c := range run.Checks {
			want := model.Checks[i]
			decided := []string{"pass", "fail"}
			switch {
			case c.Verdict == want.Verdict && c.WithinPrediction == want.WithinPrediction:
			case !slices.Contains(decided, c.Verdict) || !slices.Contains(decided, want.Verdict):
				t.Logf("%s of %s in %s: %s (%s), and in this process %s (%s)", c.Name, run.Limiter, run.Scenario, c.Verdict, c.Detail, want.Verdict, want.Detail)
			default:
				t.Errorf("%s of %s in %s: %s (%s), and in this process %s (%s)", c.Name, run.Limiter, run.Scenario, c.Verdict, c.Detail, want.Verdict, want.Detail)
			}
		}
		if run.Counts.Unknown+run.Counts.Unsent > 0 {
			t.Errorf("%s in %s: %+v, %+v", run.Limiter, run.Scenario, run.Counts, run.Errors)
		}
	}
	for _, language := range languages {
		seen(t, r, language, "over-admission")
		if audits := verdicts(r, language, "state-audit"); !slices.Contains(audits, "pass") {
			t.Errorf("state-audit of %s: %v", language, audits)
		}
	}
}

func runOf(r *reports.Report, scenario, limiter string) reports.Run {
	i := slices.IndexFunc(r.Runs, func(run reports.Run) bool { return run.Scenario == scenario && run.Limiter == limiter })
	return r.Runs[i]
}

// TestExamplesAreShort: each is one page, and its script is the reference.
func TestExamplesAreShort(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(examples, "*"))
	if err != nil || len(names) < 7 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n >= 60 {
			t.Errorf("%s has %d lines, want fewer than 60", name, n)
		}
		if filepath.Base(name) != "bucket.lua" {
			continue
		}
		model, err := lua.Builtin("app-clock")
		if err != nil || model.Script != string(text) {
			t.Errorf("%s is not the built-in app-clock's script: %v", name, err)
		}
	}
}
