package scenarios

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"bucketproof/bucket/check"
	"bucketproof/bucket/history"
)

// The groups that formulas and figures name.
const (
	slowGroup = "slow"
	fastGroup = "fast"
)

// Prediction is a figure that theory predicts, beside the one measured.
type Prediction struct {
	Figure    string // one of figures
	Unit      string
	Measured  float64
	Predicted float64
	Tolerance float64 // 0 or more
	Borrowed  bool    // it is that of the limiter's model, which says nothing of its keys' lives
}

// Within reports whether the two figures differ by no more than the tolerance.
func (p Prediction) Within() bool { return math.Abs(p.Measured-p.Predicted) <= p.Tolerance }

// String tells both figures.
func (p Prediction) String() string {
	f := func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
	return fmt.Sprintf("%s is %s, theory predicts %s ± %s %s", p.Figure, f(p.Measured), f(p.Predicted), f(p.Tolerance), p.Unit)
}

// predict fills in what theory predicts, by the scenario's word for the limiter
// or, if it has none, for the limiter's model.
func (r *run) predict(res *Result) error {
	sub := r.plan.Subject
	formulas, named := res.Scenario.Predict[sub.Name]
	if !named && sub.ModelName != "" {
		formulas = res.Scenario.Predict[sub.ModelName]
	}
	if len(formulas) == 0 || res.Report.Summary.Answered() == 0 {
		return nil
	}
	m := newMeasure(res)
	for _, figure := range keys(formulas) {
		predicted, ok, err := formulas[figure].of(m.names)
		if err != nil {
			return fmt.Errorf("predict %s of %s in %s: %w", figure, res.Limiter, res.Scenario.Name, err)
		}
		if !ok {
			continue
		}
		p := Prediction{Figure: figure, Unit: figures[figure], Predicted: predicted, Borrowed: !named}
		p.Measured, p.Tolerance = m.figure(figure, predicted)
		res.Predictions = append(res.Predictions, p)
	}
	return nil
}

// swallowed reports whether what the figure may differ by is more than what is
// predicted to be seen, and that is more than a token or two.
func (p Prediction) swallowed() bool {
	return p.Figure == "peak_excess" && p.Predicted > 2 && p.Tolerance >= p.Predicted
}

// compare makes a run whose figure differs from the predicted one unexpected, or
// undecided where calls were too slow to tell; so it is where they were so slow that
// any figure would do. A prediction that is borrowed is
// shown and no more: a model says how a limiter decides, and not how long its
// keys live. Under overload a denial is proven wrong by a token or two, and where a
// call takes the time of one the last of a lock-out may not be.
func (r *run) compare(res *Result, doubted bool) {
	slow := max(r.driver.Longest(), res.Latency.Lag.Quantile(0.99))
	unproven := time.Duration(float64(time.Second) / res.Limit.Rate)
	for _, p := range res.Predictions {
		switch {
		case p.Borrowed, p.Within() && !(slow > blurred && p.swallowed()):
		case doubted || slow > blurred || slow > unproven && p.Figure == "lockout_s" && p.Measured < p.Predicted:
			res.Warnings = append(res.Warnings, fmt.Sprintf("%v; calls took, or were late by, up to %v: the machine was too slow to decide", p, slow.Round(time.Millisecond)))
			if res.Outcome == AsExpected {
				res.Outcome = Undecided
			}
		default:
			res.Warnings = append(res.Warnings, p.String())
			res.Outcome = Unexpected
		}
	}
}

// Astray is the first prediction that the limiter's figure is beyond and that
// counts; nil: none.
func (res *Result) Astray() *Prediction {
	for i := range res.Predictions {
		if p := &res.Predictions[i]; !p.Borrowed && !p.Within() {
			return p
		}
	}
	return nil
}

// longestHold is the longest that a call is held on purpose.
func (s *Scenario) longestHold() Duration {
	var held Duration
	s.eachLoad(func(p *Phase) {
		if p.Hold != nil {
			held = max(held, p.Hold.To)
		}
	})
	return held
}

// measure is what the figures of a run are computed from.
type measure struct {
	res   *Result
	names map[string]any // of formulas

	slowGrants, slowOffered float64 // of the group named slow
}

func newMeasure(res *Result) *measure {
	s, sum := &res.Scenario, &res.Report.Summary
	m := &measure{res: res}
	length := math.Max(float64(sum.End-sum.Start)/1e9, 1e-9)
	fast := 0.0
	groups := map[string]string{}
	for _, in := range s.instances() {
		groups[in.name] = in.group
	}
	for _, in := range sum.Instances {
		switch groups[in.Name] {
		case slowGroup:
			m.slowGrants += float64(in.Allowed)
			m.slowOffered += float64(in.Offered)
		case fastGroup:
			fast += float64(in.Offered)
		}
	}
	level, after := m.changed()
	size := seconds(s.spread())
	if d, ok := s.Disturbed(); ok {
		size = d.Size
		if d.Unit == "ppm" {
			size *= 1e-6 * length
		}
	}
	period := 0.0
	for _, c := range s.clocks() {
		period = max(period, seconds(c.Strobe.Every))
	}
	m.names = map[string]any{
		"R": res.Limit.Rate, "C": res.Limit.Capacity, "S": size, "P": period, "T": length,
		"lambda": float64(sum.Offered) / length, "slow": m.slowOffered / length, "fast": fast / length,
		"level": level, "after": after,
	}
	return m
}

// changed looks at the first instant at which a clock steps, strobes or stands
// still: the level of an ideal bucket then, and for how long from then on there
// were calls without a gap of a fill time, in seconds. (All clocks are
// synchronized until then, or the level means nothing.)
func (m *measure) changed() (level, after float64) {
	l, at := m.res.Limit, m.res.Scenario.firstChange()
	if at == math.MaxInt64 {
		return l.Capacity, 0
	}
	level = l.Capacity
	last, heard := int64(0), at
	earn := func(now int64) {
		level = min(l.Capacity, level+l.Rate*float64(now-last)/1e9)
		last = now
	}
	fill := int64(l.Capacity / l.Rate * 1e9)
	for i := range m.res.Operations {
		switch op := &m.res.Operations[i]; {
		case op.Call < at:
			earn(op.Call)
			if op.Outcome == history.Allowed {
				level = max(0, level-op.Cost)
			}
		case op.Call-heard >= fill:
			earn(at)
			return level, float64(heard-at) / 1e9
		default:
			heard = max(heard, op.Call)
		}
	}
	earn(at)
	return level, float64(heard-at) / 1e9
}

// firstChange is when the first clock steps, strobes or stands still, in ns from
// the start of the run; MaxInt64: none does.
func (s *Scenario) firstChange() int64 {
	at := Duration(math.MaxInt64)
	for _, c := range s.clocks() {
		for _, step := range c.Steps {
			at = min(at, step.At)
		}
		if c.Freeze.For > 0 {
			at = min(at, c.Freeze.At)
		}
		if c.Strobe.By != 0 {
			at = min(at, c.Strobe.Every)
		}
	}
	return int64(at)
}

// of is a figure of a check.
func (m *measure) of(name, figure string) float64 {
	for _, v := range m.res.Verdicts {
		if v.Name == name {
			return v.Value[figure]
		}
	}
	return 0
}

// figure is what was measured and by how much it may differ from what was
// predicted:
//
//   - tokens: one, and R × (the clock's granularity and stray, and the time that
//     the bursts of the worst window took, or its longest call, and a failover, in
//     which nothing is taken and a full bucket forgets what is earned meanwhile);
//   - tokens per second: that, over the length of the run, and four times 1/√n of
//     what is predicted, n being the requests: among n that come from two clocks at
//     random there are n/4 turns from one to the other, with a deviation of √n/4;
//   - durations: 5 % and 50 ms, or the time of two tokens if that is more, since a
//     lock-out is seen from the first token that is missed to the last;
//   - shares: grants are drawn from the requests of both groups. Of n grants the
//     slow ones' have a standard deviation of at most √(n·q·(1 − q)), q being the
//     part that is predicted, so four times that and four grants, over what is
//     fair. Where few are predicted, and yet some, it is two buckets and two grants
//     if that is more: once in a while no fast call comes for so long that a slow
//     one gets in, and what the next fast call then mints, a bucket at most, both
//     take from (seen: 6 grants of 305 where 0.1 are predicted);
//   - denials: none where none is predicted, else 5 %, the denials of 50 ms and
//     four standard deviations of their number.
func (m *measure) figure(name string, predicted float64) (measured, tolerance float64) {
	sum, l := &m.res.Report.Summary, m.res.Limit
	length, lambda := m.names["T"].(float64), m.names["lambda"].(float64)
	peak := m.of(check.OverAdmission, "peak_excess")
	tokens := 1 + l.Rate*(m.res.Spec.Granularity+m.res.Spec.ClockStray+m.unsure()+m.leaping()).Seconds()
	switch name {
	case "peak_excess":
		return peak, tokens
	case "excess_per_s":
		return peak / length, tokens/length + 4*math.Abs(predicted)/math.Sqrt(lambda*length)
	case "lockout_s":
		return m.of(check.SpuriousDenial, "longest_s"), 0.05*math.Abs(predicted) + max(0.05, 2/l.Rate)
	case "slow_share":
		fair := m.slowOffered / float64(max(sum.Offered, 1))
		n := float64(sum.Allowed)
		if fair == 0 || n == 0 {
			return 0, 0
		}
		q := min(max(predicted*fair, 0), 1)
		few := 4.0
		if n*q > 0.01 && n*q < few {
			few = max(few, 2*(l.Capacity+1))
		}
		return m.slowGrants / n / fair, (4*math.Sqrt(n*q*(1-q)) + few) / (n * fair)
	}
	count := m.of(check.SpuriousDenial, "count")
	if predicted == 0 {
		return count, 0
	}
	return count, 0.05*math.Abs(predicted) + 0.05*lambda + 4*math.Sqrt(math.Abs(predicted))
}

// unsure is how long the instants of the decisions in the worst window are
// unknown. Where it holds nothing but bursts that is its own length without what
// was planned, holds and idle stretches; else it is the time that its bursts took,
// and its longest call that is in none, beyond its hold.
func (m *measure) unsure() time.Duration {
	start, end := m.window()
	type burst struct{ size, call, reply int64 }
	bursts := map[int64]*burst{} // by due time
	for i := range m.res.Operations {
		op := &m.res.Operations[i]
		if op.Return == history.Forever || op.Call > end || op.Return < start {
			continue
		}
		b, ok := bursts[op.Due]
		if !ok {
			b = &burst{call: op.Call}
			bursts[op.Due] = b
		}
		b.size++
		b.reply = max(b.reply, op.Return)
	}
	held := int64(m.res.Scenario.longestHold())
	var sum, longest int64
	single := false
	for due, b := range bursts {
		if b.size > 1 {
			sum += b.reply - due
			continue
		}
		single = true
		longest = max(longest, b.reply-b.call-held)
	}
	if single {
		return time.Duration(sum + longest)
	}
	return time.Duration(max(0, end-start-held-int64(length(m.res.Scenario.Phases))))
}

// leaping is how long the server's clock took to go forward.
func (m *measure) leaping() time.Duration {
	var longest int64
	for _, leap := range m.res.Spec.Leaps {
		longest = max(longest, leap.To-leap.From)
	}
	return time.Duration(longest)
}

// window is the worst window of over-admission, or the whole run.
func (m *measure) window() (start, end int64) {
	i := slices.IndexFunc(m.res.Verdicts, func(v Verdict) bool { return v.Name == check.OverAdmission })
	if i >= 0 && m.res.Verdicts[i].Evidence != nil && m.res.Verdicts[i].Evidence.Window != nil {
		w := m.res.Verdicts[i].Evidence.Window
		return w.StartNS, w.EndNS
	}
	return m.res.Report.Summary.Start, m.res.Report.Summary.End
}
