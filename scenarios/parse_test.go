package scenarios

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"bucketproof/bucket"
)

const small = `name: small
limit: {rate: 100, capacity: 50}
instances:
  - {name: app}
phases:
  - {burst: 100}
`

func TestCatalogueParses(t *testing.T) {
	for _, name := range Names() {
		s, err := Named(name)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if s.Name != name {
			t.Errorf("%s.yaml is named %s", name, s.Name)
		}
		if s.About == "" || len(s.Limiters) == 0 {
			t.Errorf("%s: about or limiters are missing", name)
		}
	}
}

func TestSuitesNameScenarios(t *testing.T) {
	for _, suite := range Suites() {
		names, _ := SuiteOf(suite)
		seen := map[string]bool{}
		for _, name := range names {
			if _, err := Named(name); err != nil {
				t.Errorf("suite %s: %v", suite, err)
			}
			if seen[name] {
				t.Errorf("suite %s names %s twice", suite, name)
			}
			seen[name] = true
		}
	}
}

func TestParseFull(t *testing.T) {
	const text = `name: full
about: All there is.
limit: {rate: 100, capacity: 50}
keys: {count: 1000, pick: zipf}
cost: 2
limiters: [app-clock]
latency: true
alone: true
in_flight: 8
instances:
  - {name: slow, count: 2, clock: {offset: -250ms}}
  - {name: fast, clock: {offset: 250ms, drift: 200ppm, jitter: 2ms, steps: [{at: 3s, by: -1s}], strobe: {by: -200ms, every: 1s}, freeze: {at: 2s, for: 10ms}}}
server: shown
server_clock: {offset: -3s, drift: -50ppm, jitter: 1ms, steps: [{at: 1s, by: 300ms}]}
phases:
  - {from: [slow], burst: 200}
  - {from: [slow-2], burst: 20, hold: 520ms}
  - {for: 2s, open: {rate: 5k, arrivals: poisson}, hold: {share: 0.1, from: 50ms, to: 2s}}
  - {for: 2s, closed: {workers: 8, think: 1ms, random: true}}
  - {for: 500ms}
  - parallel: [{from: [slow], burst: 1}, {from: [fast], burst: 2}]
  - {repeat: 3, phases: [{burst: 1}, {for: 1ms}]}
sweep: {spread: [10ms, 1s]}
quick: [10ms]
expect:
  app-clock: {over-admission: fail, spurious-denial: any}
`
	got, err := Parse("full.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	ms := func(n int) Duration { return Duration(time.Duration(n) * time.Millisecond) }
	want := &Scenario{
		Name: "full", About: "All there is.", Limit: bucket.Limit{Rate: 100, Capacity: 50},
		Keys: Keys{Count: 1000, Pick: "zipf"}, Cost: 2, Limiters: []string{"app-clock"}, Latency: true, Alone: true, InFlight: 8,
		Instances: []Group{
			{Name: "slow", Count: 2, Clock: Clock{Offset: ms(-250)}},
			{Name: "fast", Clock: Clock{Offset: ms(250), Drift: 200, Jitter: ms(2), Steps: []Step{{At: ms(3000), By: ms(-1000)}}, Strobe: Strobe{ms(-200), ms(1000)}, Freeze: Freeze{ms(2000), ms(10)}}},
		},
		Server:      ServerShown,
		ServerClock: Clock{Offset: ms(-3000), Drift: -50, Jitter: ms(1), Steps: []Step{{At: ms(1000), By: ms(300)}}},
		Phases: []Phase{
			{From: []string{"slow"}, Burst: 200},
			{From: []string{"slow-2"}, Burst: 20, Hold: &Hold{Share: 1, From: ms(520), To: ms(520)}},
			{For: ms(2000), Open: &Open{Rate: 5000, Arrivals: "poisson"}, Hold: &Hold{Share: 0.1, From: ms(50), To: ms(2000)}},
			{For: ms(2000), Closed: &Closed{Workers: 8, Think: ms(1), Random: true}},
			{For: ms(500)},
			{Parallel: []Phase{{From: []string{"slow"}, Burst: 1}, {From: []string{"fast"}, Burst: 2}}},
			{Repeat: 3, Phases: []Phase{{Burst: 1}, {For: ms(1)}}},
		},
		Sweep:  Sweep{Spread: []Duration{ms(10), ms(1000)}},
		Quick:  Points{Names: []string{"10ms"}},
		Expect: map[string]Expectations{"app-clock": {"over-admission": ExpectFail, "spurious-denial": ExpectAny}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Scenario{})); diff != "" {
		t.Errorf("parsed scenario (-want +got):\n%s", diff)
	}
}

// wrongFiles are mistakes: the line that replaces one of small's (or is added),
// and what the error must say after the file's name.
var wrongFiles = []struct{ old, new, want string }{
	{"name: small", "nam: small", ":1:1: unknown field \"nam\""},
	{"name: small", "name: sm/all", ":1:7: \"sm/all\" is no name"},
	{"name: small", "name: ''", ": name is missing"},
	{"limit: {rate: 100, capacity: 50}", "", "limit is missing"},
	{"rate: 100", "rate: 0", ":2:8: rate is 0, want a finite number above 0"},
	{"rate: 100", "rate: -1", ":2:8: rate is -1"},
	{"rate: 100", "rate: .nan", ":2:8: rate is NaN"},
	{"rate: 100", "rate: fast", ":2:15: limit.rate: want a number, got \"fast\""},
	{"rate: 100", "rate: [1]", ":2:15: limit.rate: want a number, got a list"},
	{"rate: 100", "rate: {a: 1}", ":2:15: limit.rate: want a number, got fields"},
	{"rate: 100", "rate: true", ":2:15: limit.rate: want a number, got true"},
	{"rate: 100", "rate: 1e300", ":2:8: rate is 1e+300, want at most 2^53"},
	{"capacity: 50", "capacity: 9007199254740994", ":2:8: capacity is 9.007199254740994e+15, want at most 2^53"},
	{"limit: {rate: 100, capacity: 50}", "limit: 5", ":2:8: limit: want fields, as in {name: value}, got 5"},
	{"name: small", "name: [1]", ":1:7: name: want a word, got a list"},
	{"- {name: app}", "- app", ":4:5: instances[0]: want fields, as in {name: value}, got \"app\""},
	{"- {name: app}", "- {name: app, count: 0}", ":4:24: count is 0, want more, or leave it out"},
	{"- {name: app}", "- {name: app, count: 20.9}", ":4:24: count is 20.9, want a whole number"},
	{"burst: 100", "burst: 1.5", ":6:13: burst is 1.5, want a whole number"},
	{"burst: 100", "burst: '1.5'", ":6:13: burst is 1.5, want a whole number"},
	{"burst: 100", "burst: 0x0", ":6:13: burst is 0, want more, or leave it out"},
	{"burst: 100", "burst: many", ":6:13: phases[0].burst: want a whole number, got \"many\""},
	{"burst: 100", "burst: .inf", ":6:13: phases[0].burst: want a smaller number, got .inf"},
	{"burst: 100", "burst: 99999999999999999999", ":6:13: phases[0].burst: want a smaller number"},
	{"burst: 100", "burst:", ":6:12: burst has no value, give it one or leave it out"},
	{"burst: 100", "burst: 100, cost: .nan", ":6:24: cost is NaN, want a finite number above 0"},
	{"burst: 100", "burst: 100, cost: 0.0", ":6:24: cost is 0, want more, or leave it out"},
	{"burst: 100", "burst: 100, from: []", ":6:24: from is an empty list, fill it or leave it out"},
	{"burst: 100", "burst: 100, from: app", ":6:24: phases[0].from: want a list, got \"app\""},
	{"burst: 100", "burst: 100, hold: {share: .nan}", ":6:24: share is NaN, want 0 to 1"},
	{"burst: 100", "burst: 100, hold: {share: x}", ":6:32: phases[0].hold.share: want a number, got \"x\""},
	{"burst: 100", "burst: 100, hold: 25h", ":6:24: holds up to 25h0m0s, want at most 24h"},
	{"- {burst: 100}", "- parallel: []", ":6:15: parallel is an empty list, fill it or leave it out"},
	{"- {burst: 100}", "- {repeat: 0, phases: [{burst: 1}]}", ":6:14: repeat is 0, want more, or leave it out"},
	{"- {burst: 100}", "- {for: 99999h}", ":6:11: for is 99999h0m0s, want at most 24h"},
	{"- {burst: 100}", "- {repeat: 100, phases: [{for: 10h}]}", ":6:3: the phases take 1000h0m0s in all, want at most 24h"},
	{"- {burst: 100}", "- {repeat: 10000, phases: [{burst: 100000}]}", ":6:3: about 1000000000 requests in all, want at most 50000000"},
	{"- {burst: 100}", "- {for: 1s, open: {rate: 2M}}", ":6:28: rate is 2e+06 requests a second, want at most 1000000"},
	{"- {burst: 100}", "- {for: 100s, open: {rate: 600k}}", ":6:3: about 60000000 requests in all"},
	{"- {burst: 100}", "- {for: 24h, closed: {workers: 1}}", ":6:3: about 172800000 requests in all"},
	{"- {burst: 100}", "- {for: 1s, open: {rate: 600k}}\nsweep: {load: [0.001, 2]}", ":7:23: an open loop offers 1.2e+06 requests a second"},
	{"- {burst: 100}", "- {for: 1s, open: {rate: 1k}}\nsweep: {for: [1s, 25h]}", ":7:19: the phases take 25h0m0s in all, want at most 24h"},
	{"- {burst: 100}", "- {for: 1s, closed: {workers: 1, think: 25h}}", ":6:43: think is 25h0m0s, want 0 to 24h"},
	{"  - {burst: 100}", "  - {burst: 1}\ncost: .nan", ":7:7: cost is NaN, want a finite number above 0"},
	{"  - {burst: 100}", "  - {burst: 1}\ncost: .inf", ":7:7: cost is +Inf, want a finite number above 0"},
	{"  - {burst: 100}", "  - {burst: 1}\ncost: -1", ":7:7: cost is -1, want a finite number above 0"},
	{"  - {burst: 100}", "  - {burst: 1}\ncost: 0", ":7:7: cost is 0, want more, or leave it out"},
	{"  - {burst: 100}", "  - {burst: 1}\nkeys: {count: 0}", ":7:15: count is 0, want more, or leave it out"},
	{"  - {burst: 100}", "  - {burst: 1}\nin_flight: -3", ":7:12: in_flight is -3, want 0 or more"},
	{"- {burst: 100}", "- {for: 1s, open: {rate: 5}}\nsweep: {load: [1, 2, 1.0]}", ":7:8: the point 1 is named twice"},
	{"  - {burst: 100}", "  - {burst: 1}\nsweep: {limit: [{rate: 1, capacity: 5}, {capacity: 5, rate: 1}]}", ":7:8: the point 1-5 is named twice"},
	{"  - {burst: 100}", "  - {burst: 1}\nsweep: {}", ":7:8: sweep is empty, write one, such as load: [0.5, 2], or leave it out"},
	{"  - {burst: 100}", "  - {burst: 1}\nsweep: {load: []}", ":7:15: load is an empty list"},
	{"  - {burst: 100}", "  - {burst: 1}\nsweep: {limit: [{rate: 1e16, capacity: 5}]}", ":7:17: rate is 1e+16, want at most 2^53"},
	{"  - {burst: 100}", "  - {burst: 1}\nlatency: maybe", ":7:10: latency: want true or false, got \"maybe\""},
	{"capacity: 50", "capacity: 0.5", ":2:8: capacity 0.5 is below the cost of a request, 1"},
	{"capacity: 50}", "capacity: 50, burst: 2}", ":2:34: unknown field \"burst\""},
	{"- {name: app}", "- {name: app, count: -1}", ":4:24: count is -1"},
	{"- {name: app}", "- {name: app}\n  - {name: app}", "two instances are named app"},
	{"- {name: app}", "- {name: app, clock: {offset: soon}}", ":4:33: \"soon\" is no duration"},
	{"- {name: app}", "- {name: app, clock: {drift: 5x}}", ":4:32: \"5x\" is no drift"},
	{"- {name: app}", "- {name: app, clock: {jitter: -1ms}}", ":4:33: jitter is -1ms"},
	{"- {name: app}", "- {name: app, clock: {steps: [{at: -1s, by: 1s}]}}", "step 1 is at -1s"},
	{"- {burst: 100}", "- {burst: -1}", ":6:13: burst is -1"},
	{"- {burst: 100}", "- {burst: 100, open: {rate: 5}}", ":6:5: a phase has one of burst, open"},
	{"- {burst: 100}", "- {for: 1s, open: {arrivals: poisson}}", "rate is missing"},
	{"- {burst: 100}", "- {for: 1s, open: {rate: 5x}}", ":6:28: \"5x\" is no number"},
	{"- {burst: 100}", "- {for: 1s, open: {rate: 5, arrivals: often}}", "\"often\" is unknown, want constant or poisson"},
	{"- {burst: 100}", "- {open: {rate: 5}}", "for is missing"},
	{"- {burst: 100}", "- {for: 1s, closed: {workers: 0}}", "workers is 0"},
	{"- {burst: 100}", "- {for: -1s}", ":6:11: for is -1s"},
	{"- {burst: 100}", "- {from: [apt], burst: 1}", ":6:13: no instance is named apt, there are app"},
	{"- {burst: 100}", "- {burst: 1, hold: {share: 2}}", "share is 2, want 0 to 1"},
	{"- {burst: 100}", "- {burst: 1, hold: {share: 1, from: 2s, to: 1s}}", "holds from 2s to 1s"},
	{"- {burst: 100}", "- {for: 1s, hold: 1s}", "hold wants a load"},
	{"- {burst: 100}", "- {repeat: 3}", "repeat wants phases"},
	{"- {burst: 100}", "- {phases: [{burst: 1}]}", "phases inside a phase want repeat"},
	{"  - {burst: 100}", "  - {burst: 1}\nsweep: {spread: [1ms]}", "no spread to sweep"},
	{"  - {burst: 100}", "  - {burst: 1}\nsweep: {load: [0]}", "load is 0, want a factor above 0"},
	{"  - {burst: 100}", "  - {burst: 1}\nsweep: {load: [2], limit: [{rate: 1, capacity: 1}]}", "a sweep is over one figure"},
	{"  - {burst: 100}", "  - {burst: 1}\nsweep: {load: [2], drift: [1ppm]}", "a sweep is over one figure"},
	{"  - {burst: 100}", "  - {burst: 1}\nsweep: {drift: [1ppm]}", ":7:16: there is no drift to sweep"},
	{"  - {burst: 100}", "  - {for: 1s, open: {rate: 1}}\nsweep: {for: [0s]}", ":7:15: for is 0s, want a time above 0"},
	{"  - {name: app}", "  - {name: app, clock: {strobe: {by: 1s}}}", "strobe is every 0s, want a time above 0"},
	{"  - {burst: 100}", "  - {burst: 1}\ndisturbance: {kind: skew}", "kind \"skew\" is unknown, there are drift, failover-ahead,"},
	{"  - {burst: 100}", "  - {burst: 1}\ndisturbance: {kind: drift, of: me}", "\"me\" is unknown, want caller or server"},
	{"  - {burst: 100}", "  - {burst: 1}\ndisturbance: {kind: drift}", "the disturbance is drift of the caller's clock, and there is none"},
	{"  - {burst: 100}", "  - {burst: 1}\npredict: {x: {peak: 0}}", "no figure is named peak, there are excess_per_s, lockout_s,"},
	{"  - {burst: 100}", "  - {burst: 1}\npredict: {x: {slow_share: 0}}", "slow_share is of the group named slow, and there is none"},
	{"  - {burst: 100}", "  - {burst: 1}\npredict: {x: {peak_excess: 2*(R}}", ":7:28: formula \"2*(R\", character 4: unexpected token EOF"},
	{"  - {burst: 100}", "  - {burst: 1}\npredict: {x: {peak_excess: R*s}}", ":7:28: formula \"R*s\", character 3: unknown name s, there are C, P, R, S, T,"},
	{"  - {burst: 100}", "  - {burst: 1}\npredict: {x: {peak_excess: R > 1}}", ":7:28: formula \"R > 1\": yields bool, want a number or nil"},
	{"  - {burst: 100}", "  - {burst: 1}\npredict: {x: {peak_excess: 1/(R-R)}}", ":7:28: formula \"1/(R-R)\": yields +Inf, want a finite number"},
	{"  - {burst: 100}", "  - {burst: 1}\nsweep: {limit: [{rate: 1, capacity: 0}]}", "capacity is 0"},
	{"  - {burst: 100}", "  - {burst: 1}\nquick: [nowhere]", "no point of the sweep is named nowhere"},
	{"  - {burst: 100}", "  - {burst: 1}\nexpect: {app-clock: {over-admision: fail}}", "no check is named over-admision"},
	{"  - {burst: 100}", "  - {burst: 1}\nexpect: {app-clock: {over-admission: maybe}}", "\"maybe\" is no expectation"},
	{"  - {burst: 100}", "  - {burst: 1}\nkeys: {count: -1}", "count is -1"},
	{"  - {burst: 100}", "  - {burst: 1}\nkeys: {pick: often}", "\"often\" is unknown, want uniform, zipf"},
	{"  - {burst: 100}", "  - [burst", ":6:"},
	{"  - {burst: 100}", "  - {burst: 1}\nserver_clock: {ofset: 1s}", ":7:16: unknown field \"ofset\""},
	{"  - {burst: 100}", "  - {burst: 1}\nserver_clock: {offset: soon}", ":7:24: \"soon\" is no duration"},
	{"  - {burst: 100}", "  - {burst: 1}\nserver_clock: {jitter: -1ms}", ":7:24: jitter is -1ms, want 0 or more"},
	{"  - {burst: 100}", "  - {burst: 1}\nserver_clock: {steps: [{at: -1s, by: 1s}]}", ":7:15: step 1 is at -1s, want 0 or more"},
	{"  - {burst: 100}", "  - {burst: 1}\nserver_clock: {steps: [{at: 1s, by: 600000h}]}", ":7:15: step 1 is by 600000h0m0s, want at most 50 years"},
	{"  - {burst: 100}", "  - {burst: 1}\nserver: mine", ":7:9: \"mine\" is unknown, want shown, own or failover"},
	{"  - {burst: 100}", "  - {burst: 1}\nserver: own", ":7:9: a server of the run's own takes steps of its clock and nothing else"},
	{"  - {burst: 100}", "  - {burst: 1}\nserver: own\nserver_clock: {drift: 1ppm, steps: [{at: 1s, by: 1s}]}", ":7:9: a server of the run's own takes steps"},
	{"  - {burst: 100}", "  - {burst: 1}\nserver: failover\nserver_clock: {steps: [{at: 1s, by: 1s}, {at: 2s, by: 1s}]}", ":8:23: a failover is one step, here are 2"},
	{"phases:\n  - {burst: 100}", "", "phases are missing"},
	{"instances:\n  - {name: app}", "", "instances are missing"},
	{"  - {burst: 100}", "  - {burst: 1}\nsource: return 1", ":7:1: unknown field \"source\""},
	{"instances:\n  - {name: app}\nphases:\n  - {burst: 100}", "keys: ['rl:${key}']\nsource: return 1",
		":4:1: this looks like a limiter file, for it says `source`, and not like a scenario; write `harness run --limiter x.yaml`"},
}

func TestWrongFilesAreToldWithPlace(t *testing.T) {
	for _, w := range wrongFiles {
		text := strings.Replace(small, w.old, w.new, 1)
		if text == small {
			t.Fatalf("%q does not stand in the small scenario", w.old)
		}
		_, err := Parse("x.yaml", []byte(text))
		switch {
		case err == nil:
			t.Errorf("%q instead of %q: no error", w.new, w.old)
		case !strings.HasPrefix(err.Error(), "x.yaml:"):
			t.Errorf("%q: error %q has no place", w.new, err)
		case !strings.Contains(err.Error(), w.want):
			t.Errorf("%q: error %q, want %q in it", w.new, err, w.want)
		case strings.Contains(err.Error(), "\n"):
			t.Errorf("%q: error %q has several lines", w.new, err)
		}
	}
}

// TestLargeFilesParse: what a user may well want is not refused for its size.
func TestLargeFilesParse(t *testing.T) {
	for _, phase := range []string{
		"{for: 50s, open: {rate: 1M}}",
		"{for: 10m, closed: {workers: 64}}",
		"{for: 24h, closed: {workers: 10, think: 1s}}",
		"{repeat: 10000, phases: [{burst: 5000}]}",
		"{for: 24h}",
		"{burst: 1e2}",
	} {
		if _, err := Parse("x.yaml", []byte(strings.Replace(small, "{burst: 100}", phase, 1))); err != nil {
			t.Errorf("%s: %v", phase, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	for _, name := range Names() {
		text, err := Text(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse("x.yaml", data)
		if err == nil {
			s.Points()
		}
	})
}

// TestReadmeScenario: what the README shows is a scenario.
func TestReadmeScenario(t *testing.T) {
	data, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(data), "## A scenario of your own\n")
	if !found {
		t.Fatal("README.md shows no scenario")
	}
	text, _, _ = strings.Cut(text, "\n    harness run")
	s, err := Parse("README.md", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "lunch-rush" || len(s.Points()) != 2 || len(s.Phases) != 6 {
		t.Errorf("%s with %d points and %d phases", s.Name, len(s.Points()), len(s.Phases))
	}
}
