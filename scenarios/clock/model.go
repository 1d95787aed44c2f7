// Package clock turns true time into what an instance's clock says. A clock is
// a pure function of the time since the start of the run and a seed, so that a
// run with four skewed instances needs one machine, its skews are known to the
// nanosecond, and the same seed shows the same readings again. The load
// drivers read a [Model] before every request; the checks and the reports take
// [Spread] from it.
package clock

import (
	"fmt"
	"math"
	"math/bits"
	"time"
)

// Model is a clock: how far it is off true time at every instant of a run. The
// zero Model is true time. Its terms add up; each is a figure of its own, so
// that a further kind of fault is a further field and a further term of
// [Model.Skew]. A Model is a value: any number of goroutines may read it.
type Model struct {
	Offset time.Duration // ahead of true time at the start; below 0: behind
	Drift  float64       // gained per second, in ppm: µs per s; −1e6 to 1e6; counted in millionths of a ppm
	Jitter time.Duration // every reading is off by up to this much either way; 0 or more
	Steps  []Step        // sudden changes, in any order
	Strobe Strobe        // to and fro
	Freeze Freeze        // stands still
	Seed   uint64        // of the jitter: two clocks of one seed jitter alike
}

// Step is a sudden change of a clock, as a time daemon or an operator makes.
type Step struct {
	At time.Duration // true time since the start of the run, 0 or more; the first instant that shows it
	By time.Duration // how far the clock jumps; below 0: back
}

// Strobe is a clock that alternates between two offsets: as it is for Every, By
// ahead of that for Every, and again from the start of the run on, as clocks do
// under two time daemons that disagree. The zero Strobe does not.
type Strobe struct {
	By    time.Duration // below 0: behind
	Every time.Duration // above 0, unless By is 0
}

// Freeze is a clock that stands still, as that of a suspended machine does, and
// then goes on from where it stood. (One that then catches up takes a step
// forward, too.) While it stands nothing is gained by drift; jitter, steps and
// strobe are what they were. The zero Freeze does not.
type Freeze struct {
	At  time.Duration // true time since the start of the run, 0 or more
	For time.Duration // 0 or more
}

// farthest bounds every term of a model and the length of a run, a strobe by a
// fiftieth of it: with it no sum overflows a Duration (292 years). A freeze adds
// nothing, since what it loses and what drift gains are together no more than
// what has passed.
const farthest = 50 * 365 * 24 * time.Hour

// Validate reports the first thing that makes m no clock.
func (m Model) Validate() error {
	switch {
	case m.Offset.Abs() > farthest:
		return fmt.Errorf("offset is %v, want at most 50 years either way", m.Offset)
	case math.IsNaN(m.Drift) || m.Drift < -1e6 || m.Drift > 1e6:
		return fmt.Errorf("drift is %v ppm, want -1e6 to 1e6", m.Drift)
	case m.Jitter < 0:
		return fmt.Errorf("jitter is %v, want 0 or more", m.Jitter)
	case m.Jitter > farthest:
		return fmt.Errorf("jitter is %v, want at most 50 years", m.Jitter)
	}
	if err := m.Strobe.validate(); err != nil {
		return err
	}
	if err := m.Freeze.validate(); err != nil {
		return err
	}
	var sum time.Duration
	for i, s := range m.Steps {
		switch {
		case s.At < 0:
			return fmt.Errorf("step %d is at %v, want 0 or more", i+1, s.At)
		case s.By.Abs() > farthest-sum:
			return fmt.Errorf("step %d is by %v, want at most 50 years for all steps together", i+1, s.By)
		}
		sum += s.By.Abs()
	}
	return nil
}

func (s Strobe) validate() error {
	switch {
	case s.By.Abs() > farthest/50:
		return fmt.Errorf("strobe is by %v, want at most a year either way", s.By)
	case s.Every < 0 || s.Every == 0 && s.By != 0:
		return fmt.Errorf("strobe is every %v, want a time above 0", s.Every)
	}
	return nil
}

func (f Freeze) validate() error {
	switch {
	case f.At < 0 || f.At > farthest:
		return fmt.Errorf("freeze is at %v, want 0 to 50 years", f.At)
	case f.For < 0 || f.For > farthest:
		return fmt.Errorf("freeze is for %v, want 0 to 50 years", f.For)
	}
	return nil
}

// Synchronized reports whether m is true time at every instant of any run.
func (m Model) Synchronized() bool {
	for _, s := range m.Steps {
		if s.By != 0 {
			return false
		}
	}
	return m.Offset == 0 && m.parts() == 0 && m.Jitter == 0 && m.Strobe.By == 0 && m.Freeze.For == 0
}

// Skew is how far m is ahead of true time when elapsed has passed since the
// start of the run:
//
//	offset + drift·(elapsed − frozen) − frozen + strobe
//	       + Σ steps at or before elapsed + jitter(seed, elapsed)
//
// frozen being how long it has stood still by then. It is exact for a valid m and an elapsed of up to 50 years; the drift is
// rounded to the nearest nanosecond. The jitter is uniform over the whole
// nanoseconds in ±Jitter and independent from one nanosecond to the next, so a
// clock with jitter may go back between two readings, as those of two cores do.
func (m Model) Skew(elapsed time.Duration) time.Duration {
	return m.steady(elapsed) + m.jitter(elapsed)
}

// Reading is what m says when elapsed has passed since base, the true time at
// the start of the run. It holds no monotonic reading.
func (m Model) Reading(base time.Time, elapsed time.Duration) time.Time {
	return base.Round(0).Add(elapsed + m.Skew(elapsed))
}

// steady is the skew without its jitter.
func (m Model) steady(elapsed time.Duration) time.Duration {
	frozen := m.Freeze.lost(elapsed)
	skew := m.Offset + m.drifted(elapsed-frozen) - frozen
	if m.Strobe.ahead(elapsed) {
		skew += m.Strobe.By
	}
	for _, s := range m.Steps {
		if s.At <= elapsed {
			skew += s.By
		}
	}
	return skew
}

// lost is how long the clock has stood still when elapsed has passed.
func (f Freeze) lost(elapsed time.Duration) time.Duration {
	return min(max(elapsed-f.At, 0), f.For)
}

// ahead reports whether elapsed lies in a stretch in which the clock is By
// ahead. Before the start of the run it is not.
func (s Strobe) ahead(elapsed time.Duration) bool {
	return s.By != 0 && s.Every > 0 && elapsed >= 0 && elapsed/s.Every%2 == 1
}

// partsPerPPM: drift is an integer of 1e-12, so that it multiplies exactly.
const (
	partsPerPPM = 1e6
	partsPerOne = 1e12
)

func (m Model) parts() int64 {
	if math.IsNaN(m.Drift) {
		return 0 // not valid
	}
	return int64(math.Round(min(max(m.Drift, -1e6), 1e6) * partsPerPPM))
}

// drifted is drift·elapsed in 128 bits, rounded half away from zero.
func (m Model) drifted(elapsed time.Duration) time.Duration {
	parts := m.parts()
	hi, lo := bits.Mul64(uint64(max(parts, -parts)), uint64(elapsed.Abs()))
	lo, carry := bits.Add64(lo, partsPerOne/2, 0)
	ns, _ := bits.Div64(hi+carry, lo, partsPerOne)
	if (parts < 0) != (elapsed < 0) {
		return -time.Duration(ns)
	}
	return time.Duration(ns)
}

// jitter maps a hash of seed and elapsed to one of the 2·Jitter + 1 whole
// nanoseconds in ±Jitter, with a bias below one in 2⁶⁴/(2·Jitter + 1).
func (m Model) jitter(elapsed time.Duration) time.Duration {
	if m.Jitter <= 0 {
		return 0
	}
	h := mix(mix(m.Seed) + uint64(elapsed))
	n, _ := bits.Mul64(h, 2*uint64(m.Jitter)+1)
	return time.Duration(n) - m.Jitter
}

// mix is one output of SplitMix64 (Steele, Lea, Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014): a bijection whose outputs for
// neighbouring inputs are unrelated.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
