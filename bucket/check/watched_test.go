package check

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// watched is a simulated run of a limiter of the reference family in one Redis
// that sees every decision: blocks one after another, each with the server's
// clock before and after it, the states around it and its number.
type watched struct {
	rule   bucket.Rule // what the limiter does
	limit  bucket.Limit
	source bucket.TimeSource
	frozen bool  // the server's clock stands still in a block
	ahead  int64 // of the server's clock to the history's, ns
	ttl    int64 // ms

	leap  func(at int64) int64 // by how much the server's clock has leapt, ns; nil: never
	shown shifts               // the TIME that the script is shown

	ops   []history.Operation
	plans []plan
	cells map[string]*cell
	busy  int64 // the server is until then, ns

	decided []int // operations in the order in which they were decided
}

// plan is what happens to a request.
type plan struct {
	arrives int64 // ns
	took    int64 // the block, ns
	back    int64 // from the end of the block to the return, ns
	lost    bool  // the reply is; for a lost request that never arrives, arrives is 0
	twice   bool  // the client sends it again, for it lost the first reply
	flush   bool  // everything stored is lost before it
}

// cell is one bucket on the server.
type cell struct {
	state    bucket.State
	expires  int64 // ms; there up to this one
	sequence int64
}

// spec is what the run is judged by, without the search for an order.
func (w *watched) spec() Spec {
	return Spec{
		Limit: w.limit, Time: w.source, Model: &w.rule, Witnessed: true, LinearizeTimeout: -1,
		Granularity: time.Duration(1e9 / w.rule.TicksPerSecond), RateTolerance: DefaultRateTolerance,
	}
}

// drawWatched draws a run of n requests.
func drawWatched(rng *rand.Rand, n int) *watched {
	pick := func(list ...float64) float64 { return list[rng.IntN(len(list))] }
	w := &watched{
		rule: bucket.RuleRedisTime, source: bucket.ServerTime,
		limit:  bucket.Limit{Rate: pick(3, 10, 100, 1000), Capacity: pick(1, 2, 5, 20)},
		frozen: rng.IntN(2) == 0, ahead: int64(epoch) + rng.Int64N(int64(time.Hour)) - int64(30*time.Minute),
	}
	if rng.IntN(3) == 0 {
		w.rule, w.source = bucket.RuleAppClock, bucket.CallerTime
		if rng.IntN(2) == 0 {
			w.rule = bucket.RuleAppClockMonotonic
		}
	}
	fill := float64(w.limit.FillTime())
	delay, back, took := pick(0.0001, 0.01, 0.2, 1)*fill, pick(0.0001, 0.01, 0.2)*fill, pick(1e4, 1e5, 3e6)
	gap := 1e9 / w.limit.Rate / pick(0.5, 1, 2, 5)
	keys, clocks, lost := 1+rng.IntN(3), 1+rng.IntN(3), pick(0, 0, 0.05)
	spread := int64(pick(0, 0.01, 0.5)*fill) + 1
	skews := []int64{0, rng.Int64N(spread), rng.Int64N(spread)}
	t := rng.Float64() * 1e9
	for range n {
		t += rng.ExpFloat64() * gap
		if rng.IntN(50) == 0 {
			t += pick(0.5, 1.01, 2) * fill
		}
		i := rng.IntN(clocks)
		w.add(rng, int64(t), string(rune('a'+rng.IntN(keys))), string(rune('x'+i)), skews[i], plan{
			arrives: int64(t + rng.Float64()*delay), took: int64(rng.ExpFloat64()*took) + 1000, back: int64(rng.Float64() * back),
			lost: rng.Float64() < lost,
		})
	}
	return w
}

// add plans a request.
func (w *watched) add(rng *rand.Rand, call int64, key, instance string, skew int64, p plan) {
	if p.lost && rng.IntN(2) == 0 {
		p.arrives = 0
	}
	w.ops = append(w.ops, history.Operation{
		Due: call, Call: call, Return: history.Forever, Clock: int64(epoch) + call + skew,
		Key: key, Instance: instance, Cost: 1, Outcome: history.Unknown, Remaining: math.NaN(), RetryAfter: -1,
	})
	w.plans = append(w.plans, p)
}

// run decides every request that arrives, in order of arrival.
func (w *watched) run() []history.Operation {
	w.cells = make(map[string]*cell)
	w.ttl = int64(w.limit.TTLMillis())
	for i, p := range w.plans {
		if p.arrives > 0 {
			w.decided = append(w.decided, i)
		}
	}
	slices.SortStableFunc(w.decided, func(a, b int) int { return cmp.Compare(w.plans[a].arrives, w.plans[b].arrives) })
	for _, i := range w.decided {
		if w.plans[i].flush {
			clear(w.cells)
		}
		w.decide(&w.ops[i], w.plans[i])
		if w.plans[i].twice {
			w.decide(&w.ops[i], w.plans[i])
		}
	}
	slices.SortStableFunc(w.ops, func(a, b history.Operation) int { return cmp.Compare(a.Call, b.Call) })
	return w.ops
}

// decide runs one block.
func (w *watched) decide(op *history.Operation, p plan) {
	begin := max(p.arrives, w.busy)
	script := begin + p.took/2
	end := begin + p.took
	w.busy = end
	if w.frozen {
		script, end = begin, begin
	}
	if w.leap != nil {
		leapt := w.leap(begin)
		begin, script, end = begin+leapt, script+leapt, end+leapt
	}
	c := w.cells[op.Key]
	if c == nil {
		c = &cell{}
		w.cells[op.Key] = c
	}
	seen := bucket.Witness{BeforeMicros: (begin + w.ahead) / 1000, AfterMicros: (end + w.ahead) / 1000, Before: c.read(begin + w.ahead)}
	now := float64((script + w.ahead + w.shown.at(script)) / 1000)
	if w.source == bucket.CallerTime {
		now = float64(op.Clock / 1e6)
	}
	next, allowed := w.rule.Take(c.read(script+w.ahead), w.limit, now, op.Cost)
	c.state, c.expires = next, (script+w.ahead)/1e6+w.ttl
	c.sequence++
	seen.Sequence, seen.After = c.sequence, c.read(end+w.ahead)
	if p.lost {
		op.Return = w.busy + p.back
		return
	}
	op.Witness, op.Return, op.Outcome = seen, w.busy+p.back, history.Denied
	if allowed {
		op.Outcome = history.Allowed
	}
}

// read is the state at an instant of the server's clock.
func (c *cell) read(at int64) bucket.State {
	if at/1e6 > c.expires {
		return bucket.State{}
	}
	return c.state
}
