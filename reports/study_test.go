package reports

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// studySection is the part of the page that shows the study.
var studySection = regexp.MustCompile(`(?s)<section class="card study".*?</section>`)

// TestStudyGoldens holds what runs with a disturbance add.
func TestStudyGoldens(t *testing.T) {
	f := clocks()
	dir := t.TempDir()
	if err := write(dir, f.report, f.load, false); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"report.md", "report.html"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "report.html" {
			data = bulky.ReplaceAll(append(studySection.Find(data), '\n'), []byte("$1$3$5…$2$4$6"))
		}
		golden(t, "clocks."+name, data)
	}
	var b bytes.Buffer
	if err := Text(&b, f.report, false); err != nil {
		t.Fatal(err)
	}
	golden(t, "clocks.txt", b.Bytes())
}

// TestNoStudyWithoutDisturbance: other reports stay as they are.
func TestNoStudyWithoutDisturbance(t *testing.T) {
	r := standard().report
	if newStudy(r) != nil || newHTMLStudy(r, gallery{}) != nil || len(studyPages(r, nil)) != 0 {
		t.Error("a study of runs without a disturbance")
	}
	if strings.Contains(string(markdown(r)), studyTitle) {
		t.Error("report.md has a study")
	}
}

// TestKnownFaultIsNoClocks: a limiter that fails for a cause that is known is not
// said to break under what was done to the clocks, and one that passes is told of.
func TestKnownFaultIsNoClocks(t *testing.T) {
	r := clocks().report
	all := newStudy(r).limiters
	theirs := all[len(all)-1]
	for i := range r.Runs {
		if run := &r.Runs[i]; run.Limiter == theirs {
			for j := range run.Checks {
				run.Checks[j].Verdict, run.Checks[j].Known = "pass", "it forgets"
			}
		}
	}
	if got := newStudy(r).limiters; !slices.Equal(got, all) {
		t.Errorf("the study is of %q, want %q: nothing failed", got, all)
	}
	for i := range r.Runs {
		if run := &r.Runs[i]; run.Limiter == theirs {
			run.Checks[0].Verdict = "fail"
		}
	}
	if got := newStudy(r).limiters; !slices.Equal(got, all[:len(all)-1]) {
		t.Errorf("the study is of %q, want %q: the last failed for a known cause", got, all[:len(all)-1])
	}
}

// TestStudyPictures names the pictures of a study.
func TestStudyPictures(t *testing.T) {
	f := clocks()
	dir := t.TempDir()
	if err := write(dir, f.report, f.load, false); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, name := range slices.Sorted(maps.Keys(folderOf(t, dir))) {
		if strings.Contains(name, "-study") {
			got = append(got, strings.TrimPrefix(name, "plots/"))
		}
	}
	want := []string{
		"clocks-study.svg", "growth-growth-study.svg", "leaves-lockout_s-study.svg", "leaves-spurious_denials-study.svg",
		"share-of-callers-behind-study.svg", "spread-peak_excess-study.svg",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	without := newFixture().report // the pictures of another report go away, those without a history stay
	for _, run := range f.report.Runs {
		if run.Scenario == "growth" {
			without.Runs = append(without.Runs, run)
		}
	}
	if err := write(dir, without, newFixture().load, false); err != nil {
		t.Fatal(err)
	}
	files := folderOf(t, dir)
	for name, want := range map[string]bool{"growth-growth": true, "clocks": true, "leaves-lockout_s": false, "spread-peak_excess": false} {
		if _, got := files["plots/"+name+"-study.svg"]; got != want {
			t.Errorf("%s is there: %v, want %v", name, got, want)
		}
	}
}

// TestRuling holds the words that are made of figures.
func TestRuling(t *testing.T) {
	spread := func(s float64) Disturbance { return Disturbance{"spread", ofCaller, s, "s"} }
	sweep := func(of func(s float64) []func(*Run), sizes ...float64) []Run {
		var runs []Run
		for _, s := range sizes {
			runs = append(runs, disturbed("drain/"+point(s), "mine", spread(s), of(s)...))
		}
		return runs
	}
	one := func(d Disturbance, changes ...func(*Run)) []Run {
		return []Run{disturbed("one", "mine", d, changes...)}
	}
	unpredicted := func(run *Run) { run.Predictions = nil }
	unchecked := func(run *Run) { run.Checks = nil }
	for _, c := range []struct {
		name     string
		runs     []Run
		words    string
		sentence string
	}{
		{"grows with the size", sweep(func(s float64) []func(*Run) { return []func(*Run){over(99.8*s, 100*s)} }, 0.001, 0.1, 0.5),
			"granted up to 49.9 tokens too many at 500 ms apart; nothing at 1 ms",
			"Broke under the only disturbance: callers' clocks apart from 100 ms on. " +
				"At worst 49.9 tokens too many (callers' clocks apart, at 500 ms apart). Who suffers: what the limit protects."},
		{"not as predicted", one(spread(0.5), over(70, 50)),
			"granted 70 tokens too many at 500 ms apart; not as predicted",
			"Broke under the only disturbance: callers' clocks apart at 500 ms apart. " +
				"At worst 70 tokens too many (callers' clocks apart, at 500 ms apart). Who suffers: what the limit protects."},
		{"less than predicted", one(spread(0.5), over(0, 50)), "unharmed; not as predicted", "Unharmed by the only disturbance."},
		{"harmed in the middle", sweep(func(s float64) []func(*Run) {
			return []func(*Run){over(map[float64]float64{0.1: 10}[s], map[float64]float64{0.1: 10}[s])}
		}, 0.001, 0.01, 0.1, 0.5), "granted 10 tokens too many at 100 ms apart; nothing at 1 ms, 10 ms, 500 ms",
			"Broke under the only disturbance: callers' clocks apart at 100 ms. " +
				"At worst 10 tokens too many (callers' clocks apart, at 100 ms apart). Who suffers: what the limit protects."},
		{"broken without a disturbance, too", sweep(func(float64) []func(*Run) { return []func(*Run){over(30, 0)} }, 0, 0.1, 0.5),
			"granted up to 30 tokens too many at 0 s apart; not unharmed at 0 s either; not as predicted up to 500 ms",
			"Broke under the only disturbance: callers' clocks apart from 100 ms on. " +
				"At worst 30 tokens too many (callers' clocks apart, at 0 s apart). Who suffers: what the limit protects."},
		{"unharmed in two stretches", sweep(func(s float64) []func(*Run) {
			if s == 0.1 {
				return []func(*Run){over(10, 10)}
			}
			return nil
		}, 0, 0.001, 0.01, 0.1, 0.5, 1, 5), "granted 10 tokens too many at 100 ms apart; nothing at 0 s to 10 ms, 500 ms to 5 s",
			"Broke under the only disturbance: callers' clocks apart at 100 ms. " +
				"At worst 10 tokens too many (callers' clocks apart, at 100 ms apart). Who suffers: what the limit protects."},
		{"locked out", one(Disturbance{"step-back", ofCaller, 0.5, "s"}, locked(0.49, 0.5, "slow", "fast")),
			"locked out for 490 ms at 500 ms",
			"Broke under the only disturbance: a caller's clock steps back at 500 ms. " +
				"At worst locked out for 490 ms (a caller's clock steps back, at 500 ms). Who suffers: every caller."},
		{"one is locked out", one(spread(0.5), locked(0.49, 0.5, "slow")), "locked out for 490 ms at 500 ms apart",
			"Broke under the only disturbance: callers' clocks apart at 500 ms apart. " +
				"At worst locked out for 490 ms (callers' clocks apart, at 500 ms apart). Who suffers: callers whose clocks are behind."},
		{"the one ahead is locked out", one(spread(0.5), locked(0.49, 0.5, "fast")), "locked out for 490 ms at 500 ms apart",
			"Broke under the only disturbance: callers' clocks apart at 500 ms apart. " +
				"At worst locked out for 490 ms (callers' clocks apart, at 500 ms apart). Who suffers: fast."},
		{"single denials", one(Disturbance{"jitter", ofCaller, 0.002, "s"}, locked(0, 0), func(run *Run) {
			run.Checks[1].Verdict, run.Checks[1].Value["count"] = "fail", 1
			run.Predictions = nil
			predicts(spuriousDenials, 1, 0, 0)(run)
		}), "denied 1 request wrongly at 2 ms; not as predicted",
			"Broke under the only disturbance: callers' clocks jitter at 2 ms. " +
				"At worst 1 request denied wrongly (callers' clocks jitter, at 2 ms). Who suffers: every caller."},
		{"single denials that theory is silent about", one(Disturbance{"jitter", ofCaller, 0.002, "s"}, locked(0.04, 0), func(run *Run) {
			run.Predictions = nil
		}), "unharmed", "Unharmed by the only disturbance."},
		{"no more than calls can be late", one(spread(0), over(2, 0)), "unharmed", "Unharmed by the only disturbance."},
		{"harm that cannot be told from none", one(spread(0.01), over(0, 2)), "undecided", "Undecided under the only disturbance."},
		{"as little as can be granted", one(spread(0.01), over(0.95, 1)), "granted 0.95 tokens too many at 10 ms apart",
			"Broke under the only disturbance: callers' clocks apart at 10 ms apart. " +
				"At worst 0.95 tokens too many (callers' clocks apart, at 10 ms apart). Who suffers: what the limit protects."},
		{"starved", one(spread(1), starving(0.02, 0)), "callers whose clocks are behind got 2 % of their share at 1 s apart",
			"Broke under the only disturbance: callers' clocks apart at 1 s apart. " +
				"At worst callers behind got 2 % of their share (callers' clocks apart, at 1 s apart). Who suffers: callers whose clocks are behind."},
		{"goes on and on", one(spread(1), over(840, 840), predicts(excessPerSecond, 210, 210, 1)),
			"granted 840 tokens too many, 210 a second at 1 s apart",
			"Broke under the only disturbance: callers' clocks apart at 1 s apart. " +
				"At worst 840 tokens too many (callers' clocks apart, at 1 s apart). Who suffers: what the limit protects."},
		{"no more than a bucket a second", one(spread(1), over(50, 50), predicts(excessPerSecond, 25, 25, 1)),
			"granted 50 tokens too many at 1 s apart",
			"Broke under the only disturbance: callers' clocks apart at 1 s apart. " +
				"At worst 50 tokens too many (callers' clocks apart, at 1 s apart). Who suffers: what the limit protects."},
		{"nothing predicted", one(spread(0.5), over(49.9, 50), unpredicted), "granted 49.9 tokens too many at 500 ms apart",
			"Broke under the only disturbance: callers' clocks apart at 500 ms apart. " +
				"At worst 49.9 tokens too many (callers' clocks apart, at 500 ms apart). Who suffers: what the limit protects."},
		{"nothing checked", one(spread(0.5), over(49.9, 50), unchecked), "granted 49.9 tokens too many at 500 ms apart",
			"Broke under the only disturbance: callers' clocks apart at 500 ms apart. " +
				"At worst 49.9 tokens too many (callers' clocks apart, at 500 ms apart). Who suffers: what the limit protects."},
		{"neither", one(spread(0.5), unpredicted, unchecked), "unharmed", "Unharmed by the only disturbance."},
		{"within the tolerance", one(spread(0.5), over(1, 0), func(run *Run) { run.Checks = nil }), "unharmed", "Unharmed by the only disturbance."},
		{"undecided", one(spread(0.5), over(49.9, 50), doubtful), "undecided", "Undecided under the only disturbance."},
		{"undecided with a fault found", one(spread(0.5), over(49.9, 50), func(run *Run) {
			doubtful(run)
			run.Checks[0].Verdict = "fail"
		}), "granted 49.9 tokens too many at 500 ms apart",
			"Broke under the only disturbance: callers' clocks apart at 500 ms apart. " +
				"At worst 49.9 tokens too many (callers' clocks apart, at 500 ms apart). Who suffers: what the limit protects."},
		{"undecided at one point", sweep(func(s float64) []func(*Run) {
			if s > 1 {
				return []func(*Run){doubtful}
			}
			return nil
		}, 0.1, 0.5, 2), "unharmed up to 500 ms; undecided at 2 s", "Undecided under the only disturbance."},
		{"unharmed throughout", sweep(func(float64) []func(*Run) { return []func(*Run){over(0, 0)} }, 0, 0.5, 2), "unharmed", "Unharmed by the only disturbance."},
		{"no size", one(spread(0), over(5, 0)), "granted 5 tokens too many; not as predicted",
			"Broke under the only disturbance: callers' clocks apart. At worst 5 tokens too many (callers' clocks apart). Who suffers: what the limit protects."},
		{"another kind and unit", one(Disturbance{"moon-phase", ofCaller, 3, "days"}, over(5, 5)), "granted 5 tokens too many at 3 days",
			"Broke under the only disturbance: moon phase at 3 days. At worst 5 tokens too many (moon phase, at 3 days). Who suffers: what the limit protects."},
		{"sizes the same", []Run{
			disturbed("clocks-growth/2s", "mine", spread(1), over(200, 200)), disturbed("clocks-growth/10s", "mine", spread(1), over(1000, 1000)),
		}, "granted up to 1,000 tokens too many at 10 s",
			"Broke under the only disturbance: clocks apart under lasting overload from 2 s on. " +
				"At worst 1,000 tokens too many (clocks apart under lasting overload, at 10 s). Who suffers: what the limit protects."},
	} {
		r := &Report{Runs: c.runs}
		s := newStudy(r)
		if len(s.ordeals) != 1 {
			t.Errorf("%s: %d ordeals", c.name, len(s.ordeals))
			continue
		}
		if got := rule(r, s.ordeals[0], "mine").sentence(); got != c.words {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.words)
		}
		if got := strings.Join(newChoice(r, s, "mine").sentences(), " "); got != c.sentence {
			t.Errorf("%s, in sum:\n got %q\nwant %q", c.name, got, c.sentence)
		}
	}
}

// TestSumOfManyDisturbances tells the smallest of each unit that broke a
// limiter, of those that did, and how many are undecided.
func TestSumOfManyDisturbances(t *testing.T) {
	r := &Report{}
	add := func(kind string, size float64, unit string, changes ...func(*Run)) {
		r.Runs = append(r.Runs, disturbed("of-"+kind, "mine", Disturbance{kind, ofCaller, size, unit}, changes...))
	}
	add("freeze", 0, "s", over(3, 3))
	add("spread", 0.5, "s", over(40, 50), locked(0.1, 0.1, "slow"))
	add("step-forward", 0.05, "s", over(5, 5))
	add("drift", 200, "ppm", over(7, 7))
	add("drift-more", 100, "ppm", over(0, 0))
	add("strobe", 0.1, "s", over(9, 10), locked(0.3, 0.3, "slow", "fast"))
	add("jitter", 0.001, "s", doubtful)
	got := strings.Join(newChoice(r, newStudy(r), "mine").sentences(), " ")
	want := "Broke under 5 of 7 disturbances, the smallest 50 ms (a caller's clock steps forward), 200 ppm (callers' clocks drift). " +
		"At worst 40 tokens too many (callers' clocks apart, at 500 ms apart), locked out for 300 ms (a caller's clock jumps to and fro, at 100 ms). " +
		"Who suffers: what the limit protects, every caller. Undecided: 1."
	if got != want {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

// TestTTLWords: each claim falls, holds or stays open by the figures.
func TestTTLWords(t *testing.T) {
	expiry := Disturbance{kindHeld, ofCaller, 0.52, "s"}
	run := func(limiter string, changes ...func(*Run)) Run {
		return disturbed(kindExpiry, limiter, expiry, changes...)
	}
	for _, c := range []struct {
		name      string
		runs      []Run
		want, not []string
	}{
		{"falls", []Run{run("mine", over(46.1, 47))}, []string{
			"lives until its bucket would be full: true for mine.", "nothing is lost with it", "false for mine (46.1 tokens too many, predicted 47 tokens).", "a caller's",
		}, []string{"grant nothing too many", "undecided"}},
		{"holds with a longer life", []Run{run("mine", over(0, 0), func(run *Run) { run.Checks[3].Value = map[string]float64{"longest_ttl_s": 60.4} })},
			[]string{"a full bucket: true for mine (its keys live up to 60.4 s)."}, []string{"false", "a caller's"}},
		{"holds", []Run{run("redis-time", over(0, 0))}, []string{"a full bucket: true for redis-time."}, []string{"false", "a caller's"}},
		{"holds, though calls are denied", []Run{run("mine", over(0, 0), locked(0.4, 0.4))}, []string{"a full bucket: true for mine."}, []string{"false"}},
		{"open", []Run{run("mine", over(46.1, 47), doubtful)}, []string{"would be full: undecided for mine.", "a full bucket: undecided for mine."}, []string{"false", "true"}},
		{"a life too short", []Run{run("redis-time", func(run *Run) { run.Checks[3].Verdict = "fail" })}, []string{"would be full: false for redis-time."}, []string{"a caller's"}},
		{"a server's clock falls, too", []Run{run("redis-time", over(30, 0))}, []string{"false for redis-time (30 tokens too many, predicted 0 tokens)"}, []string{"a caller's"}},
		{"the key lived", []Run{run("mine", over(46.1, 47)), disturbed(kindHeld, "mine", expiry, over(0, 0))}, []string{"held while the key lived made mine grant nothing too many."}, nil},
	} {
		r := &Report{Runs: c.runs}
		got := strings.Join(ttlWords(r, newStudy(r)), " ")
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is not in %q", c.name, want, got)
			}
		}
		for _, not := range c.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %q is in %q", c.name, not, got)
			}
		}
	}
	r := &Report{Runs: []Run{disturbed(kindHeld, "mine", expiry)}}
	if got := ttlWords(r, newStudy(r)); got != nil {
		t.Errorf("without an expiry: %q", got)
	}
}

// TestStudyOfFew: one limiter, one point, no predictions, and many limiters.
func TestStudyOfFew(t *testing.T) {
	for name, runs := range map[string][]Run{
		"one point":      {disturbed("drain", "mine", Disturbance{"spread", ofCaller, 0, "s"})},
		"no predictions": {disturbed("drain/1s", "mine", Disturbance{"spread", ofCaller, 1, "s"}), disturbed("drain/2s", "mine", Disturbance{"spread", ofCaller, 2, "s"})},
		"many limiters": func() []Run {
			var list []Run
			for i := range 9 {
				for _, s := range []float64{0.1, 1} {
					list = append(list, disturbed("drain/"+point(s), fmt.Sprintf("limiter-%d", i), Disturbance{"spread", ofCaller, s, "s"}, over(float64(10*i), 50)))
				}
			}
			return list
		}(),
	} {
		f := newFixture()
		f.report.Runs = runs
		dir := t.TempDir()
		if err := write(dir, f.report, f.load, false); err != nil {
			t.Fatal(err)
		}
		page := folderOf(t, dir)["report.html"]
		for _, run := range runs {
			if n := strings.Count(studySection.FindString(page), run.Limiter); n < 3 {
				t.Errorf("%s: %s stands in the section %d times", name, run.Limiter, n)
			}
		}
	}
}
