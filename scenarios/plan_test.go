package scenarios

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bucketproof/bucket"
)

func mustParse(t *testing.T, text string) *Scenario {
	t.Helper()
	s, err := Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestScaledKeepsTheShape(t *testing.T) {
	s := mustParse(t, `name: shape
limit: {rate: 100, capacity: 50}
instances:
  - {name: slow, clock: {offset: -250ms, jitter: 2ms, steps: [{at: 1s, by: -500ms}], strobe: {by: 50ms, every: 100ms}, freeze: {at: 2s, for: 10ms}}}
  - {name: fast, clock: {offset: 250ms}}
server_clock: {offset: 10ms, steps: [{at: 1s, by: -500ms}]}
phases:
  - {burst: 75, hold: 50ms}
  - {for: 1s, open: {rate: 200}}
  - {for: 100ms}
  - {for: 1s, closed: {workers: 2, think: 4ms}}
`)
	got := s.Scaled(bucket.Limit{Rate: 50, Capacity: 100}) // four times the fill time
	checks := []struct {
		name      string
		got, want any
	}{
		{"offset", got.Instances[0].Clock.Offset, Duration(-time.Second)},
		{"jitter", got.Instances[0].Clock.Jitter, Duration(8 * time.Millisecond)},
		{"step", got.Instances[0].Clock.Steps[0], Step{Duration(2 * time.Second), Duration(-2 * time.Second)}},
		{"strobe", got.Instances[0].Clock.Strobe, Strobe{Duration(200 * time.Millisecond), Duration(400 * time.Millisecond)}},
		{"freeze", got.Instances[0].Clock.Freeze, Freeze{Duration(4200 * time.Millisecond), Duration(40 * time.Millisecond)}},
		{"server's offset", got.ServerClock.Offset, Duration(40 * time.Millisecond)},
		{"server's step", got.ServerClock.Steps[0], Step{Duration(2 * time.Second), Duration(-2 * time.Second)}},
		{"original server's step", s.ServerClock.Steps[0].By, Duration(-500 * time.Millisecond)},
		{"burst", got.Phases[0].Burst, 150},
		{"hold", *got.Phases[0].Hold, Hold{1, Duration(200 * time.Millisecond), Duration(200 * time.Millisecond)}},
		{"rate", got.Phases[1].Open.Rate, Rate(100)},
		{"loaded phase", got.Phases[1].For, Duration(2 * time.Second)},
		{"idle phase", got.Phases[2].For, Duration(400 * time.Millisecond)},
		{"think", got.Phases[3].Closed.Think, Duration(8 * time.Millisecond)},
		{"original", s.Phases[1].Open.Rate, Rate(200)},
		{"original offset", s.Instances[0].Clock.Offset, Duration(-250 * time.Millisecond)},
	}
	for _, c := range checks {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// A limit far from the one that was written for must not make bursts in which
// requests cannot meet, nor loads that no machine keeps up with.
func TestScaledStaysWithinReason(t *testing.T) {
	const text = `name: reason
limit: {rate: 100, capacity: 50}
instances: [{name: app}]
phases:
  - {burst: 200}
  - {burst: 20}
  - {for: 1s, open: {rate: 500}}
  - {for: 1s, open: {rate: 50}}
`
	for _, c := range []struct {
		limit  bucket.Limit
		bursts [2]int
		rates  [2]Rate
	}{
		{bucket.Limit{Rate: 10, Capacity: 1}, [2]int{64, 20}, [2]Rate{50, 5}},
		{bucket.Limit{Rate: 1000, Capacity: 500}, [2]int{2000, 200}, [2]Rate{4000, 500}},
		{bucket.Limit{Rate: 8000, Capacity: 50}, [2]int{200, 20}, [2]Rate{10_000, 4000}},
		{bucket.Limit{Rate: 100, Capacity: 50}, [2]int{200, 20}, [2]Rate{500, 50}},
	} {
		p := mustParse(t, text).Scaled(c.limit).Phases
		if got := [2]int{p[0].Burst, p[1].Burst}; got != c.bursts {
			t.Errorf("%v: bursts of %v, want %v", c.limit, got, c.bursts)
		}
		if got := [2]Rate{p[2].Open.Rate, p[3].Open.Rate}; got != c.rates {
			t.Errorf("%v: rates of %v, want %v", c.limit, got, c.rates)
		}
	}
	written := mustParse(t, strings.Replace(text, "rate: 500", "rate: 50k", 1)).Scaled(bucket.Limit{Rate: 100, Capacity: 50})
	if got := written.Phases[2].Open.Rate; got != 50_000 {
		t.Errorf("a rate that was written is %v now", got)
	}
	swept := mustParse(t, text+"sweep: {load: [20]}\n").Scaled(bucket.Limit{Rate: 200, Capacity: 50})
	if got := swept.Points()[0].Phases[2].Open.Rate; got != 4000 {
		t.Errorf("a sweep over loads goes to %v", got)
	}
}

func TestPlans(t *testing.T) {
	drain, err := Named("skew-drain")
	if err != nil {
		t.Fatal(err)
	}
	overload, err := Named("overload")
	if err != nil {
		t.Fatal(err)
	}
	fixed := &Subject{Name: "fixed", Limit: &bucket.Limit{Rate: 10, Capacity: 5}}
	free := &Subject{Name: "free"}
	tests := []struct {
		name string
		sel  Selection
		want []string
	}{
		{"sweep over spreads", Selection{Scenarios: []*Scenario{drain}, Subjects: []*Subject{free}},
			[]string{"skew-drain/100ms", "skew-drain/300ms", "skew-drain/500ms", "skew-drain/2s"}},
		{"quick", Selection{Scenarios: []*Scenario{drain}, Subjects: []*Subject{free}, Quick: true},
			[]string{"skew-drain/300ms"}},
		{"spread scales with the fill time", Selection{Scenarios: []*Scenario{drain}, Subjects: []*Subject{free}, Rate: 50, Quick: true},
			[]string{"skew-drain/600ms"}},
		{"sweep over limits", Selection{Scenarios: []*Scenario{overload}, Subjects: []*Subject{free}},
			[]string{"overload/100-50", "overload/33.3-7.5", "overload/250-25", "overload/20-100"}},
		{"a fixed limit is no sweep", Selection{Scenarios: []*Scenario{overload}, Subjects: []*Subject{fixed}},
			[]string{"overload"}},
		{"one override keeps the sweep", Selection{Scenarios: []*Scenario{overload}, Subjects: []*Subject{free}, Capacity: 10},
			[]string{"overload/100-10", "overload/33.3-10", "overload/250-10", "overload/20-10"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plans, _, err := tt.sel.Plans()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range plans {
				got = append(got, p.Scenario.Name)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("points (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlansRefuseAndSkip(t *testing.T) {
	s := mustParse(t, small)
	if _, _, err := (Selection{Scenarios: []*Scenario{s}}).Plans(); err == nil || !strings.Contains(err.Error(), "names no limiters") {
		t.Errorf("no limiters: %v", err)
	}
	sub := []*Subject{{Name: "free"}}
	if _, _, err := (Selection{Scenarios: []*Scenario{s}, Subjects: sub, Capacity: 0.5}).Plans(); err == nil || !strings.Contains(err.Error(), "below the cost") {
		t.Errorf("capacity below the cost: %v", err)
	}
	boom := errors.New("no such limiter")
	s.Limiters = []string{"x"}
	if _, _, err := (Selection{Scenarios: []*Scenario{s}, Resolve: func(string) (*Subject, error) { return nil, boom }}).Plans(); !errors.Is(err, boom) {
		t.Errorf("unknown limiter: %v", err)
	}
	idle, err := Named("idle-burst")
	if err != nil {
		t.Fatal(err)
	}
	hour := []*Subject{{Name: "hour", Limit: &bucket.Limit{Rate: 0.01, Capacity: 36}}}
	plans, skips, err := Selection{Scenarios: []*Scenario{idle}, Subjects: hour}.Plans()
	if err != nil || len(plans) != 0 || len(skips) != 1 || !strings.Contains(skips[0].Reason, "more than 1m") {
		t.Errorf("an hour's fill time: plans %v, skips %v, error %v", plans, skips, err)
	}
	late, err := Named("late-calls")
	if err != nil {
		t.Fatal(err)
	}
	slow := []*Subject{{Name: "slow", Limit: &bucket.Limit{Rate: 0.5, Capacity: 1}}}
	plans, skips, err = Selection{Scenarios: []*Scenario{late}, Subjects: slow, Quick: true}.Plans()
	if err != nil || len(plans) != 0 || len(skips) != 1 || !strings.Contains(skips[0].Reason, "fewer than 20") {
		t.Errorf("a handful of requests: plans %v, skips %v, error %v", plans, skips, err)
	}
}

func TestSeedsDoNotDependOnNeighbours(t *testing.T) {
	seen := map[uint64]bool{}
	for _, s := range []uint64{seedOf(1, "a", "b"), seedOf(2, "a", "b"), seedOf(1, "ab", ""), seedOf(1, "b", "a")} {
		if seen[s] {
			t.Errorf("seed %d twice", s)
		}
		seen[s] = true
	}
}

// TestLengthAndClocks: a hold comes on top of the phases, and one clock that is
// off, or will step, is enough.
func TestLengthAndClocks(t *testing.T) {
	for name, want := range map[string]struct {
		length       time.Duration
		synchronized bool
	}{
		"atomic-burst": {0, true},
		"late-calls":   {3500 * time.Millisecond, true},
		"window-edge":  {4720 * time.Millisecond, true},
		"fast-leaves":  {1500 * time.Millisecond, false},
		"step-back":    {2500 * time.Millisecond, false},
	} {
		s, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Length(); got != want.length || s.Synchronized() != want.synchronized {
			t.Errorf("%s: %v, synchronized %v, want %v, %v", name, got, s.Synchronized(), want.length, want.synchronized)
		}
	}
}

// TestUnfitLimitIsSkipped: a run that asks for what the limiter cannot express
// is left out with its reason, and the others are made.
func TestUnfitLimitIsSkipped(t *testing.T) {
	s := mustParse(t, `name: two
limit: {rate: 100, capacity: 50}
instances:
  - {name: a}
phases:
  - {burst: 30}
sweep:
  limit: [{rate: 100, capacity: 50}, {rate: 33.3, capacity: 7.5}]
`)
	parts := mustParse(t, `name: parts
limit: {rate: 100, capacity: 50}
instances:
  - {name: a}
phases:
  - {burst: 30, cost: 0.5}
`)
	whole := &Subject{Name: "whole", Costs: true, WholeCosts: true, Fits: func(l bucket.Limit) error {
		if l.Capacity != 50 {
			return bucket.ErrLimit
		}
		return nil
	}}
	plans, skips, err := Selection{Scenarios: []*Scenario{s, parts}, Subjects: []*Subject{whole}}.Plans()
	if err != nil {
		t.Fatal(err)
	}
	if len(plans) != 1 || plans[0].Scenario.Name != "two/100-50" {
		t.Errorf("planned %d runs, want two/100-50 alone", len(plans))
	}
	want := []Skip{
		{"two/33.3-7.5", "whole", bucket.ErrLimit.Error()},
		{"parts", "whole", "the limiter takes whole costs, and requests of this scenario cost a part of a token"},
	}
	if diff := cmp.Diff(want, skips); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
}

// TestMustShow: what a limiter fails somewhere it must fail where it shows.
func TestMustShow(t *testing.T) {
	sub := &Subject{
		Expect: Expectations{"a": ExpectFail, "b": ExpectFail, "c": ExpectAny},
		Shows:  map[string][]string{"a": {"idle", "overload/20-100"}},
	}
	for _, tt := range []struct {
		scenario, check string
		want            bool
	}{
		{"idle", "a", true}, {"idle/7", "a", true}, {"overload/20-100", "a", true}, {"overload/100-50", "a", false},
		{"poll", "a", false}, {"poll", "b", true}, {"poll", "c", false}, {"idle", "d", false},
	} {
		if got := sub.MustShow(tt.scenario, tt.check); got != tt.want {
			t.Errorf("%s in %s: %v, want %v", tt.check, tt.scenario, got, tt.want)
		}
	}
}
