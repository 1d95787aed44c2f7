package reports

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// clocked is r with a clock: offset and uncertainty in s, drift and its
// uncertainty in ppm; a drift with no uncertainty is none.
func clocked(r Redis, offset, unsure, drift, unsureDrift float64) Redis {
	r.ClockOffsetS, r.ClockUncertaintyS = &offset, &unsure
	if unsureDrift > 0 {
		r.ClockDriftPPM, r.ClockDriftUncertaintyPPM = &drift, &unsureDrift
	}
	return r
}

func TestClockOfRedis(t *testing.T) {
	for _, tt := range []struct {
		redis Redis
		want  string
	}{
		{Redis{Kind: "process"}, ""},
		{clocked(Redis{}, 30e-6, 50e-6, 0, 0), "the server's clock is 30 µs ahead of this machine's, ± 50 µs"},
		{clocked(Redis{}, -0.25, 50e-6, 0, 0), "the server's clock is 250 ms behind this machine's, ± 50 µs"},
		{clocked(Redis{}, 0, 1e-6, 0.4, 2), "the server's clock is 0 s ahead of this machine's, ± 1 µs, and gained 0.4 ppm since, ± 2 ppm"},
		{clocked(Redis{}, 3, 0.002, -1e6, 80), "the server's clock is 3 s ahead of this machine's, ± 2 ms, and lost 1,000,000 ppm since, ± 80 ppm"},
	} {
		if got := tt.redis.Clock(); got != tt.want {
			t.Errorf("clock %q, want %q", got, tt.want)
		}
	}
}

// TestLibraryIsShown: which release of which library was judged, and what is
// known of its faults, only where it fails.
func TestLibraryIsShown(t *testing.T) {
	f := standard()
	run := &f.report.Runs[0]
	run.Limiter, run.Library = "theirs", "example.org/theirs@v1.2.3"
	run.Verdict = string(asExpected)
	for i := range run.Checks {
		run.Checks[i].Verdict, run.Checks[i].Expected, run.Checks[i].Known = "pass", "any", "it forgets"
	}
	for _, failing := range []bool{false, true} {
		if failing {
			run.Checks[0].Verdict = "fail"
		}
		dir := t.TempDir()
		if err := write(dir, f.report, nil, false); err != nil {
			t.Fatal(err)
		}
		for name, times := range map[string]int{"report.md": 1, "report.html": 2} { // the page tells each run's, too
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(string(data), "example.org/theirs@v1.2.3"); got != times {
				t.Errorf("%s names the library %d times, want %d", name, got, times)
			}
			if got := strings.Contains(string(data), "Known: it forgets."); name == "report.html" && got != failing {
				t.Errorf("%s tells what is known: %v, a check fails: %v", name, got, failing)
			}
		}
	}
}

// TestClockIsShown: beside the Redis, where it was measured, and nowhere else.
func TestClockIsShown(t *testing.T) {
	f := standard()
	for _, measured := range []bool{false, true} {
		if measured {
			f.report.Redis = clocked(f.report.Redis, -0.25, 50e-6, 1.5, 3)
		}
		dir := t.TempDir()
		if err := write(dir, f.report, nil, false); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"report.md", "report.html"} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			text := strings.NewReplacer("&#39;", "'", `\`, "").Replace(string(data))
			const words = "at 127.0.0.1:40117; the server's clock is 250 ms behind this machine's, ± 50 µs, and gained 1.5 ppm since, ± 3 ppm"
			if shown := strings.Contains(text, words); shown != measured {
				t.Errorf("%s shows the clock: %v, measured: %v", name, shown, measured)
			}
		}
	}
}

// TestHeroCanBeSeen: of faults that are alike, the first that a picture shows.
func TestHeroCanBeSeen(t *testing.T) {
	over := func(excess float64, expected string) Run {
		return Run{Limit: Limit{Rate: 100, Capacity: 50}, Verdict: asExpected, Checks: []Check{{
			Name: "over-admission", Verdict: "fail", Expected: expected, Evidence: []byte(`{"window":{"end_ns":1}}`),
			Value: map[string]float64{"peak_excess": excess},
		}}}
	}
	r := &Report{Runs: []Run{over(0.2, "fail"), over(9, "fail"), over(25, "fail"), over(50, "fail")}}
	if got := hero(r); got != 2 {
		t.Errorf("run %d, want 2", got)
	}
	surprise := over(0.2, "pass")
	surprise.Verdict = "unexpected"
	r.Runs = append(r.Runs, surprise)
	if got := hero(r); got != 4 {
		t.Errorf("run %d, want 4: a small surprise before a large fault that was expected", got)
	}
}
