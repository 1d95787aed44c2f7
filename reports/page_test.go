package reports

import (
	"context"
	_ "embed"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"bucketproof/bucket/backend/backendtest"
)

// probe.js looks at a page as a reader with sharp eyes would, and returns a
// list of what is wrong with it.
//
//go:embed testdata/probe.js
var probe string

// browser starts a headless Chromium that ends with the test.
func browser(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		backendtest.Require(t, "chromium", err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU)
	for _, flag := range []string{"disable-background-networking", "disable-component-update", "disable-sync", "disable-quic"} {
		options = append(options, chromedp.Flag(flag, true))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	return ctx
}

func TestPage(t *testing.T) {
	ctx := browser(t)
	heard := listen(ctx)
	if err := chromedp.Do(ctx, console("first")); err != nil {
		t.Fatal(err)
	}
	embedded := large(40)
	embedded.report.Redis = Redis{Kind: "embedded", Engine: "miniredis", Version: "2.40.0"}
	for name, f := range map[string]*fixture{
		"troubled": troubled(), "large": embedded, "selftest": selftested(48), "clocks": clocks(), "hostile clocks": hostileClocks(), "capacity": {report: capable()}, "nothing": newFixture(),
	} {
		dir := t.TempDir()
		if err := write(dir, f.report, f.load, false); err != nil {
			t.Fatal(err)
		}
		for _, width := range []int64{1280, 390} {
			t.Run(fmt.Sprintf("%s at %d", name, width), func(t *testing.T) { look(t, ctx, filepath.Join(dir, "report.html"), width) })
		}
	}
	t.Run("links", func(t *testing.T) { followLinks(t, ctx) })
	if err := chromedp.Do(ctx, console("last")); err != nil {
		t.Fatal(err)
	}
	if got, want := heard(), []string{"log: first"}; !slices.Equal(got, want) {
		t.Errorf("the console says %q, want what the test itself said: %q", got, want)
	}
}

// console makes the page write a line to its console.
func console(line string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fmt.Sprintf("(console.log(%q), true)", line)))
		return err
	})
}

// listen collects what pages write to the console, errors included, until one
// writes "last".
func listen(ctx context.Context) func() []string {
	messages := chromedp.Console(ctx)
	said := make(chan []string, 1)
	go func() {
		var list []string
		for m, err := range messages {
			if err != nil || strings.Contains(m.String(), "last") {
				break
			}
			list = append(list, m.String())
		}
		said <- list
	}()
	return func() []string { return <-said }
}

// look opens a page at a width, opens all its details, and probes it.
func look(t *testing.T, ctx context.Context, path string, width int64) {
	t.Helper()
	err := chromedp.Do(ctx,
		chromedp.EmulateViewport(width, 900),
		chromedp.Navigate((&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()),
	)
	if err != nil {
		t.Fatal(err)
	}
	faults, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](probe))
	if err != nil {
		t.Fatal(err)
	}
	for i, fault := range faults {
		if i == 12 {
			t.Errorf("%d px: and %d more", width, len(faults)-i)
			break
		}
		t.Errorf("%d px: %s", width, fault)
	}
}

// followLinks clicks through the page.
func followLinks(t *testing.T, ctx context.Context) {
	t.Helper()
	f := sample()
	dir := t.TempDir()
	if err := write(dir, f.report, nil, false); err != nil {
		t.Fatal(err)
	}
	page := (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(dir, "report.html")), Fragment: "run-1"}).String()
	if err := chromedp.Do(ctx, chromedp.Navigate(page)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ what, script string }{
		{"the run of the link is open", `document.getElementById("run-1").open`},
		{"an unexpected run is open", `document.querySelector("details.run.unexpected").open`},
		{"another passing run is closed", `!document.querySelectorAll("details.run.passed")[1].open`},
		{"the filter shows one kind", `(document.querySelector("[data-show=undecided]").click(),
			[...document.querySelectorAll("details.run")].every(r => r.hidden === (r.dataset.state !== "undecided")))`},
		{"a link to a hidden run shows it", `(location.hash = "#run-2", new Promise(done => setTimeout(() => {
			const r = document.getElementById("run-2"); done(r.open && !r.hidden && r.getBoundingClientRect().height > 100) }, 200)))`},
	} {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](c.script, chromedp.EvalAwaitPromise))
		if err != nil || !ok {
			t.Errorf("%s: %v, %v", c.what, ok, err)
		}
	}
}

// TestPageStandsAlone reads the page as text: nothing in it points elsewhere
// but links to the files beside it.
func TestPageStandsAlone(t *testing.T) {
	for name, f := range map[string]*fixture{"troubled": troubled(), "selftest": selftested(4), "clocks": clocks(), "hostile clocks": hostileClocks()} {
		t.Run(name, func(t *testing.T) { standsAlone(t, f) })
	}
}

func standsAlone(t *testing.T, f *fixture) {
	t.Helper()
	dir := t.TempDir()
	if err := write(dir, f.report, f.load, false); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range bannedInPage.FindAll(data, -1) {
		t.Errorf("the page holds %q", bad)
	}
	ids := make(map[string]bool)
	for _, m := range idInPage.FindAllSubmatch(data, -1) {
		if ids[string(m[1])] {
			t.Errorf("id %q twice", m[1])
		}
		ids[string(m[1])] = true
	}
	for _, m := range linkInPage.FindAllSubmatch(data, -1) {
		if !ids[string(m[1])] {
			t.Errorf("a link to #%s, which is nowhere", m[1])
		}
	}
	for _, m := range fileInPage.FindAllSubmatch(data, -1) {
		if _, err := os.Stat(filepath.Join(dir, string(m[1]))); err != nil {
			t.Errorf("a link to a file that is not there: %v", err)
		}
	}
}

// What the page must not hold, and what it refers to.
var (
	bannedInPage = regexp.MustCompile(`<script>alert|https?://|<link rel="stylesheet|@import|url\(|<img|<iframe|\x{202e}`)
	idInPage     = regexp.MustCompile(` id="([^"]*)"`)
	linkInPage   = regexp.MustCompile(`href="#([^"]*)"`)
	fileInPage   = regexp.MustCompile(`href="(plots/[^"]*)"`)
)
