package capacity

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Wish is what a plan is for.
type Wish struct {
	TargetPS float64 // decisions a second; 0: not told
	Keys     float64 // live buckets; 0: not told
	Headroom float64 // share of a shard to keep free, 0..1
}

// DefaultHeadroom is kept free where nothing else is asked for.
const DefaultHeadroom = 0.4

// exampleKeys is how many buckets the memory is computed for where none are told.
const exampleKeys = 1e6

// unmeasured is what no plan here knows.
var unmeasured = []string{
	"the network between the service's hosts and Redis: everything here went over this machine's loopback or the given address",
	"other tenants of the Redis and of its machine",
	"persistence (RDB, AOF): a fork doubles the pages that are written meanwhile",
	"replication and failover",
	"how evenly keys spread over shards: one hot key stays on one shard",
}

// planner writes formulas down while it computes them.
type planner struct {
	p *Plan
}

func (p planner) line(name, text, inputs string, value float64, unit string) float64 {
	p.p.Formulas = append(p.p.Formulas, Formula{Name: name, Text: text, Inputs: inputs, Value: value, Unit: unit})
	return value
}

// newPlan computes what a wish takes, from what was measured of a limiter. Where
// no target is wished for it is the plan of one shard at its full rate.
func newPlan(r *Result, t perBucket, w Wish) *Plan {
	plan := &Plan{TargetPS: w.TargetPS, Keys: w.Keys, Headroom: w.Headroom, Formulas: []Formula{}, Unmeasured: unmeasured}
	p := planner{plan}
	basis, from := r.basis()
	if basis == 0 {
		plan.Refused = "nothing was measured that a plan could rest on"
		return plan
	}
	shard := p.line("rate of a shard", "measured rate × (1 − headroom)",
		fmt.Sprintf("%s × (1 − %s), %s", thousands(basis), share(w.Headroom), from), basis*(1-w.Headroom), "decisions/s")
	if shard <= 0 {
		plan.Refused = "a headroom of 100 % leaves nothing to plan with"
		return plan
	}
	target := w.TargetPS
	if target == 0 {
		plan.Refused = "no --target was given: these are the figures of one shard at the rate of a shard"
		target = shard
	}
	plan.Shards = int(p.line("shards", "⌈target ÷ rate of a shard⌉", thousands(target)+" ÷ "+thousands(shard), math.Ceil(target/shard*(1-1e-9)), "shards"))
	each := p.line("load of a shard", "target ÷ shards", fmt.Sprintf("%s ÷ %d", thousands(target), plan.Shards), target/float64(plan.Shards), "decisions/s")
	p.memory(&r.Memory, t, w)
	p.connections(r, each)
	p.instances(r, target)
	p.server(r, each)
	return plan
}

// useful is the share of the closed loop's peak from which on a rate that met the
// objective says something of Redis although the knee is refused.
const useful = 0.5

// basis is the rate that the plan rests on: the knee; where that is refused the
// highest rate that met the objective, which Redis carries at least; and where
// that is far below the closed loop's peak the peak, which knows no objective.
func (r *Result) basis() (rate float64, from string) {
	peak, at := r.peak(false)
	switch {
	case r.Knee.RatePS != nil:
		return *r.Knee.RatePS, "the knee at " + r.Knee.SLO
	case r.Knee.MetPS > useful*peak:
		return r.Knee.MetPS, "the highest rate that met " + r.Knee.SLO + ": the knee is refused, so Redis carries at least this and the shards are at most these"
	case peak > 0:
		return peak, fmt.Sprintf("the closed loop's peak with %d callers, whatever the latency: the knee at %s is refused", at, r.Knee.SLO)
	}
	return 0, ""
}

// peak is the best level of the sweep and its callers.
func (r *Result) peak(pipelined bool) (rate float64, n int) {
	for _, l := range r.Connections {
		if l.Pipelined == pipelined && l.ThroughputPS > rate {
			rate, n = l.ThroughputPS, l.N
		}
	}
	return rate, n
}

func (p planner) memory(m *Memory, t perBucket, w Wish) {
	if m.EntryBytes == 0 {
		p.line("memory of a shard", "buckets of a shard × bytes + hash tables", "not known: "+m.Why, 0, "bytes")
		return
	}
	keys, given := w.Keys, "live buckets"
	if keys == 0 {
		keys, given = exampleKeys, "live buckets for example, no --keys was given"
	}
	each := p.line("buckets of a shard", "live buckets ÷ shards", fmt.Sprintf("%s %s ÷ %d", thousands(keys), given, p.p.Shards), math.Ceil(keys/float64(p.p.Shards)), "buckets")
	tables := p.line("hash tables of a shard", "1.5 × 8 bytes × the next power of two of the entries, keys and expiries: the old table stands beside the new one while it doubles",
		fmt.Sprintf("%s buckets, each %.3g of the keys and %.3g of the expiries", thousands(each), t.keys, t.expires),
		growingBytes(each*t.keys)+growingBytes(each*t.expires), "bytes")
	p.p.MemoryBytes = p.line("memory of a shard", "buckets of a shard × bytes of a bucket + hash tables",
		fmt.Sprintf("%s × %.1f + %s, names of %.0f bytes", thousands(each), m.EntryBytes, thousands(tables), m.KeyBytes),
		math.Ceil(each*m.EntryBytes+tables), "bytes")
	if rate, stay := p.rate(), m.IdleKeyS; rate > 0 && stay > 0 {
		p.line("new buckets that can be alive on a shard", "load of a shard × life of an idle bucket", fmt.Sprintf("%s × %.3g s", thousands(rate), stay), rate*stay, "buckets")
	}
}

// rate is the load of a shard that was computed before.
func (p planner) rate() float64 {
	for _, f := range p.p.Formulas {
		if f.Name == "load of a shard" {
			return f.Value
		}
	}
	return 0
}

func (p planner) connections(r *Result, each float64) {
	us, from := r.serviceTime()
	if us == 0 {
		return
	}
	p.p.Connections = int(p.line("connections to a shard", "⌈load of a shard × service p99⌉ (Little's law, for plain callers)",
		fmt.Sprintf("%s × %s, %s", thousands(each), latency(us), from), math.Max(1, math.Ceil(each*us/1e6)), "connections"))
}

// serviceTime is how long a call takes near the rate that the plan rests on, µs.
func (r *Result) serviceTime() (us float64, from string) {
	for _, s := range r.Knee.Steps {
		if s.Verdict == stepMet && s.RatePS == r.Knee.MetPS {
			us, from = s.ServiceP99, fmt.Sprintf("at %s a second", thousands(s.RatePS))
		}
	}
	if us > 0 {
		return us, from
	}
	_, n := r.peak(false)
	for _, l := range r.Connections {
		if !l.Pipelined && l.N == n {
			return l.P99US, fmt.Sprintf("with %d callers", n)
		}
	}
	return 0, ""
}

func (p planner) instances(r *Result, target float64) {
	peak, n := r.peak(false)
	if peak == 0 {
		return
	}
	p.p.Instances = int(p.line("instances", "⌈target ÷ (rate of one process × (1 − headroom))⌉",
		fmt.Sprintf("%s ÷ (%s × (1 − %s)), this process with %d plain callers, beside Redis on the same processors if it is local", thousands(target), thousands(peak), share(p.p.Headroom), n),
		math.Ceil(target/(peak*(1-p.p.Headroom))*(1-1e-9)), "instances"))
}

func (p planner) server(r *Result, each float64) {
	if c := r.Cost; c.RedisUSPerCall > 0 {
		p.line("main thread of a shard", "load of a shard × time a decision", fmt.Sprintf("%s × %.3g µs", thousands(each), c.RedisUSPerCall), each*c.RedisUSPerCall/1e6, "of one processor")
	}
	if c := r.Cost; c.NetBytesPerCall > 0 {
		p.line("network of a shard", "load of a shard × bytes a decision × 8", fmt.Sprintf("%s × %.0f × 8", thousands(each), c.NetBytesPerCall), each*c.NetBytesPerCall*8, "bit/s")
	}
}

// share renders 0.4 as 40 %.
func share(v float64) string { return fmt.Sprintf("%.3g %%", 100*v) }

// thousands renders a figure of four or more digits with commas.
func thousands(v float64) string {
	text := strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	if v < 1000 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	var b strings.Builder
	for i, c := range text {
		if i > 0 && (len(text)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}
