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

// sibling is the bucket of testdata/sharpness/right.yaml with one fault, of
// the least size that must still be seen.
type sibling struct {
	name     string
	old, new string // the edit that makes the fault
	check    string // that must fail
	figure   func(reports.Run, reports.Check) (got, least, most float64)
}

// store is the line before which a fault goes that comes once in a bucket's
// life, at its 300th request or the first denial after.
const store = `  redis.call("HSET", KEYS[1], "level", level, "at", now)`

var siblings = []sibling{
	{
		name: "denial-granted", old: store, check: check.OverAdmission, figure: oneToken,
		new: `  if asked >= 300 and granted == 0 and redis.call("HSETNX", KEYS[1], "favour", 1) == 1 then granted = 1 end` + "\n" + store,
	},
	{
		name: "token-minted", old: store, check: check.OverAdmission, figure: oneToken,
		new: "  if asked == 300 then level = level + 1 end\n" + store,
	},
	{
		name: "one-larger", old: "tonumber(ARGV[2]),", check: check.OverAdmission, figure: oneToken,
		new: "tonumber(ARGV[2]) + 1,",
	},
	{
		name: "faster", old: "tonumber(ARGV[1]),", check: check.OverAdmission, figure: hundredthGained,
		new: "tonumber(ARGV[1]) * 1.01,",
	},
	{
		name: "slower", old: "tonumber(ARGV[1]),", check: check.SpuriousDenial, figure: nearlyEveryDenial,
		new: "tonumber(ARGV[1]) * 0.99,",
	},
}

// oneToken: one grant is to be struck out, no more.
func oneToken(_ reports.Run, c reports.Check) (got, least, most float64) {
	return c.Value["excess"], 1, 1
}

// hundredthGained: a hundredth of what the rate earns was granted on top. Of a
// token that is not whole yet nothing shows.
func hundredthGained(r reports.Run, c reports.Check) (got, least, most float64) {
	gained := 0.01 * r.Limit.Rate * r.DurationS
	return c.Value["excess"], 0.8*gained - 1, gained + 1
}

// nearlyEveryDenial: once a hundredth of what the rate earns is a token, no
// denial is right any more. At 130 a second that is so after 0.8 of 8 s.
func nearlyEveryDenial(_ reports.Run, c reports.Check) (got, least, most float64) {
	return c.Value["count"], 0.8 * c.Value["denied"], c.Value["denied"]
}

// file writes the sibling's limiter file into dir. It expects its fault to be
// found, and nothing else but what may come with it.
func (s sibling) file(t *testing.T, dir, right string) string {
	t.Helper()
	text := right
	for _, edit := range [][2]string{{"name: right\n", "name: " + s.name + "\n"}, {s.old, s.new}} {
		if n := strings.Count(text, edit[0]); n != 1 {
			t.Fatalf("%s: %q stands %d times in the file, want once", s.name, edit[0], n)
		}
		text = strings.Replace(text, edit[0], edit[1], 1)
	}
	text += fmt.Sprintf("expect: {%s: fail, accept-rate: any}\n", s.check)
	path := filepath.Join(dir, s.name+".yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSharpness shows the smallest faults that must be seen on a real Redis
// with a witness: one token too many in the life of a bucket, one more in what
// it holds, asked by 64 clients at once or by two, and within ten seconds a
// rate that is wrong by one in a hundred, either way. The same bucket without
// a fault is left in peace beside them.
func TestSharpness(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	t.Parallel()
	t.Run("sixty-four", func(t *testing.T) {
		sharpen(t, filepath.Join("testdata", "sharpness", "sixty-four.yaml"), siblings[:3])
	})
	t.Run("long-overload", func(t *testing.T) { sharpen(t, "long-overload", siblings) })
}

// sharpen runs a scenario for the right bucket and its siblings. A machine that
// is too slow may leave a run undecided. A figure is held against the truth
// where nothing qualifies it: a bucket that a slow machine left to fill again
// and again grants a token too many each time.
func sharpen(t *testing.T, scenario string, faulty []sibling) {
	path := filepath.Join("testdata", "sharpness", "right.yaml")
	right, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	args := []string{"run", scenario, "--witness", "on", "--redis", url(backendtest.Real(t)), "--out", out, "--limiter", path}
	for _, s := range faulty {
		args = append(args, "--limiter", s.file(t, dir, string(right)))
	}
	text, errs, status := command(t.Context(), args...)
	if status != 0 && status != statusUndecided {
		t.Errorf("exit status %d: %s%s", status, text, errs)
	}
	report, err := reports.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Runs) != 1+len(faulty) {
		t.Fatalf("%d runs, want one of the right bucket and of each sibling", len(report.Runs))
	}
	for _, run := range report.Runs {
		i := slices.IndexFunc(faulty, func(s sibling) bool { return s.name == run.Limiter })
		if i < 0 {
			peace(t, run)
		} else {
			faulty[i].seen(t, run)
		}
	}
}

// peace holds that no check fails.
func peace(t *testing.T, run reports.Run) {
	t.Helper()
	for _, c := range run.Checks {
		if c.Verdict == string(check.Fail) {
			t.Errorf("%s fails %s: %s", run.Limiter, c.Name, c.Detail)
		}
	}
}

// seen holds that the sibling's check fails, and by how much.
func (s sibling) seen(t *testing.T, run reports.Run) {
	t.Helper()
	c := run.Checks[slices.IndexFunc(run.Checks, func(c reports.Check) bool { return c.Name == s.check })]
	got, least, most := s.figure(run, c)
	switch {
	case !run.Witness:
		t.Errorf("%s ran without a witness", s.name)
	case c.Verdict == string(check.Undecided):
		t.Logf("%s: %s is undecided: %s", s.name, c.Name, c.Detail)
	case c.Verdict != string(check.Fail):
		t.Errorf("%s: %s is %s: %s", s.name, c.Name, c.Verdict, c.Detail)
	case len(run.Warnings) > 0:
		t.Logf("%s: %s: %s; %s", s.name, c.Name, c.Detail, strings.Join(run.Warnings, "; "))
	case got < least || got > most:
		t.Errorf("%s: %s tells of %v, want %.4g to %.4g: %s", s.name, c.Name, got, least, most, c.Detail)
	default:
		t.Logf("%s: %s tells of %v, the truth is %.4g to %.4g: %s", s.name, c.Name, got, least, most, c.Detail)
	}
}
