package scenarios

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/check"
	"bucketproof/bucket/lua"
)

// stepped is a scenario in which the server's clock takes a step after a second
// of steady overload.
func stepped(t *testing.T, l bucket.Limit, by time.Duration, load float64) *Scenario {
	t.Helper()
	return mustParse(t, fmt.Sprintf(`name: stepped
limit: {rate: %v, capacity: %v}
instances:
  - {name: app, count: 2}
server_clock: {steps: [{at: 1s, by: %v}]}
phases:
  - {for: 4s, open: {rate: %v}}
expect:
  redis-time: {over-admission: any, spurious-denial: any, accept-rate: any}
`, l.Rate, l.Capacity, by, l.Rate*load))
}

// TestServerStepsBack: everybody is locked out for S − level/R, where the level
// of an overloaded bucket is less than a token; nothing is granted too much, and
// only to who goes by the server's clock it happens.
func TestServerStepsBack(t *testing.T) {
	for i, by := range []time.Duration{200 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second} {
		for _, l := range []bucket.Limit{{Rate: 100, Capacity: 20}, {Rate: 50, Capacity: 5}} {
			for _, limiter := range reference {
				seed := uint64(i)
				res := runScenarios(t, seed, virtualSubject(limiter, seed), stepped(t, l, -by, 3))[0]
				want := by.Seconds()
				if limiter != "redis-time" {
					want = 0
				}
				spurious, over := verdictOn(t, res, check.SpuriousDenial), verdictOn(t, res, check.OverAdmission)
				if got := spurious.Value["longest_s"]; math.Abs(got-want) > 2.5/l.Rate {
					t.Errorf("%s, %v, back by %v: locked out for %.3f s, want %.3f s", limiter, l, by, got, want)
				}
				if (spurious.Verdict == check.Fail) != (want > 0) || over.Verdict != check.Pass || res.Outcome != AsExpected {
					t.Errorf("%s, %v, back by %v: %s; spurious-denial %s, within prediction %v; over-admission %s: %s", limiter, l, by,
						res.Outcome, spurious.Verdict, spurious.WithinPrediction, over.Verdict, over.Detail)
				}
				if (res.ServerClock != nil) != (limiter == "redis-time") {
					t.Errorf("%s: shown the clock %v", limiter, res.ServerClock)
				}
			}
		}
	}
}

// TestServerStepsForward: min(C, R·S) tokens are granted early, and nobody is
// denied wrongly.
func TestServerStepsForward(t *testing.T) {
	for i, by := range []time.Duration{100 * time.Millisecond, 300 * time.Millisecond, 3 * time.Second} {
		for _, l := range []bucket.Limit{{Rate: 100, Capacity: 50}, {Rate: 200, Capacity: 20}} {
			for _, limiter := range reference {
				seed := uint64(i)
				res := runScenarios(t, seed, virtualSubject(limiter, seed), stepped(t, l, by, 3))[0]
				want := min(l.Capacity, l.Rate*by.Seconds())
				if limiter != "redis-time" {
					want = 0
				}
				spurious, over := verdictOn(t, res, check.SpuriousDenial), verdictOn(t, res, check.OverAdmission)
				if got := over.Value["peak_excess"]; math.Abs(got-want) > 1.5 {
					t.Errorf("%s, %v, forward by %v: %.2f too many, want %.2f", limiter, l, by, got, want)
				}
				if (over.Verdict == check.Fail) != (want > 0) || spurious.Verdict != check.Pass || res.Outcome != AsExpected {
					t.Errorf("%s, %v, forward by %v: %s; over-admission %s, within prediction %v; spurious-denial %s: %s", limiter, l, by,
						res.Outcome, over.Verdict, over.WithinPrediction, spurious.Verdict, spurious.Detail)
				}
			}
		}
	}
}

// TestServersClockDriftsAndJitters: an offset alone is nothing to a bucket, since
// only differences of readings count; a clock that gains a fifth earns a fifth
// more, and one that jitters by J is worth up to 2·R·J. All of it is predicted,
// and with a witness the replay finds the rule followed.
func TestServersClockDriftsAndJitters(t *testing.T) {
	for _, c := range []struct {
		clock       string
		least, most float64 // tokens too many after 4 s
	}{
		{"{offset: -10h}", 0, 0.5},
		{"{offset: 1h, drift: 200000ppm}", 77, 81},
		{"{jitter: 50ms}", 1, 10},
	} {
		for _, seed := range []uint64{2, 3} { // without a witness, and with one
			s := stepped(t, bucket.Limit{Rate: 100, Capacity: 50}, time.Second, 3)
			text := mustParse(t, strings.Replace(small, "phases:", "server_clock: "+c.clock+"\nphases:", 1))
			s.ServerClock = text.ServerClock
			res := runScenarios(t, seed, virtualSubject("redis-time", seed), s)[0]
			over := verdictOn(t, res, check.OverAdmission)
			if got := over.Value["peak_excess"]; got < c.least || got > c.most {
				t.Errorf("%s, seed %d: %.2f too many, want %v to %v", c.clock, seed, got, c.least, c.most)
			}
			for _, v := range res.Verdicts {
				if !v.WithinPrediction {
					t.Errorf("%s, seed %d: %s beyond prediction: %s; %v", c.clock, seed, v.Name, v.Detail, v.Value)
				}
			}
			want := map[bool]check.Verdict{false: check.Skipped, true: check.Pass}[res.Witness]
			if v := verdictOn(t, res, check.Replay); v.Verdict != want || res.Witness != (seed == 3) {
				t.Errorf("%s, seed %d: replay %s, want %s: %s", c.clock, seed, v.Verdict, want, v.Detail)
			}
		}
	}
}

// TestWhoCannotBeShownAClock: a limiter on the server's clock that is no script is
// skipped with the reason; one on another clock runs as ever.
func TestWhoCannotBeShownAClock(t *testing.T) {
	s, err := Named("server-step")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		time  bucket.TimeSource
		skips int
	}{{bucket.ServerTime, 1}, {bucket.CallerTime, 0}, {bucket.ProcessTime, 0}} {
		plans, skips, err := Selection{Scenarios: []*Scenario{s}, Subjects: []*Subject{{Name: "command", Time: c.time}}}.Plans()
		if err != nil || len(skips) != c.skips || len(plans) != 1-c.skips {
			t.Errorf("on the clock of %s: plans %v, skips %v, error %v", c.time, plans, skips, err)
		}
		if c.skips > 0 && len(skips) > 0 && !strings.Contains(skips[0].Reason, "only a limiter that is one script can be shown another TIME") {
			t.Errorf("reason %q", skips[0].Reason)
		}
	}
}

// TestWhoHasNoServerOfItsOwn: a limiter that stores nothing on a server, or any
// where none can be had, is skipped with the reason.
func TestWhoHasNoServerOfItsOwn(t *testing.T) {
	s, err := Named("failover-behind")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		stored      bool
		noOwn, want string
	}{
		{true, "", ""},
		{false, "", "keeps nothing on it"},
		{true, "no C compiler", "needs a server of its own: no C compiler"},
	} {
		sel := Selection{Scenarios: []*Scenario{s}, Subjects: []*Subject{{Name: "any", Stored: c.stored, Witnessed: true}}, Witness: WitnessOn, NoOwn: c.noOwn}
		plans, skips, err := sel.Plans()
		switch {
		case err != nil:
			t.Fatal(err)
		case c.want == "" && (len(skips) > 0 || len(plans) != 1 || plans[0].Witness):
			t.Errorf("plans %v, skips %v", plans, skips)
		case c.want != "" && (len(plans) > 0 || len(skips) != 1 || !strings.Contains(skips[0].Reason, c.want)):
			t.Errorf("plans %v, skips %v, want %q", plans, skips, c.want)
		}
	}
}

// failing is a server that cannot be stepped.
type failing struct{ *virtual }

func (failing) Step(context.Context, time.Duration) error { return errors.New("no replica answers") }

// TestOwnServerFails: a run whose server cannot be stepped is undecided and says
// so, and one that has none does not begin.
func TestOwnServerFails(t *testing.T) {
	s, err := Named("failover-behind")
	if err != nil {
		t.Fatal(err)
	}
	sub := virtualSubject("app-clock", 1)
	p := Plan{Scenario: *s, Subject: sub}
	synctest.Test(t, func(t *testing.T) {
		r := &Runner{ID: "virtual"}
		if _, err := r.Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), "no server whose clock can be set") {
			t.Errorf("without a server: %v", err)
		}
		r.OpenOwn = func(context.Context, ServerKind) (OwnServer, error) {
			return failing{virtualServer("app-clock", 1)}, nil
		}
		res, err := r.Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if told := strings.Join(res.Warnings, "\n"); res.Outcome != Undecided || !strings.Contains(told, "step the server's clock by -500ms: no replica answers") {
			t.Errorf("%s: %s", res.Outcome, told)
		}
	})
}

// TestShownClockIsOneForAll: the steps are told as instants of the server's own
// clock, from the start on; the rest as of the instant of asking.
func TestShownClockIsOneForAll(t *testing.T) {
	c := Clock{Offset: Duration(time.Hour), Drift: 1000, Steps: []Step{{At: Duration(3 * time.Second), By: Duration(-time.Minute)}}}
	shown := &serverTime{model: c.model(1)}
	if got := shown.clock(); got.Offset != 0 || got.Steps != nil {
		t.Errorf("before the run: %+v, want the server's own", got)
	}
	wall, passed := time.UnixMilli(1_700_000_000_000), time.Duration(0)
	shown.begin(wall, reading{offset: 250 * time.Millisecond}, func() time.Duration { return passed })
	for _, passed = range []time.Duration{0, time.Second, 5 * time.Second} {
		got := shown.clock()
		want := lua.ClockStep{At: wall.Add(3250 * time.Millisecond), By: -time.Minute}
		if got.Offset != time.Hour+passed/1000 || len(got.Steps) != 1 || !got.Steps[0].At.Equal(want.At) || got.Steps[0].By != want.By {
			t.Errorf("after %v: %+v, want the step %+v", passed, got, want)
		}
	}
}
