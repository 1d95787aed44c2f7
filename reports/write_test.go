package reports

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// folderOf reads all files below dir, by their names there.
func folderOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestWriteIsDeterministic(t *testing.T) {
	var folders []map[string]string
	for range 2 {
		f := sample()
		dir := t.TempDir()
		if err := write(dir, f.report, f.load, false); err != nil {
			t.Fatal(err)
		}
		folders = append(folders, folderOf(t, dir))
	}
	if diff := cmp.Diff(folders[0], folders[1]); diff != "" {
		t.Errorf("two writes differ:\n%s", diff)
	}
}

func TestWriteThenReadThenWriteIsTheSame(t *testing.T) {
	f := sample()
	first, second := t.TempDir(), t.TempDir()
	before, _ := marshal(f.report)
	if err := write(first, f.report, f.load, false); err != nil {
		t.Fatal(err)
	}
	if after, _ := marshal(f.report); !bytes.Equal(before, after) {
		t.Error("Write changed the report it was given")
	}
	again, err := Read(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(second, again, f.load, false); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(folderOf(t, first), folderOf(t, second)); diff != "" {
		t.Errorf("rendered again, it differs:\n%s", diff)
	}
}

func TestWriteNamesItsFiles(t *testing.T) {
	f := newFixture()
	run, ops := judged("skew-drain/500ms", "app-clock", drain(0.5, bucket.RuleAppClock, false), faults("over-admission"))
	f.add(run, ops)
	run, ops = judged("latency", "control/older-now-written", contention(1), nil)
	run.LatencyMeasured = true
	f.add(run, ops)
	dir := t.TempDir()
	if err := Write(dir, f.report, f.load); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range folderOf(t, dir) {
		names = append(names, name)
	}
	want := []string{
		"junit.xml", "report.html", "report.md", "results.json",
		"plots/latency-control-older-now-written-envelope.svg",
		"plots/latency-latency.png", "plots/latency-latency.svg",
		"plots/matrix.png", "plots/matrix.svg",
		"plots/skew-drain-500ms-app-clock-envelope.png", "plots/skew-drain-500ms-app-clock-envelope.svg",
		"plots/skew-drain-500ms-app-clock-shares.svg",
	}
	if diff := cmp.Diff(sorted(want), sorted(names)); diff != "" {
		t.Errorf("files: -want +got\n%s", diff)
	}
}

func TestMissingHistoryIsAWarningOnThePage(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("open x: %w", os.ErrNotExist), "no picture: its history is not there any more"},
		{errors.New("line 3: no outcome"), "no picture: line 3: no outcome"},
	} {
		f := newFixture()
		run, _ := judged("contention", "app-clock", contention(1), nil)
		f.report.Runs = append(f.report.Runs, run)
		dir := t.TempDir()
		err := write(dir, f.report, func(Run) ([]history.Operation, error) { return nil, c.err }, false)
		if err != nil {
			t.Fatal(err)
		}
		files := folderOf(t, dir)
		if !strings.Contains(files["report.html"], c.want) {
			t.Errorf("the page does not say %q", c.want)
		}
		if strings.Contains(files["results.json"], "no picture") {
			t.Error("results.json has the warning of a page")
		}
	}
}

func TestWriteRemovesPicturesOfOtherRuns(t *testing.T) {
	dir := t.TempDir()
	old := newFixture()
	gone, ops := judged("gone", "app-clock", contention(1), nil)
	old.add(gone, ops)
	kept, ops := judged("kept", "app-clock", contention(1), nil)
	old.add(kept, ops)
	if err := write(dir, old.report, old.load, false); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(dir, "plots", "mine.svg")
	if err := os.WriteFile(mine, []byte("<svg/>"), 0o644); err != nil {
		t.Fatal(err)
	}
	now := newFixture()
	now.report.Runs = []Run{kept} // its history is gone, its picture is all that is left
	run, ops := judged("other", "app-clock", contention(2), nil)
	now.add(run, ops)
	if err := write(dir, now.report, now.load, false); err != nil {
		t.Fatal(err)
	}
	files := folderOf(t, dir)
	for name, want := range map[string]bool{
		"plots/gone-app-clock-envelope.svg": false, "plots/kept-app-clock-envelope.svg": true,
		"plots/other-app-clock-envelope.svg": true, "plots/mine.svg": true,
	} {
		if _, got := files[name]; got != want {
			t.Errorf("%s is there: %v, want %v", name, got, want)
		}
	}
}

func TestFailedWriteLeavesEarlierResult(t *testing.T) {
	dir := t.TempDir()
	f := sample()
	if err := write(dir, f.report, nil, false); err != nil {
		t.Fatal(err)
	}
	before := folderOf(t, dir)["results.json"]
	bad := *f.report
	bad.Runs = append([]Run{}, f.report.Runs...)
	bad.Runs[0].DurationS = infinity
	err := write(dir, &bad, nil, false)
	if err == nil || !strings.Contains(err.Error(), "results.json") {
		t.Errorf("error %v does not name the file", err)
	}
	if folderOf(t, dir)["results.json"] != before {
		t.Error("a failed write changed results.json")
	}
	for name := range folderOf(t, dir) {
		if strings.Contains(filepath.Base(name), "results.json.") {
			t.Errorf("%s was left behind", name)
		}
	}
}

func TestWriteErrorsNameTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{Write(file, sample().report, nil), "create " + file + ": "},
		{replace(filepath.Join(file, "report.md"), nil), "write " + filepath.Join(file, "report.md") + ": not a directory"},
		{writeError("out/report.html", &fs.PathError{Op: "write", Path: "out/.report.html.123", Err: syscall.ENOSPC}),
			"write out/report.html: no space left on device"},
	} {
		if c.err == nil || !strings.HasPrefix(c.err.Error(), c.want) {
			t.Errorf("error %v, want %q", c.err, c.want)
		}
	}
	if !errors.Is(writeError("x", &fs.PathError{Err: syscall.ENOSPC}), syscall.ENOSPC) {
		t.Error("the cause is not wrapped")
	}
}

// TestLargeReport holds the page of a long run to a size that a browser opens
// at once, and the images to those that tell something.
func TestLargeReport(t *testing.T) {
	f := large(130)
	dir := t.TempDir()
	if err := write(dir, f.report, f.load, false); err != nil {
		t.Fatal(err)
	}
	files := folderOf(t, dir)
	if size := len(files["report.html"]); size > 2_500_000 {
		t.Errorf("report.html has %d bytes", size)
	}
	images := make(map[string]int)
	for _, d := range plan(f.report) {
		if d.png {
			images[d.run.Limiter]++
		}
	}
	for limiter, n := range images {
		if n > imagesPerLimiter+1 { // the one at the top comes on top
			t.Errorf("%d images of %s", n, limiter)
		}
	}
	for name, data := range files {
		if strings.HasSuffix(name, ".svg") && len(data) > 40_000 {
			t.Errorf("%s has %d bytes", name, len(data))
		}
	}
}
