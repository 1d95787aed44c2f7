package scenarios

import (
	"math"
	"strconv"
	"time"

	"bucketproof/bucket"
)

// Points expands the sweep: one scenario a point, named NAME/POINT, or the
// scenario itself where there is no sweep.
func (s *Scenario) Points() []Scenario {
	var points []Scenario
	for _, d := range s.Sweep.Spread {
		points = append(points, s.named(d.String()).spreadTo(d))
	}
	for _, k := range s.sweeps() {
		for _, to := range k.points {
			p := s.named(k.name(to))
			p.scaleSwept(k, to/k.largest(p))
			points = append(points, *p)
		}
	}
	for _, l := range s.Sweep.Limit {
		points = append(points, s.named(limitName(l)).Scaled(l))
	}
	for _, f := range s.Sweep.Load {
		points = append(points, s.named(number(f)).loaded(f))
	}
	if points == nil {
		return []Scenario{s.copy()}
	}
	return points
}

// swept is a figure of clocks or phases that a sweep sets.
type swept struct {
	field  string             // of the sweep
	points []float64          // ns or ppm, 0 or more
	figure func(*Clock) []any // pointers to what is set in a clock, Duration or PPM; nil: the loaded phases' length
}

// sweeps are the sweep's lists but for those over spread, limit and load.
func (s *Scenario) sweeps() []swept {
	return []swept{
		{"drift", floats(s.Sweep.Drift), func(c *Clock) []any { return []any{&c.Drift} }},
		{"jitter", floats(s.Sweep.Jitter), func(c *Clock) []any { return []any{&c.Jitter} }},
		{"step", floats(s.Sweep.Step), func(c *Clock) []any {
			var all []any
			for i := range c.Steps {
				all = append(all, &c.Steps[i].By)
			}
			return all
		}},
		{"strobe", floats(s.Sweep.Strobe), func(c *Clock) []any { return []any{&c.Strobe.By} }},
		{"for", floats(s.Sweep.For), nil},
	}
}

func floats[T ~int64 | ~float64](list []T) []float64 {
	var all []float64
	for _, v := range list {
		all = append(all, float64(v))
	}
	return all
}

// name is how a point is named.
func (k swept) name(to float64) string {
	if k.field == "drift" {
		return PPM(to).String()
	}
	return Duration(to).String()
}

// in lists pointers to the figure wherever s has one.
func (k swept) in(s *Scenario) []any {
	var all []any
	if k.figure == nil {
		s.eachLoad(func(p *Phase) {
			if p.Burst == 0 {
				all = append(all, &p.For)
			}
		})
		return all
	}
	for _, c := range s.clocks() {
		all = append(all, k.figure(c)...)
	}
	return all
}

// largest is the figure that a point sets, without its sign; 0: there is none.
func (k swept) largest(s *Scenario) float64 {
	most := 0.0
	for _, v := range k.in(s) {
		switch v := v.(type) {
		case *Duration:
			most = max(most, math.Abs(float64(*v)))
		case *PPM:
			most = max(most, math.Abs(float64(*v)))
		}
	}
	return most
}

// scaleSwept multiplies a figure wherever s has one.
func (s *Scenario) scaleSwept(k swept, factor float64) {
	for _, v := range k.in(s) {
		switch v := v.(type) {
		case *Duration:
			*v = times(*v, factor)
		case *PPM:
			*v *= PPM(factor)
		}
	}
}

// limitName is how a point of a sweep over limits is named: 33.3-7.
func limitName(l bucket.Limit) string {
	return number(l.Rate) + "-" + number(l.Capacity)
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// named is a copy of s as the point of that name.
func (s *Scenario) named(point string) *Scenario {
	c := s.copy()
	c.Name = s.Name + "/" + point
	c.Sweep = Sweep{}
	return &c
}

// copy shares nothing with s that scaling changes.
func (s *Scenario) copy() Scenario {
	c := *s
	c.Instances = append([]Group(nil), s.Instances...)
	for _, k := range c.clocks() {
		k.Steps = append([]Step(nil), k.Steps...)
	}
	c.Phases = copyPhases(s.Phases)
	return c
}

// clocks are the scenario's own, of the instances and of the server.
func (s *Scenario) clocks() []*Clock {
	all := []*Clock{&s.ServerClock}
	for i := range s.Instances {
		all = append(all, &s.Instances[i].Clock)
	}
	return all
}

func copyPhases(phases []Phase) []Phase {
	if phases == nil {
		return nil
	}
	c := append([]Phase(nil), phases...)
	for i := range c {
		p := &c[i]
		p.Open, p.Closed, p.Hold = clone(p.Open), clone(p.Closed), clone(p.Hold)
		p.Parallel, p.Phases = copyPhases(p.Parallel), copyPhases(p.Phases)
	}
	return c
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

// spread is the largest minus the smallest clock offset.
func (s *Scenario) spread() Duration {
	lo, hi := Duration(math.MaxInt64), Duration(math.MinInt64)
	for _, g := range s.Instances {
		lo, hi = min(lo, g.Clock.Offset), max(hi, g.Clock.Offset)
	}
	return hi - lo
}

// spreadTo scales all clock offsets so that their spread is d.
func (s *Scenario) spreadTo(d Duration) Scenario {
	c, factor := s.copy(), float64(d)/float64(s.spread())
	for i := range c.Instances {
		c.Instances[i].Clock.Offset = times(c.Instances[i].Clock.Offset, factor)
	}
	return c
}

// loaded multiplies the rates of all open loops.
func (s *Scenario) loaded(factor float64) Scenario {
	c := s.copy()
	c.eachLoad(func(p *Phase) {
		if p.Open != nil {
			p.Open.Rate = factors{rate: factor, limit: s.Limit.Rate, scaled: s.scaled}.open(p.Open.Rate)
		}
	})
	return c
}

// maxLonger is how many times longer or shorter than written a loaded phase may
// become to earn as many tokens as written under another limit.
const maxLonger = 5

// leastBurst is what a burst is not made smaller than, to fit a bucket of few
// tokens: fewer requests would not meet in it.
const leastBurst = 64

// loadMost is the rate in requests a second beyond which a machine may not keep
// up. A scaled load does not exceed it, but by as much as it takes to ask a
// quarter more of one bucket than it earns where more was asked as written.
const (
	loadMost = 4000
	loadOver = 1.25
)

// Scaled is s under another limit, with the shape kept: requests scale with
// the capacity, rates with the rate, and times that are measured against the
// bucket (idle stretches, holds, clock offsets and steps) with the fill time.
// A loaded phase becomes longer under a slower limit and shorter under a faster
// one, so that it earns as many tokens, up to five times, and what a clock does in
// it comes as much later or sooner. A burst shrinks to 64
// requests at least, and an open loop's rate grows to 4,000 requests a second,
// or to what still overloads a bucket that it overloaded.
func (s *Scenario) Scaled(l bucket.Limit) Scenario {
	c := s.copy()
	if l == s.Limit {
		return c
	}
	f := factors{
		tokens: l.Capacity / s.Limit.Capacity,
		rate:   l.Rate / s.Limit.Rate,
		limit:  l.Rate,
		scaled: true,
	}
	f.fill = f.tokens / f.rate
	f.load = min(max(1/f.rate, 1.0/maxLonger), maxLonger)
	c.Limit, c.scaled = l, true
	for list, factor := range map[*[]Duration]float64{
		&c.Sweep.Spread: f.fill, &c.Sweep.Jitter: f.fill, &c.Sweep.Step: f.fill, &c.Sweep.Strobe: f.fill, &c.Sweep.For: f.load,
	} {
		*list = append([]Duration(nil), *list...)
		for i := range *list {
			(*list)[i] = times((*list)[i], factor)
		}
	}
	f.scale(c.Phases)
	for _, k := range c.clocks() {
		k.Offset, k.Jitter = times(k.Offset, f.fill), times(k.Jitter, f.fill)
		k.Strobe = Strobe{times(k.Strobe.By, f.fill), times(k.Strobe.Every, f.fill)}
		k.Freeze.For = times(k.Freeze.For, f.fill)
		for j := range k.Steps {
			k.Steps[j].By = times(k.Steps[j].By, f.fill)
			k.Steps[j].At = moved(k.Steps[j].At, s.Phases, c.Phases)
		}
		k.Freeze.At = moved(k.Freeze.At, s.Phases, c.Phases)
	}
	return c
}

// moved is the instant in the new phases that at was in the written ones. A
// burst takes no time.
func moved(at Duration, written, scaled []Phase) Duration {
	var now Duration
	for i := range written {
		was, is := Duration(length(written[i:i+1])), Duration(length(scaled[i:i+1]))
		if at <= was && was > 0 {
			return now + times(at, float64(is)/float64(was))
		}
		at, now = at-was, now+is
	}
	return now + at
}

// factors are new over old, and what a rate of requests may grow to.
type factors struct {
	tokens, rate, fill, load float64
	limit                    float64 // the new rate itself
	scaled                   bool    // the limit is not the one as written
}

// open is another rate of requests.
func (f factors) open(written Rate) Rate {
	want := float64(written) * f.rate
	if !f.scaled {
		return Rate(want)
	}
	return Rate(min(want, max(float64(written), loadMost, min(want, loadOver*f.limit))))
}

func (f factors) scale(phases []Phase) {
	for i := range phases {
		p := &phases[i]
		if p.Hold != nil {
			p.Hold.From, p.Hold.To = times(p.Hold.From, f.fill), times(p.Hold.To, f.fill)
		}
		if p.Cost > 1 {
			p.Cost = max(1, math.Round(p.Cost*f.tokens))
		}
		switch {
		case p.Parallel != nil:
			f.scale(p.Parallel)
		case p.Repeat > 0:
			f.scale(p.Phases)
		case p.Burst > 0:
			p.Burst = max(min(p.Burst, leastBurst), int(math.Ceil(float64(p.Burst)*f.tokens)))
		case p.Open != nil:
			p.Open.Rate = f.open(p.Open.Rate)
			p.For = times(p.For, f.load)
		case p.Closed != nil:
			p.Closed.Think = times(p.Closed.Think, 1/f.rate)
			p.For = times(p.For, f.load)
		default:
			p.For = times(p.For, f.fill)
		}
	}
}

// times multiplies a duration, to the nearest nanosecond, saturating.
func times(d Duration, factor float64) Duration {
	v := float64(d) * factor
	if math.Abs(v) >= math.MaxInt64 {
		return Duration(math.Copysign(math.MaxInt64, v))
	}
	return Duration(math.Round(v))
}

// length is how long the phases take at least: bursts are counted as nothing.
func length(phases []Phase) time.Duration {
	var sum time.Duration
	for i := range phases {
		p := &phases[i]
		switch {
		case p.Parallel != nil:
			var longest time.Duration
			for j := range p.Parallel {
				longest = max(longest, length(p.Parallel[j:j+1]))
			}
			sum = saturated(sum, longest, 1)
		case p.Repeat > 0:
			sum = saturated(sum, length(p.Phases), p.Repeat)
		case p.Burst > 0:
		default:
			sum = saturated(sum, time.Duration(p.For), 1)
		}
	}
	return sum
}

func saturated(sum, d time.Duration, n int) time.Duration {
	if float64(sum)+float64(d)*float64(n) >= math.MaxInt64 {
		return math.MaxInt64
	}
	return sum + d*time.Duration(n)
}

// requests is about how many requests the phases send; closed loops without
// think time are counted as 2,000 a second a worker.
func requests(phases []Phase) float64 { return sent(phases, math.Inf(1)) }

// planned is requests with no more of a closed loop than a machine keeps up
// with, however many its workers are.
func planned(phases []Phase) float64 { return sent(phases, 50_000) }

// sent is how many requests the phases send when closed loops are answered at
// most so many a second.
func sent(phases []Phase, answered float64) float64 {
	var sum float64
	for i := range phases {
		p := &phases[i]
		lasts := time.Duration(p.For).Seconds()
		switch {
		case p.Parallel != nil:
			sum += sent(p.Parallel, answered)
		case p.Repeat > 0:
			sum += float64(p.Repeat) * sent(p.Phases, answered)
		case p.Burst > 0:
			sum += float64(p.Burst)
		case p.Open != nil:
			sum += float64(p.Open.Rate) * lasts
		case p.Closed != nil:
			gap := time.Duration(p.Closed.Think).Seconds() + 1.0/2000
			sum += min(answered, float64(p.Closed.Workers)/gap) * lasts
		}
	}
	return sum
}
