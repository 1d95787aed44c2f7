package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/reports"
)

// limiterFile writes a limiter file of the name into dir.
func limiterFile(t *testing.T, dir, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(dir, name+".yaml")
	if err := os.WriteFile(path, []byte("name: "+name+"\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// runFor runs testdata/remote/busy.yaml and more scenarios for limiter files and returns the report. Whatever the
// verdicts are, the command must have come to some.
func runFor(t *testing.T, files []string, args ...string) *reports.Report {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	args = append([]string{"run", "--quick", "--seed", "7", "--out", out, filepath.Join("testdata", "remote", "busy.yaml")}, args...)
	for _, f := range files {
		args = append(args, "--limiter", f)
	}
	text, errs, status := command(t.Context(), args...)
	if status == statusUsage || status == statusEnvironment {
		t.Fatalf("exit status %d: %s", status, errs)
	}
	t.Log("\n" + text)
	r, err := reports.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// verdicts are those of one check for a limiter, over all its runs.
func verdicts(r *reports.Report, limiter, check string) (all []string) {
	for _, run := range r.Runs {
		if run.Limiter == limiter {
			all = append(all, checkOf(run, check).Verdict)
		}
	}
	return all
}

func checkOf(run reports.Run, name string) reports.Check {
	i := slices.IndexFunc(run.Checks, func(c reports.Check) bool { return c.Name == name })
	return run.Checks[i]
}

// seen wants a check to have failed in some run, or that no run of it was decided.
func seen(t *testing.T, r *reports.Report, limiter, check string) {
	t.Helper()
	all := verdicts(r, limiter, check)
	switch {
	case slices.Contains(all, "fail"):
	case slices.Contains(all, "undecided"):
		t.Logf("%s: this machine is too slow to show that %s fails", limiter, check)
	default:
		t.Errorf("%s: %s is %v, want a failure", limiter, check, all)
	}
}

// inPeace wants a limiter to be accused of nothing.
func inPeace(t *testing.T, r *reports.Report, limiter string) {
	t.Helper()
	runs := 0
	for _, run := range r.Runs {
		if run.Limiter != limiter {
			continue
		}
		runs++
		for _, c := range run.Checks {
			if c.Verdict == "fail" {
				t.Errorf("%s in %s: %s: %s", limiter, run.Scenario, c.Name, c.Detail)
			}
		}
	}
	if runs == 0 {
		t.Errorf("no run of %s", limiter)
	}
}

// gateway is a limiter behind HTTP: a perfect bucket of 100/s and 50, which says 200
// or 429, and 503 to every n-th request that it does not serve; 0: to none.
func gateway(t *testing.T, sick int64) (address string) {
	began := time.Now()
	memory := bucket.NewMemory(func() time.Duration { return time.Since(began) })
	var served atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := served.Add(1); sick > 0 && n%sick == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		d, _ := memory.Take(r.Context(), bucket.Limit{Rate: 100, Capacity: 50}, bucket.Request{Key: r.FormValue("key"), Cost: 1})
		if !d.Allowed {
			w.Header().Set("Retry-After-Ms", fmt.Sprint(d.RetryAfter.Milliseconds()+1))
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestGateways: the right description of a gateway passes, and a wrong one fails
// as it must, whichever way it is wrong. A gateway that is ill at times is not
// taken for one that denies. None of them has a Redis.
func TestGateways(t *testing.T) {
	t.Parallel()
	dir, well, ill := t.TempDir(), gateway(t, 0), gateway(t, 25)
	text := func(address string, rate, capacity int) string {
		return fmt.Sprintf("time: server\nhttp: {url: %q}\nreply:\n  allowed: status == 200\n  denied: status == 429\n"+
			"  retry_after: \"status == 429 ? float(headers['Retry-After-Ms']) / 1000 : nil\"\nlimit: {rate: %d, capacity: %d}\n", address+"/?key=${key}", rate, capacity)
	}
	files := []string{
		limiterFile(t, dir, "right", text(well, 100, 50)),
		limiterFile(t, dir, "half-the-rate", text(well, 50, 50)),
		limiterFile(t, dir, "twice-the-rate", text(well, 200, 50)),
		limiterFile(t, dir, "smaller", text(well, 100, 25)),
		limiterFile(t, dir, "ill", text(ill, 100, 50)),
	}
	r := runFor(t, files, "obey-hint")
	if r.Redis.Kind != "none" {
		t.Errorf("a Redis of kind %s was used", r.Redis.Kind)
	}
	inPeace(t, r, "right")
	inPeace(t, r, "ill")
	seen(t, r, "half-the-rate", "over-admission")
	seen(t, r, "twice-the-rate", "spurious-denial")
	seen(t, r, "smaller", "over-admission")
	unknown := int64(0)
	for _, run := range r.Runs {
		if run.Limiter == "ill" {
			unknown += run.Counts.Unknown
		}
		if c := checkOf(run, "state-audit"); c.Verdict != "skipped" || c.Detail != "the limiter tells of no keys in Redis that could be looked at" {
			t.Errorf("state-audit: %+v", c)
		}
	}
	if unknown == 0 {
		t.Error("of the gateway that is ill at times no answer was an error")
	}
}

// TestLimitThatNobodyKnows: a gateway that is told no limit, and whose file names
// none, is held to one that it may not have. That is said.
func TestLimitThatNobodyKnows(t *testing.T) {
	dir, address := t.TempDir(), gateway(t, 0)
	text := "http: {url: \"" + address + "/?key=${key}%s\"}\nreply: {allowed: status == 200, denied: status == 429}\n%s"
	const says = "limiter gate is told no limit, and names none"
	for _, tt := range []struct {
		query, more string
		args        []string
		said        bool
	}{
		{"", "", nil, true},
		{"", "", []string{"--rate", "100"}, true},
		{"", "", []string{"--rate", "100", "--capacity", "50"}, false},
		{"", "limit: {rate: 100, capacity: 50}\n", nil, false},
		{"&rate=${rate}&burst=${capacity}", "", nil, false},
	} {
		file := limiterFile(t, dir, "gate", fmt.Sprintf(text, tt.query, tt.more))
		_, errs, _ := command(t.Context(), append([]string{"run", "atomic-burst", "--limiter", file, "--out", filepath.Join(dir, "out")}, tt.args...)...)
		if strings.Contains(errs, says) != tt.said {
			t.Errorf("%+v: standard error says %s", tt, errs)
		}
	}
}

// TestMissingGateway: exit 4 for one that nobody runs or that fails, and 3, with the
// place, for one whose answers the file cannot read or that a program's file spoils.
func TestMissingGateway(t *testing.T) {
	dir, here := t.TempDir(), gateway(t, 1)
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(elsewhere.Close)
	const head = "limit: {rate: 100, capacity: 50}\n"
	tests := []struct {
		name, text string
		status     int
		want       string
	}{
		{"nobody", head + "http: {url: \"http://127.0.0.1:1/${key}\"}\nreply: {allowed: status == 200}\n", statusEnvironment,
			"harness: limiter nobody: GET http://127.0.0.1:1: request was not sent: dial tcp 127.0.0.1:1: connect: connection refused; does the gateway run, and is this where?"},
		{"failing", head + "http: {url: \"" + here + "/${key}\"}\nreply: {allowed: status == 200}\n", statusEnvironment,
			"harness: limiter failing: GET " + here + ": the gateway failed with status 503, its log may say why; "},
		{"garbled", head + "http: {url: \"" + here + "/${key}\"}\nreply: {allowed: fromJSON(body).ok}\n", statusEnvironment, "the gateway failed with status 503"},
		{"unreadable", head + "http: {url: \"" + elsewhere.URL + "/${key}\"}\nreply: {allowed: status == 200, denied: status == 429}\n", statusUsage,
			"unreadable.yaml:4:41: the answer (status 404) is neither allowed nor denied"},
		{"expression", head + "http: {url: \"" + elsewhere.URL + "/${key}\"}\nreply: {allowed: fromJSON(body).ok}\n", statusUsage, "expression.yaml:4:18: allowed: "},
		{"program", "exec: [no-such-program]\n", statusUsage, "program.yaml:2:1: the program cannot be started: "},
		{"state", "exec: [/bin/cat]\nstate: {tokens: string}\n", statusUsage, "state.yaml:3:1: `state` without `keys`"},
		{"echo", "exec: [/bin/cat]\n", statusUsage, "echo.yaml:2:1: the program's answer says neither `allowed` nor `error`"},
	}
	for _, tt := range tests {
		_, errs, status := command(t.Context(), "run", "atomic-burst", "--redis", "embedded", "--limiter", limiterFile(t, dir, tt.name, tt.text), "--out", filepath.Join(dir, "out"))
		if last := lastLine(errs); status != tt.status || !strings.Contains(last, tt.want) || !strings.HasPrefix(last, "harness: ") {
			t.Errorf("%s: exit status %d, %q\nwant %d, …%s…", tt.name, status, last, tt.status, tt.want)
		}
		if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
			t.Fatalf("%s: something was written", tt.name)
		}
	}
}
