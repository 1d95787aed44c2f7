package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bucketproof/bucket/backend/backendtest"
	"bucketproof/bucket/check"
	"bucketproof/reports"
)

// windowFault is one edit that breaks a limiter of testdata/windows at the edge
// of a window, and the check that must fail.
type windowFault struct {
	of, name string
	old, new string
	check    string
}

var windowFaults = []windowFault{
	{"log", "log-one-more", "held + cost > limit then", "held + cost > limit + 1 then", check.OverAdmission},
	{"log", "log-early", "now - window)", "now - window * 0.8)", check.OverAdmission},
	{"log", "log-key-too-short", "math.ceil(window / 1000) + 1)", "math.ceil(window / 2000))", check.OverAdmission},
	{"log", "log-late", "now - window)", "now - window * 1.2)", check.SpuriousDenial},
	{"log", "log-denials-count", "    local wait = 0\n", "    local wait = 0\n    redis.call(\"ZADD\", KEYS[1], string.format(\"%.0f\", now), ARGV[4])\n", check.SpuriousDenial},
	{"counter", "counter-one-more", "+ count + cost > limit then", "+ count + cost > limit + 1 then", check.OverAdmission},
	{"counter", "counter-forgets", "before = last == number - 1 and count or 0", "before = 0", check.OverAdmission},
	{"counter", "counter-weighs-nothing-away", "math.floor(before * covered)", "before", check.SpuriousDenial},
	{"two-keys", "two-keys-one-more", "+ cur >= n then", "+ cur > n then", check.OverAdmission},
	{"two-keys", "two-keys-expire-early", "math.ceil(2 * w)", "math.ceil(w / 2)", check.OverAdmission},
	{"numbered", "numbered-one-more", "if n > tonumber(ARGV[1]) then", "if n > tonumber(ARGV[1]) + 1 then", check.OverAdmission},
	{"aligned", "aligned-one-more", "count + cost > limit then", "count + cost > limit + 1 then", check.OverAdmission},
	{"aligned", "aligned-half", "math.floor(now / window)", "math.floor(2 * now / window)", check.OverAdmission},
	{"first", "first-one-more", "count > limit then", "count > limit + 1 then", check.OverAdmission},
	{"first", "first-half", "math.ceil(window)", "math.ceil(window / 2)", check.OverAdmission},
	{"first", "first-double", "math.ceil(window)", "math.ceil(2 * window)", check.SpuriousDenial},
	{"first", "first-never-ends", "if count == cost then", "if count == cost and redis.call(\"INCR\", KEYS[1] .. \":nth\") ~= 2 then", check.SpuriousDenial},
	{"first", "first-denials-extend", "if count == cost then", "if count == cost or count > limit then", check.SpuriousDenial},
}

var windowLimiters = []string{"log", "counter", "two-keys", "aligned", "numbered", "first"}

// file writes the faulty limiter's file into dir. All that the fault may do is
// expected, and what it must.
func (f windowFault) file(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "windows", f.of+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, edit := range [][2]string{{"name: " + f.of + "\n", "name: " + f.name + "\n"}, {f.old, f.new}} {
		if n := strings.Count(text, edit[0]); n != 1 {
			t.Fatalf("%s: %q stands %d times in the file, want once", f.name, edit[0], n)
		}
		text = strings.Replace(text, edit[0], edit[1], 1)
	}
	expect := map[string]string{check.OverAdmission: "any", check.SpuriousDenial: "any"}
	expect[f.check] = "fail"
	text += fmt.Sprintf("expect: {over-admission: %s, spurious-denial: %s, accept-rate: any, state-audit: any, reply-contract: any}\n",
		expect[check.OverAdmission], expect[check.SpuriousDenial])
	path := filepath.Join(dir, f.name+".yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWindowLimiters runs right limiters that count in windows, and siblings
// with a fault at the edge of a window, on a real Redis: the right ones fail
// nothing, and each fault is found by its check in at least one scenario.
func TestWindowLimiters(t *testing.T) {
	if testing.Short() {
		t.Skip("takes twenty seconds")
	}
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	args := []string{"run", "overload", "second-edge", "idle-burst", "window-edge", "--quick", "--redis", url(backendtest.Real(t)), "--out", out}
	for _, name := range windowLimiters {
		args = append(args, "--limiter", filepath.Join("testdata", "windows", name+".yaml"))
	}
	for _, f := range windowFaults {
		args = append(args, "--limiter", f.file(t, dir))
	}
	text, errs, status := command(t.Context(), args...)
	if status != 0 && status != statusUndecided {
		t.Errorf("exit status %d: %s%s", status, text, errs)
	}
	report, err := reports.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range report.Runs {
		if slices.Contains(windowLimiters, run.Limiter) {
			peace(t, run)
		}
	}
	for _, f := range windowFaults {
		f.found(t, report.Runs)
	}
}

// found holds that the fault's check fails in one of its runs, unless the
// machine was too slow to decide.
func (f windowFault) found(t *testing.T, runs []reports.Run) {
	t.Helper()
	undecided := false
	for _, run := range runs {
		if run.Limiter != f.name {
			continue
		}
		i := slices.IndexFunc(run.Checks, func(c reports.Check) bool { return c.Name == f.check })
		switch run.Checks[i].Verdict {
		case string(check.Fail):
			t.Logf("%s in %s: %s", f.name, run.Scenario, run.Checks[i].Detail)
			return
		case string(check.Undecided):
			undecided = true
		}
	}
	if !undecided {
		t.Errorf("%s: %s fails in no run", f.name, f.check)
	}
}
