package plot

import (
	"sort"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// step is a grant on a staircase: at an instant the total rises by a cost.
type step struct {
	at   float64 // nanoseconds since the zero of the trace
	cost float64
	who  int // index of the instance; -1: none of those that are told apart
}

// staircase is a total that never falls, in order of time.
type staircase []step

// through is the total at t.
func (s staircase) through(t float64) float64 {
	total := 0.0
	for _, x := range s {
		if x.at > t {
			break
		}
		total += x.cost
	}
	return total
}

// column is what a staircase does within one narrow stretch of the picture.
type column struct {
	at    float64   // of its first step, nanoseconds
	total float64   // after its last step
	parts []float64 // of the rise, by instance
}

// columns thins the steps in [from, to] out to at most n. No total is lost:
// each column keeps the time of its first step and the total after its last,
// so that the picture is never off by more than the width of a column.
func (s staircase) columns(from, to float64, n, instances int) []column {
	var list []column
	total, last := 0.0, -1
	width := (to - from) / float64(n)
	for _, x := range s {
		if x.at > to {
			break
		}
		total += x.cost
		if x.at < from {
			continue
		}
		i := 0
		if width > 0 {
			i = min(n-1, int((x.at-from)/width))
		}
		if i != last {
			list = append(list, column{at: x.at, parts: make([]float64, instances)})
			last = i
		}
		c := &list[len(list)-1]
		c.total = total
		if x.who >= 0 && x.who < instances {
			c.parts[x.who] += x.cost
		}
	}
	return list
}

// recorded turns operations into staircases: times count from zero, instances
// are told apart by index.
type recorded struct {
	ops   []history.Operation
	zero  int64
	index map[string]int
}

// granted places the allowed operations at their returns: by then they were
// surely granted.
func (r recorded) granted() staircase {
	var s staircase
	for _, op := range r.ops {
		if op.Outcome == history.Allowed {
			s = append(s, r.step(op, op.Return))
		}
	}
	sort.SliceStable(s, func(i, j int) bool { return s[i].at < s[j].at })
	return s
}

// denied places the denied operations at their calls.
func (r recorded) denied() staircase { return r.called(history.Denied, history.Denied) }

// lost places the operations without a usable answer at their calls.
func (r recorded) lost() staircase { return r.called(history.Unsent, history.Unknown) }

func (r recorded) called(outcome, or history.Outcome) staircase {
	var s staircase
	for _, op := range r.ops {
		if op.Outcome == outcome || op.Outcome == or {
			s = append(s, r.step(op, op.Call))
		}
	}
	return s
}

// exact counts nanoseconds.
var exact = bucket.Rule{TicksPerSecond: 1e9}

// ideal is what a perfect bucket for each key grants to the same requests, at
// their calls.
func (r recorded) ideal(l bucket.Limit) staircase {
	var s staircase
	states := make(map[string]bucket.State)
	for _, op := range r.ops {
		if op.Outcome == history.Unsent {
			continue
		}
		state, allowed := exact.Take(states[op.Key], l, float64(op.Call-r.zero), op.Cost)
		states[op.Key] = state
		if allowed {
			s = append(s, r.step(op, op.Call))
		}
	}
	return s
}

func (r recorded) step(op history.Operation, at int64) step {
	who, known := r.index[op.Instance]
	if !known {
		who = -1
	}
	return step{at: float64(at - r.zero), cost: op.Cost, who: who}
}
