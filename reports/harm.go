package reports

import (
	"math"
	"slices"
	"strings"

	"bucketproof/bucket/check"
)

// figure is a Prediction of a run, or what its checks measured where nothing
// was predicted.
type figure struct {
	Prediction
	told      bool // a prediction stands beside it
	undecided bool // the check that measures it came to no verdict
}

// figureRank is the order in which figures are told.
var figureRank = []string{peakExcess, excessPerSecond, lockout, spuriousDenials, slowShare}

// deciding names the check that measures a figure; "" for none.
func deciding(name string) string {
	switch name {
	case peakExcess, excessPerSecond:
		return check.OverAdmission
	case lockout, spuriousDenials:
		return check.SpuriousDenial
	}
	return ""
}

// figureOf finds a figure of a run; ok is false when it was not measured.
func figureOf(run Run, name string) (f figure, ok bool) {
	f.undecided = run.Verdict == notDecided && verdictOf(run, deciding(name)) == ""
	for _, c := range run.Checks {
		if c.Name == deciding(name) {
			f.undecided = c.Verdict == string(check.Undecided) || c.Verdict == string(check.Skipped) && run.Verdict == notDecided
		}
	}
	for _, p := range run.Predictions {
		if p.Figure == name {
			f.Prediction, f.told = p, true
			return f, true
		}
	}
	f.Prediction = Prediction{Figure: name, Unit: unitOf(name), Predicted: math.NaN()}
	f.Measured, ok = measuredBy(run, name)
	return f, ok
}

// measuredBy takes a figure from the checks of a run.
func measuredBy(run Run, name string) (v float64, ok bool) {
	if name == slowShare {
		return slow(run)
	}
	value := map[string]string{peakExcess: "peak_excess", lockout: "longest_s", spuriousDenials: "count"}[name]
	for _, c := range run.Checks {
		if c.Name == deciding(name) {
			v, ok = c.Value[value]
		}
	}
	return v, ok
}

func unitOf(name string) string {
	return map[string]string{peakExcess: "tokens", excessPerSecond: "tokens/s", lockout: "s", spuriousDenials: "denials", slowShare: "share"}[name]
}

// figureNames are the figures that the runs of an ordeal have predictions for;
// without any, those that its checks measured.
func figureNames(r *Report, o ordeal) []string {
	var names []string
	for _, p := range o.points {
		for _, i := range p.runs {
			for _, prediction := range r.Runs[i].Predictions {
				if !slices.Contains(names, prediction.Figure) {
					names = append(names, prediction.Figure)
				}
			}
		}
	}
	if len(names) == 0 {
		for _, name := range []string{peakExcess, lockout} {
			if measuredSomewhere(r, o, name) {
				names = append(names, name)
			}
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if x, y := place(a), place(b); x != y {
			return x - y
		}
		return strings.Compare(a, b)
	})
	return names
}

// place is where a figure stands in figureRank; those not in it come last.
func place(name string) int {
	if i := slices.Index(figureRank, name); i >= 0 {
		return i
	}
	return len(figureRank)
}

func measuredSomewhere(r *Report, o ordeal, name string) bool {
	for _, p := range o.points {
		for _, i := range p.runs {
			if _, ok := figureOf(r.Runs[i], name); ok {
				return true
			}
		}
	}
	return false
}

// harm is what a disturbance did to a limiter in one run: what failed by the
// checks' ideal verdicts, and how much by the figures.
type harm struct {
	over, wrong, starved bool
	undecided            bool // and no fault found all the same

	excess  float64 // tokens over the bound in the worst window
	growth  float64 // tokens over the bound a second, 0 where one full bucket explains them
	lockout float64 // seconds
	denials float64
	share   float64 // of a fair one, that callers whose clocks are behind got

	outside []figure // figures that theory did not predict
	victims string   // who was denied: "every caller", "callers whose clocks are behind", names
}

func (h harm) any() bool { return h.over || h.wrong || h.starved }

// harmOf judges a run by what its checks found. Where a check was not made, its
// figure decides: harm is what lies above the tolerance.
func harmOf(run Run) harm {
	var h harm
	h.excess, h.over = h.figure(run, peakExcess)
	if f, ok := figureOf(run, excessPerSecond); ok && h.over && grows(run, h.excess) {
		h.growth = f.Measured
	}
	seconds, locked := h.figure(run, lockout)
	denials, wrong := h.figure(run, spuriousDenials)
	h.lockout, h.denials, h.wrong = seconds, denials, locked || wrong
	h.starved = h.shares(run)
	if h.wrong || h.starved {
		h.victims = victims(run)
	}
	for _, p := range run.Predictions {
		if f, _ := figureOf(run, p.Figure); !p.Within && !f.undecided {
			h.outside = append(h.outside, f)
		}
	}
	h.undecided = h.undecided && !h.any()
	return h
}

// grows says whether an excess is more than clocks can be worth once, which is a
// full bucket, and so must have come bit by bit.
func grows(run Run, excess float64) bool { return excess > 2*run.Limit.Capacity }

// figure reads a figure and says whether it is harm.
func (h *harm) figure(run Run, name string) (v float64, bad bool) {
	f, ok := figureOf(run, name)
	if f.undecided {
		h.undecided = true
		return 0, false
	}
	verdict := verdictOf(run, deciding(name))
	switch {
	case !ok:
		return 0, verdict == check.Fail && name == peakExcess
	case f.negligible():
		return f.Measured, false
	case verdict == "" || verdict == check.Skipped:
		return f.Measured, f.Measured > f.Tolerance+1e-6
	}
	bad = verdict == check.Fail && f.Measured > 0
	h.undecided = h.undecided || !bad && f.blurred()
	return f.Measured, bad
}

// blurred says whether a run cannot tell the harm that theory has from none.
func (f figure) blurred() bool {
	return f.told && f.Within && f.Predicted >= slight[f.Figure] && f.Predicted <= f.Tolerance
}

// slight is what single calls can make of a figure by being late, in its unit:
// less than a token or a denial, and a lock-out that ends with the next call.
var slight = map[string]float64{peakExcess: 1, spuriousDenials: 1, lockout: 0.05}

// negligible says whether a figure is no harm of the disturbance, whatever the
// check says: theory has nothing worth speaking of, and what was measured is
// within what the run can tell of it. Of wrong denials that theory is silent
// about, a lock-out must last.
func (f figure) negligible() bool {
	switch {
	case f.told:
		return f.Within && f.Predicted < slight[f.Figure]
	case f.Figure == lockout:
		return f.Measured <= slight[lockout]
	}
	return f.Figure == spuriousDenials
}

// unfairly is the part of a fair share below which callers are starved, where
// check fairness judged nothing; it is that of the check.
const unfairly = 0.5

// shares says whether the callers whose clocks are behind were starved.
func (h *harm) shares(run Run) bool {
	f, ok := figureOf(run, slowShare)
	if !ok {
		return false
	}
	h.share = f.Measured
	switch verdictOf(run, check.Fairness) {
	case check.Fail:
		return h.share < 1
	case check.Pass:
		return false
	case check.Undecided:
		h.undecided = true
		return false
	}
	return f.told && run.Verdict != notDecided && h.share < unfairly
}

// slow is what the callers whose clocks are behind got of the grants, as a part
// of their part of the requests. ok is false when all clocks agree.
func slow(run Run) (share float64, ok bool) {
	ahead, offered := furthest(run), int64(0)
	for _, in := range run.Instances {
		if behind(run, in, ahead) {
			share += in.Share
			offered += in.Counts.Offered
		}
	}
	if offered == 0 {
		return 0, false
	}
	return share * float64(run.Counts.Offered) / float64(offered), true
}

// furthest is by how many seconds the clock that is furthest ahead differs from
// true time at the end.
func furthest(run Run) float64 {
	most := math.Inf(-1)
	for _, in := range run.Instances {
		most = max(most, final(in.Clock, run.DurationS))
	}
	return most
}

// final is by how many seconds a clock differs from true time at the end of a
// run, jitter and strobe left out.
func final(c Clock, duration float64) float64 {
	offset := c.OffsetS + c.DriftPPM*1e-6*duration
	for _, step := range c.Steps {
		offset += step.ByS
	}
	if c.Freeze != nil {
		offset -= c.Freeze.ForS
	}
	return offset
}

// behind says whether a clock ended at least half a millisecond behind the one
// furthest ahead: less no limiter of the reference family can see.
func behind(run Run, in Instance, ahead float64) bool {
	return final(in.Clock, run.DurationS) < ahead-0.0005
}

// mostVictims is how many instances are named one by one.
const mostVictims = 3

// victims say who was locked out or starved.
func victims(run Run) string {
	var names []string
	slower := true
	ahead := furthest(run)
	for _, in := range run.Instances {
		fair := 0.0
		if run.Counts.Offered > 0 {
			fair = float64(in.Counts.Offered) / float64(run.Counts.Offered)
		}
		if in.LongestLockoutS > 0 || in.Share < fair*unfairly && len(run.Instances) > 1 {
			names = append(names, in.Name)
			slower = slower && behind(run, in, ahead)
		}
	}
	switch {
	case len(names) == 0 || len(names) == len(run.Instances):
		return everyCaller
	case slower:
		return "callers whose clocks are behind"
	case len(names) <= mostVictims && !agree(run):
		return strings.Join(names, ", ")
	}
	return "some callers"
}

// agree says whether all clocks of a run are the same.
func agree(run Run) bool {
	for _, in := range run.Instances {
		if clockWords(in.Clock) != clockWords(run.Instances[0].Clock) {
			return false
		}
	}
	return true
}
