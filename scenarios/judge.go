package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/check"
	"bucketproof/bucket/history"
	"bucketproof/scenarios/load"
)

// ServerClock is the clock of the server that limiters with ServerTime use.
type ServerClock interface {
	// Offset is how far the server's clock is ahead of a local one, and how far
	// that may be wrong.
	Offset(ctx context.Context, local func() time.Time) (offset, uncertainty time.Duration, err error)
}

// reading is the server's clock against this process's monotonic one.
type reading struct {
	offset, uncertainty time.Duration
	at                  time.Time
	ok                  bool
}

// readClock measures the clock of the run's server for limiters that use it.
func (r *run) readClock(ctx context.Context, server ServerClock) (reading, error) {
	if r.own != nil {
		server = r.own
	}
	if server == nil || r.plan.Subject.Time != bucket.ServerTime || r.plan.Subject.OwnClock || ctx.Err() != nil {
		return reading{}, nil
	}
	base := time.Now()
	wall := base.Round(0)
	mono := func() time.Time { return wall.Add(time.Since(base)) }
	offset, uncertainty, err := server.Offset(ctx, mono)
	if err != nil {
		return reading{}, fmt.Errorf("read the server's clock: %w", err)
	}
	return reading{offset: offset, uncertainty: uncertainty, at: base, ok: true}, nil
}

// judging is what a run's end knows beside its history.
type judging struct {
	phase, clock  error
	before, after reading
	stray         time.Duration // of this machine's wall clock
}

// Thresholds beyond which a run could not have shown a fault, or shows one
// that is not the limiter's.
const (
	minAnswered  = 10                     // requests
	maxUnusable  = 0.1                    // share of requests without a usable answer
	maxLateP90   = 100 * time.Millisecond // nine of ten sends are no later than this behind their due time
	maxClockStep = 5 * time.Millisecond   // by which a clock may stray, or,
	maxDrift     = 0.01                   // if that is more, this part of the run's length
)

// judge checks the history, adds what the run itself casts doubt on, and
// compares with what was expected.
func (r *run) judge(ctx context.Context, res *Result, j judging) error {
	spec := r.spec()
	weak := r.weaknesses(ctx, res, j)
	moved := r.clockMoved(j, &spec)
	r.shift(&spec, j)
	spec.Offered = r.driver.Counts().Offered
	var samples []check.Sample
	if r.audit != nil {
		samples = r.audit.samples
	}
	report, err := check.Judge(spec, history.All(res.Operations), samples)
	if err != nil {
		return fmt.Errorf("judge %s for %s: %w", res.Scenario.Name, res.Limiter, err)
	}
	res.Report, res.Spec = report, spec
	for _, c := range report.Results {
		v := Verdict{Result: c, Expected: Expected(&res.Scenario, r.plan.Subject, c.Name)}
		if c.Verdict == check.Fail {
			v.Known = r.plan.Subject.Known[c.Name]
		}
		res.Verdicts = append(res.Verdicts, v)
	}
	r.unlooked(res)
	r.contend(res)
	r.share(res)
	r.elsewhere(res, samples)
	if why := lostKeys(res); why != "" && !r.renames() {
		res.doubt(why, check.Fail)
	}
	for _, why := range weak {
		res.doubt(why, check.Pass)
	}
	if moved != "" {
		res.doubt(moved, check.Pass, check.Fail)
	}
	if err := r.excuseWindows(res); err != nil {
		return err
	}
	r.excuse(res)
	r.blur(res)
	res.Outcome = OutcomeOf(res.Verdicts, r.plan.Subject.Reference)
	if err := r.predict(res); err != nil {
		return err
	}
	r.compare(res, len(weak) > 0 || moved != "")
	if ctx.Err() != nil {
		res.Outcome = Undecided
	}
	if f := mostFrequent(res.Errors); f != nil && res.Outcome != AsExpected {
		res.Warnings = append(res.Warnings, fmt.Sprintf("the most frequent error, of %d of %d requests: %s", f.Count, res.Report.Summary.Offered, f.Text))
	}
	return nil
}

// mostFrequent is the kind of error that most requests ended with, for which
// somebody is to blame; nil: there is none.
func mostFrequent(errs []load.Failure) *load.Failure {
	for i := range errs {
		if !errs[i].Stopped {
			return &errs[i]
		}
	}
	return nil
}

// lostKeys says that the server lost what it stored, as far as a witness tells:
// somebody flushed it, it was started again, or a replica took over. What was
// granted then is not the limiter's doing.
func lostKeys(res *Result) string {
	for _, v := range res.Verdicts {
		if n := v.Value["restarts"]; v.Name == check.Accounting && n > 0 {
			return fmt.Sprintf("the server lost its keys during the run: the numbers that it gives to decisions began anew %.0f times", n)
		}
	}
	return ""
}

// weaknesses says why the run may not have shown a fault that is there. A
// fault that it did show is one all the same: the checks are sound however
// slow the machine is.
func (r *run) weaknesses(ctx context.Context, res *Result, j judging) []string {
	var weak []string
	add := func(format string, args ...any) { weak = append(weak, fmt.Sprintf(format, args...)) }
	if ctx.Err() != nil {
		how := "interrupted"
		if errors.Is(context.Cause(ctx), errFailed) {
			how = "stopped, for the command failed,"
		}
		add("the run was %s after %v", how, res.Duration.Round(time.Millisecond))
	} else if err := errors.Join(j.phase, j.clock); err != nil {
		add("the run did not end as planned: %v", err)
	}
	counts := r.driver.Counts()
	if answered := counts.Allowed + counts.Denied; answered < minAnswered {
		add("only %d requests were answered, %d are the least to judge by", answered, minAnswered)
	}
	if lost := counts.Unsent + counts.Unknown; float64(lost) > maxUnusable*float64(counts.Offered) {
		add("%d of %d requests had no usable answer", lost, counts.Offered)
	}
	if late := res.Latency.Lag.Quantile(0.9); late > maxLateP90 {
		add("the load generator missed its schedule: one send in ten was over %v late", late.Round(time.Millisecond))
	}
	return weak
}

// clockMoved says whether a clock stepped so far during the run that what was
// seen is void. What it strayed less is slack.
func (r *run) clockMoved(j judging, spec *check.Spec) string {
	length := r.driver.Elapsed()
	spec.ClockStray = j.stray
	if tooFar(j.stray, length) {
		return fmt.Sprintf("this machine's wall clock stepped by %v during the run", j.stray.Round(time.Millisecond))
	}
	if !j.before.ok || !j.after.ok {
		return ""
	}
	moved := (j.after.offset - j.before.offset).Abs()
	unsure := j.before.uncertainty + j.after.uncertainty
	if moved > unsure {
		spec.ClockStray = max(j.stray, moved+unsure)
	}
	if tooFar(moved-unsure, length) {
		return fmt.Sprintf("the server's clock stepped by %v against this machine's during the run", moved.Round(time.Millisecond))
	}
	return ""
}

// tooFar reports whether a clock that strayed was stepped, rather than slewed.
func tooFar(stray, length time.Duration) bool {
	return stray > maxClockStep && stray.Seconds() > maxDrift*length.Seconds()
}

// doubt turns verdicts into undecided and says why. Accounting and replay are
// left alone: they judge what took place, however little or late it was.
func (res *Result) doubt(why string, of ...check.Verdict) {
	res.Warnings = append(res.Warnings, why)
	for i := range res.Verdicts {
		v := &res.Verdicts[i]
		if v.Name != check.Accounting && v.Name != check.Replay && slices.Contains(of, v.Verdict) {
			v.Verdict = check.Undecided
			v.Detail = why + "; seen all the same: " + v.Detail
		}
	}
}

// contend makes a pass of over-admission undecided where the scenario is about
// contention and there was too little. The oracle in this process answers too
// fast to be met twice at once, and is atomic by its mutex.
func (r *run) contend(res *Result) {
	if sub := r.plan.Subject; sub.Reference && sub.Time == bucket.ProcessTime {
		return
	}
	want, got := r.plan.Scenario.InFlight, res.Report.Summary.MaxInFlight
	if got >= want {
		return
	}
	for i := range res.Verdicts {
		if v := &res.Verdicts[i]; v.Name == check.OverAdmission && v.Verdict == check.Pass {
			v.Verdict = check.Undecided
			v.Detail = fmt.Sprintf("no more than %d requests were in flight at once and %d are the least that says anything of atomicity; %s", got, want, v.Detail)
		}
	}
}

// sparse is how much more than [check.FewestGrants] an ideal bucket must grant
// an instance, so that no instance falls below them by chance.
const sparse = 1.5

// share skips fairness where the scenario, scaled to this limit, is too short
// for any limiter to grant enough: that says nothing of this one.
func (r *run) share(res *Result) {
	enough := sparse * check.FewestGrants * float64(len(r.driver.Instances))
	ideal := res.Report.Summary.TheoryAllowed
	for i := range res.Verdicts {
		if v := &res.Verdicts[i]; v.Name == check.Fairness && v.Verdict == check.Undecided && ideal < enough {
			v.Verdict = check.Skipped
			v.Detail = fmt.Sprintf("an ideal bucket grants %.0f here, and fairness is judged by %.0f or more", ideal, enough)
		}
	}
}

// unlooked says why nobody looked at what a limiter stores that tells of no keys.
func (r *run) unlooked(res *Result) {
	for i := range res.Verdicts {
		if v := &res.Verdicts[i]; v.Name == check.StateAudit && v.Verdict == check.Skipped && !r.plan.Subject.Stored {
			v.Detail = "the limiter tells of no keys in Redis that could be looked at"
		}
	}
}

// elsewhere skips the state audit where no key of the run was ever seen and yet
// nothing was granted that the limit does not allow: the limiter remembers, under
// names that do not hold the bucket's. A denial proves that it does; without one it
// may store nothing.
func (r *run) elsewhere(res *Result, samples []check.Sample) {
	if slices.ContainsFunc(samples, func(s check.Sample) bool { return len(s.Keys) > 0 }) {
		return
	}
	of := func(name string) *Verdict {
		return &res.Verdicts[slices.IndexFunc(res.Verdicts, func(v Verdict) bool { return v.Name == name })]
	}
	v := of(check.StateAudit)
	switch {
	case v.Verdict != check.Fail || of(check.OverAdmission).Verdict != check.Pass:
	case res.Report.Summary.Denied == 0:
		v.Verdict = check.Undecided
		v.Detail = "no key was seen under the bucket's name and nothing was denied: the limiter stores its state under another name, or not at all"
	default:
		v.Verdict = check.Skipped
		v.Detail = "no key was seen under the bucket's name, and the limit was kept: the limiter stores its state under another name"
	}
}

// excuse makes a failure undecided where a pass was expected of callers whose
// clocks are all the same and whose calls are not held on purpose, and slow
// calls explain it: a key that expired while readings were under way, or
// denials that differ from right ones by less than the reading's age is worth.
// Then the machine was too slow for this limit.
func (r *run) excuse(res *Result) {
	if !r.plan.Scenario.prompt() || r.shown != nil || r.own != nil && res.Time == bucket.ServerTime {
		return
	}
	for i := range res.Verdicts {
		v := &res.Verdicts[i]
		if v.Expected != ExpectPass || v.Verdict != check.Fail {
			continue
		}
		why := ""
		switch {
		case v.Name == check.AcceptRate && len(res.Spec.Leaps) > 0:
			continue // keys that expired early explain it as well
		case v.ExplainedByExpiry():
			why = "a key that expired while calls were under way explains this, the machine was too slow to decide"
		case (v.Name == check.SpuriousDenial || v.Name == check.AcceptRate) && v.WithinPrediction && res.Time == bucket.CallerTime:
			why = "the age of the callers' readings explains this, the machine was too slow to decide"
		default:
			continue
		}
		v.Verdict = check.Undecided
		v.Detail += ". " + strings.ToUpper(why[:1]) + why[1:]
	}
}

// prompt reports whether all clocks are the same and no call is held.
func (s *Scenario) prompt() bool {
	prompt := s.Synchronized()
	s.eachLoad(func(p *Phase) { prompt = prompt && p.Hold == nil })
	return prompt
}

// blurred is the longest call beyond which a fault in who is denied may not
// show.
const blurred = 50 * time.Millisecond

// blur makes a pass undecided where a failure was expected and calls took so
// long that they may hide it: requests that overlap hide up to 2·R·latency
// tokens from the upper bound, and the fault may be worth no more than a bucket.
// So it does where callers that asked as fast as they could emptied no bucket: a
// fault that shows after one was empty had no chance.
func (r *run) blur(res *Result) {
	for i := range res.Verdicts {
		v := &res.Verdicts[i]
		expected := v.Expected == ExpectFail || r.plan.Subject.MustShow(res.Scenario.Name, v.Name)
		if !expected || v.Verdict != check.Pass || v.Name == check.StateAudit {
			continue // what is stored shows, however long calls take
		}
		none := res.Report.Summary.Denied == 0 && (v.Expected == ExpectFail || res.Scenario.paced())
		if v.Name == check.OverAdmission && (none || r.sated.Load()) {
			res.haze(v, "nothing was denied in the run, or while callers asked as fast as they could: the machine was too slow to send more than the limit allows")
			continue
		}
		longest := r.overlap(res, v.Name)
		hidden := 2*res.Limit.Rate*longest.Seconds() + 1
		shown := min(res.Limit.Capacity, res.Report.Summary.PredictedPeakExcess)
		if v.Name == check.OverAdmission && shown > hidden || longest < blurred {
			continue
		}
		res.haze(v, fmt.Sprintf("calls took up to %v, which may hide the fault that was expected", longest.Round(time.Millisecond)))
	}
}

// paced reports whether replies pace some of the load, so that a slow machine
// sends less.
func (s *Scenario) paced() bool {
	paced := false
	s.eachLoad(func(p *Phase) { paced = paced || p.Closed != nil })
	return paced
}

// haze leaves a pass undecided where a failure was expected.
func (res *Result) haze(v *Verdict, why string) {
	v.Verdict = check.Undecided
	v.Detail = why + "; " + v.Detail
	res.Hazy = true
}

// overlap is how long a request can hide from a check when it was decided: the
// longest call, what it was held on purpose left out for that is meant to show
// the fault, or, for the bounds where they were judged at the server's
// instants, no longer than the server took. Of an unknown request nothing of the
// kind is known.
func (r *run) overlap(res *Result, name string) time.Duration {
	sum := &res.Report.Summary
	bound := name == check.OverAdmission || name == check.SpuriousDenial
	if bound && sum.Exact && sum.Unknown == 0 {
		return sum.Within
	}
	return r.driver.Longest()
}
