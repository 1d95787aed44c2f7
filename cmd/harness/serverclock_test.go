package main

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"bucketproof/bucket"
	"bucketproof/reports"
	"bucketproof/scenarios"
)

// fakeClock is a server's clock that is read with no time passing: it is ahead
// of the local one by what ahead says.
type fakeClock struct {
	ahead       func(local time.Time) time.Duration
	uncertainty time.Duration
	fails       error
}

func (f *fakeClock) Offset(_ context.Context, local func() time.Time) (offset, uncertainty time.Duration, err error) {
	return f.ahead(local()), f.uncertainty, f.fails
}

// observed reads a clock that is first ahead by offset and gains ppm at the
// start and again after length.
func observed(t *testing.T, offset, uncertainty, length time.Duration, ppm float64) *serverClock {
	t.Helper()
	start := time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)
	now := start
	c := &serverClock{
		server: &fakeClock{uncertainty: uncertainty, ahead: func(local time.Time) time.Duration {
			return offset + time.Duration(float64(local.Sub(start))*ppm/1e6)
		}},
		local: func() time.Time { return now },
	}
	for range 2 {
		if err := c.read(t.Context()); err != nil {
			t.Fatal(err)
		}
		now = now.Add(length)
	}
	return c
}

func TestServerClockTells(t *testing.T) {
	for _, tt := range []struct {
		name                        string
		offset, uncertainty, length time.Duration
		ppm                         float64
		unsure                      float64 // ppm; 0: not to be told
	}{
		{"a minute", 30 * time.Microsecond, 50 * time.Microsecond, time.Minute, 40, 100e-6 / 60 * 1e6},
		{"behind, and losing", -3 * time.Hour, 50 * time.Microsecond, 10 * time.Second, -700, 10},
		{"just long enough", time.Second, 50 * time.Microsecond, time.Second, 90, 100},
		{"a microsecond too brief", time.Second, 50 * time.Microsecond, time.Second - time.Microsecond, 90, 0},
		{"far away", time.Second, 40 * time.Millisecond, time.Minute, 90, 0},
		{"no time at all", time.Second, time.Microsecond, 0, 90, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var r reports.Redis
			observed(t, tt.offset, tt.uncertainty, tt.length, tt.ppm).tell(&r)
			if r.ClockOffsetS == nil || *r.ClockOffsetS != tt.offset.Seconds() || *r.ClockUncertaintyS != tt.uncertainty.Seconds() {
				t.Errorf("offset %v ± %v, want %v ± %v", r.ClockOffsetS, r.ClockUncertaintyS, tt.offset, tt.uncertainty)
			}
			if told := r.ClockDriftPPM != nil; told != (tt.unsure > 0) {
				t.Fatalf("drift told: %v, want %v", told, !told)
			}
			if tt.unsure == 0 {
				return
			}
			if off := math.Abs(*r.ClockDriftPPM - tt.ppm); off > 0.01 {
				t.Errorf("drift %v ppm, want %v", *r.ClockDriftPPM, tt.ppm)
			}
			if off := math.Abs(*r.ClockDriftUncertaintyPPM - tt.unsure); off > 1e-6*tt.unsure {
				t.Errorf("its uncertainty %v ppm, want %v", *r.ClockDriftUncertaintyPPM, tt.unsure)
			}
		})
	}
}

// TestDriftAllowsForLongReadings: the shortest of the round trips may have been
// the first or the last.
func TestDriftAllowsForLongReadings(t *testing.T) {
	const ppm, takes, length = -400_000.0, 20 * time.Millisecond, time.Second
	start := time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)
	for _, late := range [][2]bool{{false, false}, {false, true}, {true, false}, {true, true}} {
		now := start
		reading := 0
		c := &serverClock{
			server: &fakeClock{uncertainty: time.Microsecond, ahead: func(local time.Time) time.Duration {
				at := local
				if now = now.Add(takes); late[reading] {
					at = now
				}
				reading++
				return time.Duration(float64(at.Sub(start)) * ppm / 1e6)
			}},
			local: func() time.Time { return now },
		}
		for range 2 {
			if err := c.read(t.Context()); err != nil {
				t.Fatal(err)
			}
			now = now.Add(length)
		}
		got, unsure, _ := c.drift()
		if off := math.Abs(got - ppm); off > unsure || unsure > 0.05*math.Abs(ppm) {
			t.Errorf("shortest trip last %v: drift %v ± %v ppm, want %v", late, got, unsure, ppm)
		}
	}
}

func TestServerClockThatKeepsToItself(t *testing.T) {
	c := newServerClock(&fakeClock{ahead: func(time.Time) time.Duration { return 0 }, fails: errors.New("NOPERM")})
	if err := c.read(t.Context()); err == nil {
		t.Error("no error")
	}
	var r reports.Redis
	c.tell(&r)
	if r != (reports.Redis{}) {
		t.Errorf("told %+v of a clock that was not read", r)
	}
}

// planFor is a plan for a limiter by its clock and rate.
func planFor(name string, source bucket.TimeSource, rate float64) scenarios.Plan {
	return scenarios.Plan{
		Scenario: scenarios.Scenario{Name: "s-" + name, Limit: bucket.Limit{Rate: rate, Capacity: 50}},
		Subject:  &scenarios.Subject{Name: name, Time: source},
	}
}

// TestOffsetWarning: a token is R·(|offset| − uncertainty) = 1, and only who may
// mix the two clocks can lose it.
func TestOffsetWarning(t *testing.T) {
	foreign := func(s *scenarios.Subject) bool { return strings.HasPrefix(s.Name, "my-") }
	ours := planFor("app-clock", bucket.CallerTime, 1e6)
	mine := planFor("my-caller", bucket.CallerTime, 100)
	faster := planFor("my-server", bucket.ServerTime, 200)
	for _, tt := range []struct {
		name                string
		offset, uncertainty time.Duration
		plans               []scenarios.Plan
		want                string // "": nothing
	}{
		{"none of ours mixes clocks", time.Hour, time.Microsecond, []scenarios.Plan{ours}, ""},
		{"less than a token", 10 * time.Millisecond, time.Microsecond, []scenarios.Plan{mine}, ""},
		{"just a token", 10*time.Millisecond + time.Microsecond, time.Microsecond, []scenarios.Plan{mine}, "10 ms apart"},
		{"behind", -10*time.Millisecond - time.Microsecond, time.Microsecond, []scenarios.Plan{ours, mine}, "10 ms apart"},
		{"within the uncertainty", 10 * time.Second, 10 * time.Second, []scenarios.Plan{mine}, ""},
		{"the fastest is named", -3 * time.Second, time.Millisecond, []scenarios.Plan{mine, faster, ours}, "600 tokens to my-server in s-my-server"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := observed(t, tt.offset, tt.uncertainty, time.Second, 0).offsetWarning(tt.plans, foreign)
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("warning %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDriftWarning(t *testing.T) {
	byCaller := planFor("app-clock", bucket.CallerTime, 100)
	byServer := planFor("redis-time", bucket.ServerTime, 100)
	neither := planFor("memory", bucket.ProcessTime, 100)
	const earned, expired = "limiters that go by it earned", "keys of limiters that go by their callers' clocks expired"
	for _, tt := range []struct {
		name    string
		ppm     float64
		length  time.Duration
		plans   []scenarios.Plan
		has     []string
		without []string // beside these, a warning that has nothing is none
	}{
		{"what the bounds allow for", 101, 10 * time.Second, []scenarios.Plan{byCaller, byServer}, nil, nil}, // ± 10
		{"beyond it", 500, 10 * time.Second, []scenarios.Plan{byCaller, byServer},
			[]string{"gained 500 ppm on this machine's, ± 10 ppm, where the bounds allow for 100", earned + " as much too fast", expired + " as much too soon"}, nil},
		{"the other way", -500, 10 * time.Second, []scenarios.Plan{byCaller}, []string{"lost 500 ppm", expired + " as much too late"}, []string{earned}},
		{"on Redis TIME only", -500, 10 * time.Second, []scenarios.Plan{byServer}, []string{earned + " as much too slowly"}, []string{expired}},
		{"nobody", 500, 10 * time.Second, []scenarios.Plan{neither}, nil, nil},
		{"too brief to tell", 500, 500 * time.Millisecond, []scenarios.Plan{byCaller, byServer}, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := observed(t, time.Second, 50*time.Microsecond, tt.length, tt.ppm).driftWarning(tt.plans)
			if got != "" && tt.has == nil {
				t.Fatalf("warning %q, want none", got)
			}
			for _, words := range tt.has {
				if !strings.Contains(got, words) {
					t.Errorf("warning %q lacks %q", got, words)
				}
			}
			for _, words := range tt.without {
				if strings.Contains(got, words) {
					t.Errorf("warning %q says %q", got, words)
				}
			}
		})
	}
}

// TestServerWhoseClockIsOff: a server three seconds ahead whose clock stands
// still. No verdict of a limiter that does not look at it changes, and all is told.
func TestServerWhoseClockIsOff(t *testing.T) {
	m := miniredis.RunT(t)
	m.SetTime(time.Now().Add(3 * time.Second))
	dir := t.TempDir()
	_, errs, status := command(t.Context(), "run", "polite/200-20", "--limiter", "../../bucket/lua/scripts/app-clock.yaml",
		"--redis", "redis://"+m.Addr(), "--out", dir, "--seed", "2", "--witness", "off")
	if status != 0 && status != statusUndecided {
		t.Fatalf("exit status %d: %s", status, errs)
	}
	r, err := reports.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if r.Redis.ClockOffsetS == nil {
		t.Fatal("the offset was not measured")
	}
	// Between the setting of the clock and the first reading time passes here.
	if o := *r.Redis.ClockOffsetS; o > 3 || o < -27 {
		t.Errorf("offset %v s, want a little less than 3", o)
	}
	want := []string{"but a limiter that mixes the two"}
	if drift := r.Redis.ClockDriftPPM; drift != nil { // unless the machine is so slow that 2 s are too brief
		want = append(want, " ppm on this machine's, ± ")
		if off := math.Abs(*drift + 1e6); off > *r.Redis.ClockDriftUncertaintyPPM {
			t.Errorf("drift %v ± %v ppm of a clock that stands still, want −1,000,000", *drift, *r.Redis.ClockDriftUncertaintyPPM)
		}
	}
	if len(r.Warnings) != len(want) {
		t.Errorf("warnings %q, want one that has each of %q", r.Warnings, want)
	}
	for _, words := range append(want, "ahead of this machine's, ± ") {
		if n := strings.Count(errs, words); n != 1 {
			t.Errorf("standard error says %d times %q:\n%s", n, words, errs)
		}
	}
	if ok := r.Runs[0].Verdict == "as-expected"; ok != (r.Verdict == "pass") {
		t.Errorf("the run is %s and the whole %s: a warning about a clock decides nothing", r.Runs[0].Verdict, r.Verdict)
	}
}
