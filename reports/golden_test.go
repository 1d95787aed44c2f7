package reports

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (go test -update writes it anew): -want +got\n%s", path, diff)
	}
}

// bulky are the parts of the page that have tests, or files, of their own.
var bulky = regexp.MustCompile(`(?s)(<style>).*?(</style>)|(<script>).*?(</script>)|(<svg viewBox).*?(</svg>)`)

func TestGoldens(t *testing.T) {
	f := sample()
	dir := t.TempDir()
	if err := write(dir, f.report, f.load, false); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"results.json", "report.md", "junit.xml", "report.html"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "report.html" {
			data = bulky.ReplaceAll(data, []byte("$1$3$5…$2$4$6"))
		}
		golden(t, name, data)
	}
}

// TestSelftestGoldens holds what a selftest adds.
func TestSelftestGoldens(t *testing.T) {
	f := selftested(5)
	dir := t.TempDir()
	if err := write(dir, f.report, f.load, false); err != nil {
		t.Fatal(err)
	}
	for name, part := range map[string]*regexp.Regexp{
		"report.md": nil, "junit.xml": nil,
		"report.html":  regexp.MustCompile(`(?s)<section class="card" id="selftest">.*?</section>`),
		"results.json": regexp.MustCompile(`(?s)  "selftest": .*?\n  }`),
	} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if part != nil {
			data = append(part.Find(data), '\n')
		}
		golden(t, "selftest."+name, data)
	}
}

func TestTextGoldens(t *testing.T) {
	many := large(39).report
	many.Verdict = "pass"
	single := sample().report
	single.Runs, single.Skipped, single.Unmet = single.Runs[3:4], nil, nil
	single.Verdict = "pass"
	for name, c := range map[string]struct {
		report *Report
		color  bool
	}{
		"summary.txt":       {sample().report, false},
		"summary.color.txt": {sample().report, true},
		"numbered.txt":      {many, false},
		"nothing.txt":       {&Report{Verdict: "pass"}, false},
		"single.txt":        {single, false},
		"selftest.txt":      {selftested(5).report, false},
		"selftest.held.txt": {held().report, false},
	} {
		var b bytes.Buffer
		if err := Text(&b, c.report, c.color); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
	}
}

// TestResultsKeepTheirFields reads a results.json written earlier: the format
// is a promise to other programs.
func TestResultsKeepTheirFields(t *testing.T) {
	r, err := Read("testdata")
	if err != nil {
		t.Fatal(err)
	}
	got, err := marshal(complete(r))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "results.json", got)
}
