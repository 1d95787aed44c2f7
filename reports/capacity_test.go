package reports

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bucketproof/scenarios/capacity"
)

// TestCapacityGoldens holds what capacity adds.
func TestCapacityGoldens(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir, capable(), nil, false); err != nil {
		t.Fatal(err)
	}
	for name, part := range map[string]*regexp.Regexp{
		"report.md": nil, "junit.xml": nil,
		"report.html": regexp.MustCompile(`(?s)<section class="card capacity" id="capacity">.*<section class="card subject" id="capacity-3">.*?</section>`),
	} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if part != nil {
			data = append(bulky.ReplaceAll(part.Find(data), []byte("$1$3$5…$2$4$6")), '\n')
		}
		golden(t, "capacity."+name, data)
	}
	var b bytes.Buffer
	if err := Text(&b, capable(), false); err != nil {
		t.Fatal(err)
	}
	golden(t, "capacity.txt", b.Bytes())
}

func TestCapacityHeadline(t *testing.T) {
	rate := 41_200.0
	found := capacity.Result{Limiter: "a", Knee: capacity.Knee{SLO: "p999=20ms", RatePS: &rate, MetPS: rate, LimitedBy: "redis"}}
	refused := capacity.Result{Limiter: "b", Knee: capacity.Knee{SLO: "p999=20ms", MetPS: 900, LimitedBy: "generator"}}
	unknown := capacity.Result{Limiter: "c", Knee: capacity.Knee{SLO: "p999=20ms", LimitedBy: "generator"}}
	never := capacity.Result{Limiter: "d", Knee: capacity.Knee{SLO: "p999=20ms", LimitedBy: "redis"}}
	planned := found
	planned.Plan = &capacity.Plan{TargetPS: 200_000, Shards: 9}
	least := refused
	least.Plan = &capacity.Plan{TargetPS: 1800, Headroom: 0.4, Shards: 4}
	peak := refused
	peak.Plan = &capacity.Plan{TargetPS: 1800, Headroom: 0.4, Shards: 3}
	faulty := found
	faulty.Verified = &capacity.Verified{Verdict: "fail"}
	for _, c := range []struct {
		name, want, verdict string
		list                []capacity.Result
	}{
		{"knee", "One Redis carries 41,200/s of a at p99.9 ≤ 20 ms.", "pass", []capacity.Result{found}},
		{"plan", "One Redis carries 41,200/s of a at p99.9 ≤ 20 ms; 200,000/s take 9 shards.", "pass", []capacity.Result{planned}},
		{"refused", "One Redis carries at least 900/s of b (knee refused) at p99.9 ≤ 20 ms.", "pass", []capacity.Result{refused}},
		{"plan of the least", "One Redis carries at least 900/s of b (knee refused) at p99.9 ≤ 20 ms; 1,800/s take 4 shards.", "pass", []capacity.Result{least}},
		{"plan of the peak", "One Redis carries at least 900/s of b (knee refused) at p99.9 ≤ 20 ms; 1,800/s take 3 shards, whatever the latency.", "pass", []capacity.Result{peak}},
		{"several", "One Redis carries 41,200/s of a, an unknown rate of c (knee refused), no rate of d at p99.9 ≤ 20 ms.", "pass", []capacity.Result{found, unknown, never}},
		{"many", "One Redis carries 41,200/s of a, 41,200/s of a, 41,200/s of a, … at p99.9 ≤ 20 ms.", "pass", []capacity.Result{found, found, found, found}},
		{"interrupted", "Undecided: one Redis carries 41,200/s of a at p99.9 ≤ 20 ms.", "undecided", []capacity.Result{found}},
		{"faulty", "One Redis carries 41,200/s of a at p99.9 ≤ 20 ms; the checks find faults in the load's own history (a).", "pass", []capacity.Result{faulty}},
		{"not as expected", "Not as expected: one Redis carries 41,200/s of a at p99.9 ≤ 20 ms; the checks find faults in the load's own history (a).", "fail", []capacity.Result{faulty}},
	} {
		if got := headline(&Report{Verdict: c.verdict, Redis: Redis{Kind: "process"}, Capacity: c.list}); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
	alone := &Report{Verdict: "pass", Redis: Redis{Kind: "none"}, Capacity: []capacity.Result{found}}
	if got, want := headline(alone), "This process carries 41,200/s of a at p99.9 ≤ 20 ms."; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestFaultsUnderLoadFailACaseWhereTheyWereNotExpected: junit.xml says what the
// exit status says.
func TestFaultsUnderLoadFailACaseWhereTheyWereNotExpected(t *testing.T) {
	for verdict, want := range map[string]int{"pass": 0, "fail": 1} {
		r := capable()
		r.Verdict = verdict
		data, err := junit(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(string(data), "<failure"); got != want {
			t.Errorf("verdict %s: %d failures, want %d", verdict, got, want)
		}
	}
}

func TestObjectivesAreReadable(t *testing.T) {
	for slo, want := range map[string]string{
		"": "", "p99=5ms": "p99 ≤ 5 ms", "p50=300us,p999=1.5s,errors=0.1%": "p50 ≤ 300 µs, p99.9 ≤ 1.5 s, errors ≤ 0.1 %", "max=1s,errors=0.001": "max ≤ 1 s, errors ≤ 0.001",
		"whatever you like": "whatever you like",
	} {
		if got := sloWords(slo); got != want {
			t.Errorf("%q is %q, want %q", slo, got, want)
		}
	}
	for slo, want := range map[string]float64{"p99=5ms,errors=0.1%": 5000, "p999=5ms": 0, "errors=0.1%,p99=300us": 300, "": 0} {
		if got := allowed(slo); got != want {
			t.Errorf("%q bounds p99 by %v µs, want %v", slo, got, want)
		}
	}
}

// TestContrastsRepeatNoRates: a side's rate is told where no other line has it.
func TestContrastsRepeatNoRates(t *testing.T) {
	c := measured("a", 1)
	for i, want := range []string{
		"1 key 57,102/s, 10,000 keys 52,349/s: 1 key is 1.09 times as fast, with 32 plain callers.",
		"2.45 times as fast with 512 pipelined callers, each at its best level.",
		"Not measured: three servers do not fit on two processors.",
	} {
		if got := contrastWords(c, c.Compare[i]); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestWhatIsNotJudgedIsSaid: buckets are weighed by filling a server with more of
// them than a history is kept of.
func TestWhatIsNotJudgedIsSaid(t *testing.T) {
	c := measured("a", 1)
	const said = "neither recorded nor judged"
	if words := verifiedWords(c); !strings.Contains(words, said) {
		t.Errorf("buckets were weighed: %s", words)
	}
	c.Memory = capacity.Memory{Why: "not measured"}
	if words := verifiedWords(c); strings.Contains(words, said) {
		t.Errorf("no bucket was weighed: %s", words)
	}
}

// TestCapacityKeepsItsPictures: a report that is written again has the same
// pictures and no others.
func TestCapacityKeepsItsPictures(t *testing.T) {
	dir := t.TempDir()
	r := capable()
	if err := write(dir, r, capableLoader, false); err != nil {
		t.Fatal(err)
	}
	r.Capacity = r.Capacity[2:]
	if err := write(dir, r, capableLoader, false); err != nil {
		t.Fatal(err)
	}
	var names []string
	entries, err := os.ReadDir(filepath.Join(dir, plots))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "throughput-capacity.svg" {
		t.Errorf("pictures %s, want that of the throughput alone", got)
	}
}

// capableLoader stands for the histories of runs; there are none.
var capableLoader = newFixture().load
