package reports

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEmbeddedLatenciesAreQualified looks at every place that shows a latency:
// none may be taken for a real server's.
func TestEmbeddedLatenciesAreQualified(t *testing.T) {
	f := sample()
	f.report.Redis = Redis{Kind: "embedded", Engine: "miniredis", Version: "2.40.0"}
	dir := t.TempDir()
	if err := write(dir, f.report, f.load, false); err != nil {
		t.Fatal(err)
	}
	files := folderOf(t, dir)
	captions := regexp.MustCompile(`<p class="caption">Latency[^\n]*`).FindAllString(files["report.html"], -1)
	if len(captions) < len(f.report.Runs) {
		t.Errorf("%d latency tables on the page, want at least one a run", len(captions))
	}
	for _, c := range captions {
		if !strings.Contains(c, embeddedWarning) {
			t.Errorf("no warning beside a table: %s", c)
		}
	}
	pictures, _ := filepath.Glob(filepath.Join(dir, "plots", "*-latency.svg"))
	if len(pictures) == 0 {
		t.Error("no picture of latencies")
	}
	for name, data := range files {
		if strings.HasSuffix(name, "-latency.svg") && !strings.Contains(data, embeddedWarning) {
			t.Errorf("no warning in %s", name)
		}
	}
	_, latencies, _ := strings.Cut(files["report.md"], "## Latency")
	if !strings.HasPrefix(strings.TrimSpace(latencies), "> **Warning:** "+embeddedWarning) {
		t.Error("no warning beside the latencies in report.md")
	}
	var b strings.Builder
	if err := Text(&b, f.report, false); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), embeddedWarning) {
		t.Error("no warning in the summary")
	}
}
