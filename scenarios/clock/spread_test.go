package clock_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"bucketproof/scenarios/clock"
)

func TestSpread(t *testing.T) {
	const ms = time.Millisecond
	slow, fast := clock.Model{Offset: -250 * ms}, clock.Model{Offset: 250 * ms}
	for _, test := range []struct {
		name     string
		models   []clock.Model
		from, to time.Duration
		want     time.Duration
	}{
		{"nobody", nil, 0, time.Second, 0},
		{"true time", []clock.Model{{}, {}}, 0, time.Second, 0},
		{"two offsets", []clock.Model{slow, {}, fast}, 0, time.Second, 500 * ms},
		{"jitter counts both ways", []clock.Model{{Jitter: 2 * ms}}, 0, 0, 4 * ms},
		{"drift of one clock", []clock.Model{{Drift: 1000}}, time.Second, 11 * time.Second, 10 * ms},
		{"drift apart", []clock.Model{{Drift: 1000}, {Drift: -1000}}, 0, 10 * time.Second, 20 * ms},
		{"a step within", []clock.Model{{Steps: []clock.Step{{time.Second, -300 * ms}}}}, 0, 2 * time.Second, 300 * ms},
		{"a step before", []clock.Model{{Steps: []clock.Step{{time.Second, -300 * ms}}}}, time.Second, 2 * time.Second, 0},
		{"a step after", []clock.Model{{Steps: []clock.Step{{time.Second, -300 * ms}}}}, 0, time.Second - 1, 0},
		{"a step up and back", []clock.Model{{Steps: []clock.Step{{100 * ms, 70 * ms}, {200 * ms, -70 * ms}}}}, 0, time.Second, 70 * ms},
		{"a peak just before a step", []clock.Model{{Drift: 1e6, Steps: []clock.Step{{100, -100}}}}, 0, 110, 99},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := clock.Spread(test.models, test.from, test.to); got != test.want {
				t.Errorf("Spread %v, want %v", got, test.want)
			}
		})
	}
}

// TestBoundsHoldEverySkew, and are reached but for the jitter, unless a strobe
// is not alone: against every nanosecond of a short stretch.
func TestBoundsHoldEverySkew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := clock.Model{
			Offset: time.Duration(rapid.Int64Range(-20, 20).Draw(t, "offset")),
			Drift:  float64(rapid.Int64Range(-1e6, 1e6).Draw(t, "drift")),
			Jitter: time.Duration(rapid.Int64Range(0, 5).Draw(t, "jitter")),
		}
		for range rapid.IntRange(0, 3).Draw(t, "steps") {
			m.Steps = append(m.Steps, clock.Step{
				At: time.Duration(rapid.Int64Range(0, 60).Draw(t, "at")),
				By: time.Duration(rapid.Int64Range(-20, 20).Draw(t, "by")),
			})
		}
		m.Freeze = clock.Freeze{
			At:  time.Duration(rapid.Int64Range(0, 60).Draw(t, "freeze at")),
			For: time.Duration(rapid.Int64Range(0, 20).Draw(t, "freeze for")),
		}
		if rapid.Bool().Draw(t, "strobes") {
			m.Strobe = clock.Strobe{
				By:    time.Duration(rapid.Int64Range(-20, 20).Draw(t, "strobe by")),
				Every: time.Duration(rapid.Int64Range(1, 60).Draw(t, "strobe every")),
			}
		}
		from := time.Duration(rapid.Int64Range(-5, 50).Draw(t, "from"))
		to := from + time.Duration(rapid.Int64Range(0, 50).Draw(t, "length"))
		steady := m
		steady.Jitter = 0
		least, most := steady.Skew(from), steady.Skew(from)
		for at := from; at <= to; at++ {
			least, most = min(least, steady.Skew(at)), max(most, steady.Skew(at))
			if l, h := m.Bounds(from, to); m.Skew(at) < l || m.Skew(at) > h {
				t.Fatalf("skew %v at %v, outside %v to %v", m.Skew(at), at, l, h)
			}
		}
		alone := m.Strobe.By == 0 || m.Drift == 0 && m.Freeze.For == 0 && len(m.Steps) == 0
		if l, h := m.Bounds(from, to); alone && (l != least-m.Jitter || h != most+m.Jitter) {
			t.Fatalf("bounds %v to %v, want %v to %v", l, h, least-m.Jitter, most+m.Jitter)
		}
	})
}
