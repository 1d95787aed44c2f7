package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bucketproof/bucket/backend/backendtest"
	"bucketproof/bucket/check"
	"bucketproof/bucket/history"
	"bucketproof/reports"
)

// sibling is the bucket of testdata/sharpness/right.yaml with one fault, of
// the least size that must still be seen.
type sibling struct {
	name     string
	old, new string // the edit that makes the fault
	check    string // that must fail
}

// store is the line before which a fault goes that comes once in a bucket's
// life, at its 300th request or the first denial after.
const store = `  redis.call("HSET", KEYS[1], "level", level, "at", now)`

var siblings = []sibling{
	{
		name: "denial-granted", old: store, check: check.OverAdmission,
		new: `  if asked >= 300 and granted == 0 and redis.call("HSETNX", KEYS[1], "favour", 1) == 1 then granted = 1 end` + "\n" + store,
	},
	{
		name: "token-minted", old: store, check: check.OverAdmission,
		new: "  if asked == 300 then level = level + 1 end\n" + store,
	},
	{
		name: "one-larger", old: "tonumber(ARGV[2]),", check: check.OverAdmission,
		new: "tonumber(ARGV[2]) + 1,",
	},
	{
		name: "faster", old: "tonumber(ARGV[1]),", check: check.OverAdmission,
		new: "tonumber(ARGV[1]) * 1.01,",
	},
	{
		name: "slower", old: "tonumber(ARGV[1]),", check: check.SpuriousDenial,
		new: "tonumber(ARGV[1]) * 0.99,",
	},
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
	t.Run("sixty-four", func(t *testing.T) {
		sharpen(t, filepath.Join("testdata", "sharpness", "sixty-four.yaml"), siblings[:3])
	})
	t.Run("long-overload", func(t *testing.T) { sharpen(t, "long-overload", siblings) })
}

// sharpen runs a scenario for the right bucket and its siblings. A machine that
// is too slow may leave a run undecided.
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
	report, err := reports.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Runs) != 1+len(faulty) {
		t.Fatalf("%d runs, want one of the right bucket and of each sibling", len(report.Runs))
	}
	harmless := false
	for _, run := range report.Runs {
		i := slices.IndexFunc(faulty, func(s sibling) bool { return s.name == run.Limiter })
		if i < 0 {
			peace(t, run)
		} else {
			harmless = faulty[i].seen(t, out, run) || harmless
		}
	}
	if status != 0 && status != statusUndecided && !(harmless && status == statusFail) {
		t.Errorf("exit status %d: %s%s", status, text, errs)
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

// seen holds that the sibling's check fails, by as much as is true. It reports
// whether there was nothing to see: on a machine that sends too little a token that
// was minted is lost again in a full bucket.
func (s sibling) seen(t *testing.T, out string, run reports.Run) (harmless bool) {
	t.Helper()
	c := run.Checks[slices.IndexFunc(run.Checks, func(c reports.Check) bool { return c.Name == s.check })]
	tooMany, refused := truth(t, out, run)
	got, want, differ := c.Value["excess"], tooMany, 1.0
	if s.check == check.SpuriousDenial {
		got, want, differ = c.Value["count"], refused, 1+0.05*refused
	}
	switch {
	case !run.Witness:
		t.Errorf("%s ran without a witness", s.name)
	case c.Verdict == string(check.Undecided):
		t.Logf("%s: %s is undecided: %s", s.name, c.Name, c.Detail)
	case c.Verdict == string(check.Pass) && want == 0:
		t.Logf("%s: nothing was granted or denied wrongly: %s", s.name, c.Detail)
		return true
	case c.Verdict != string(check.Fail):
		t.Errorf("%s: %s is %s: %s", s.name, c.Name, c.Verdict, c.Detail)
	case got > want || got < want-differ:
		t.Errorf("%s: %s tells of %v, the truth is %v and at most %v less: %s", s.name, c.Name, got, want, differ, c.Detail)
	default:
		t.Logf("%s: %s tells of %v, the truth is %v: %s", s.name, c.Name, got, want, c.Detail)
	}
	return false
}

// truth is what an ideal bucket makes of a run at the instants that the limiter
// went by, which the stored times tell: the grants that it would have refused,
// and charges nothing for, and the denials that it would have granted. The check
// knows no more than the server's clock before and after, which may cost it one
// of those grants and some in a hundred of the denials.
func truth(t *testing.T, out string, run reports.Run) (tooMany, refused float64) {
	t.Helper()
	f, err := history.Open(filepath.Join(out, filepath.FromSlash(run.Dir), historyFile), nil, history.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var ops []history.Operation
	for op, err := range f.Operations() {
		if err != nil {
			t.Fatal(err)
		}
		ops = append(ops, *op)
	}
	slices.SortFunc(ops, func(a, b history.Operation) int { return cmp.Compare(a.Witness.Sequence, b.Witness.Sequence) })
	level, at := run.Limit.Capacity, math.Inf(1)
	for _, op := range ops {
		now := op.Witness.After.Time
		level, at = min(run.Limit.Capacity, level+run.Limit.Rate*max(now-at, 0)/1e6), now
		switch enough := level >= 1-1e-6; {
		case enough && op.Outcome == history.Allowed:
			level--
		case enough:
			refused++
		case op.Outcome == history.Allowed:
			tooMany++
		}
	}
	return tooMany, refused
}

// TestShortenedSuiteSeesRounding: figures that are cut to whole numbers and are
// whole under most limits that people write down, 100/s among them: the life of
// a key in seconds and the gap between tokens in milliseconds. The shortened
// suite has limits under which they are not. A machine that cannot empty a bucket
// says nothing of its rate.
func TestShortenedSuiteSeesRounding(t *testing.T) {
	if testing.Short() {
		t.Skip("takes five seconds")
	}
	t.Parallel()
	path := filepath.Join("testdata", "sharpness", "right.yaml")
	right, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rounded := []sibling{
		{name: "life-in-seconds", old: `"PEXPIRE", KEYS[1], math.ceil(capacity / rate * 1000)`, check: check.StateAudit,
			new: `"EXPIRE", KEYS[1], math.max(1, math.floor(capacity / rate))`},
		{name: "gap-in-milliseconds", old: "* rate / 1000000", check: check.OverAdmission,
			new: "/ 1000 / math.floor(1000 / rate)"},
		{name: "gap-rounded-up", old: "* rate / 1000000", check: check.SpuriousDenial,
			new: "/ 1000 / math.ceil(1000 / rate)"},
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	args := []string{"run", "kept-alive", "same-tick", "--quick", "--redis", url(backendtest.Real(t)), "--out", out, "--limiter", path}
	for _, s := range rounded {
		args = append(args, "--limiter", s.file(t, dir, string(right)))
	}
	_, errs, status := command(t.Context(), args...)
	if status == statusUsage || status == statusEnvironment {
		t.Fatalf("exit status %d: %s", status, errs)
	}
	report, err := reports.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range report.Runs {
		if run.Limiter == "right" {
			peace(t, run)
		}
	}
	for _, s := range rounded {
		var verdicts []string
		slow := false
		for _, run := range report.Runs {
			if run.Limiter == s.name {
				verdicts = append(verdicts, run.Checks[slices.IndexFunc(run.Checks, func(c reports.Check) bool { return c.Name == s.check })].Verdict)
				slow = slow || run.Counts.Denied == 0
			}
		}
		switch {
		case len(verdicts) != 2:
			t.Errorf("%s ran %d times, want once in each scenario", s.name, len(verdicts))
		case slices.Contains(verdicts, string(check.Fail)):
		case slow || slices.Contains(verdicts, string(check.Undecided)):
			t.Logf("%s: the machine is too slow to decide: %s is %v", s.name, s.check, verdicts)
		default:
			t.Errorf("%s: %s is %v, want a failure", s.name, s.check, verdicts)
		}
	}
}
