package check

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// The most steps of the model that are tried: what Porcupine remembers grows with
// every step of a look, and a step takes about a microsecond.
const (
	lookMost  = 200_000
	stepsMost = 1_000_000
)

// search looks for an order of a key's requests, one that calls and returns
// allow and in which the sequential model decides and stores what was seen. It
// shares nothing with checks 1, 2 and 5: Porcupine tries the orders.
type search struct {
	spec    *Spec
	timeout time.Duration // of a look
	steps   atomic.Int64  // of this look
	spent   int64         // steps of all looks so far
	gave    string        // after what a look at the excerpt gave up; "": none did
}

// position is what was decided so far in an order.
type position struct {
	begun  bool
	state  bucket.State
	open   bool  // what is stored is not known
	number int64 // of the last decision, where they are numbered
	free   int64 // requests decided of which nothing is known
}

// attempt is a request for the search to place.
type attempt struct {
	*quoted
	numbered bool // the key's decisions are
	free     bool // may have been decided in any way, at any time, or never
}

// seek looks for an order of the first n requests of an excerpt.
func (h *search) seek(e *excerpt, n int) porcupine.CheckResult {
	h.steps.Store(0)
	res := porcupine.CheckOperationsTimeout(h.model(), e.attempts(n), h.timeout)
	steps := h.steps.Load()
	h.spent += steps
	switch {
	case steps > lookMost:
		h.gave = fmt.Sprintf("after %d steps of the model", lookMost)
		return porcupine.Unknown
	case res == porcupine.Unknown:
		h.gave = fmt.Sprintf("after %v", h.timeout)
	}
	return res
}

// begin looks for an order of as many first requests of an excerpt as can be
// decided: of all, else of half of them, and so on.
func (h *search) begin(e *excerpt) (n int, res porcupine.CheckResult) {
	h.gave = ""
	for n = len(e.calls); ; n /= 2 {
		if res = h.seek(e, n); res != porcupine.Unknown || n/2 < excerptFewest {
			return n, res
		}
	}
}

// shortest narrows down the fewest first requests of an excerpt without an
// order, when the first n have none: with none for some, there is none for more.
// sure says that one fewer has an order; else the look at that took too long.
func (h *search) shortest(e *excerpt, n int) (fewest int, sure bool) {
	low := 0
	for low+1 < n {
		middle := (low + n) / 2
		switch h.seek(e, middle) {
		case porcupine.Illegal:
			n = middle
		case porcupine.Ok:
			low = middle
		default:
			return n, false
		}
	}
	return n, true
}

// attempts is the first n requests of an excerpt for the search. One that had not
// returned by the cut may have been decided behind the others, after requests
// that are left out. By its number that is known: it is then left out, too. (As
// anything goes for it otherwise, the search would try it everywhere.)
func (e *excerpt) attempts(n int) []porcupine.Operation {
	last := int64(0) // the largest number before the cut
	for i := range n {
		if !e.pending(i, n) {
			last = max(last, e.calls[i].seen.Sequence)
		}
	}
	ops := make([]porcupine.Operation, 0, n)
	for i := range n {
		q := &e.calls[i]
		a := &attempt{quoted: q, numbered: e.numbered, free: q.outcome == history.Unknown}
		if !a.free && e.pending(i, n) {
			if e.numbered && q.seen.Sequence > last {
				continue
			}
			a.free = !e.numbered
		}
		op := porcupine.Operation{ClientId: int(q.instance), Input: a, Call: q.call, Return: q.ret}
		if a.free {
			op.Return = never
		}
		ops = append(ops, op)
	}
	return ops
}

// model is the sequential bucket. A request that never was decided is placed
// behind all others, where it harms nobody.
func (h *search) model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return position{} },
		StepContext: func(_ context.Context, state, input, _ any) (bool, any) {
			if h.steps.Add(1) > lookMost {
				return false, state
			}
			next, ok := h.step(state.(position), input.(*attempt))
			return ok, next
		},
		Equal:             func(a, b any) bool { return a.(position).same(b.(position)) },
		Hash:              func(p any) uint64 { return p.(position).hash() },
		DescribeOperation: func(input, _ any) string { return input.(*attempt).String() },
		DescribeState:     func(p any) string { return p.(position).String() },
	}
}

// step decides a at p; false when the bucket does not decide as it did.
func (h *search) step(p position, a *attempt) (position, bool) {
	if !p.begun {
		p.begun, p.open = true, a.numbered
		if !h.spec.Witnessed && !a.free {
			p.number = a.seen.Sequence - 1
		}
	}
	switch {
	case a.free:
		return h.anyhow(p, a), true
	case a.numbered && !p.leads(a):
		return p, false
	case a.numbered:
		p.state, p.open, p.number = a.seen.Before, false, a.seen.Sequence
	}
	now, ok := h.time(a)
	if !ok {
		return p, false
	}
	next, allowed := h.spec.Model.Take(p.state, h.spec.Limit, now, a.cost)
	p.state = next
	return p, allowed == (a.outcome == history.Allowed) && (!a.numbered || identical(next, a.seen.After))
}

// leads says that a may be the next decision at p by its number and the state
// before it. If as many numbers as come before a's may have been lost replies',
// then they may have been given anew, on a store that had been lost.
func (p position) leads(a *attempt) bool {
	if a.seen.Sequence-1 <= p.free && p.free > 0 {
		return true
	}
	return a.seen.Sequence == p.number+1 && (p.open || identical(p.state, a.seen.Before))
}

// anyhow decides a request of which nothing is known but that it was called.
func (h *search) anyhow(p position, a *attempt) position {
	p.free++
	if a.numbered {
		p.number++
	}
	if h.spec.Time != bucket.CallerTime {
		p.open = true
	} else if !p.open {
		p.state, _ = h.spec.Model.Take(p.state, h.spec.Limit, h.reading(a), a.cost)
	}
	return p
}

// reading is what the caller's clock told the limiter, in its ticks.
func (h *search) reading(a *attempt) float64 {
	micros := time.Unix(0, a.clock).UnixMicro()
	return math.Floor(float64(micros) / (1e6 / h.spec.Model.TicksPerSecond))
}

// time is the time by which a was decided; false when it cannot have been.
func (h *search) time(a *attempt) (float64, bool) {
	if h.spec.Time == bucket.CallerTime {
		return h.reading(a), true
	}
	now := a.seen.After.Time
	micros := now * (1e6 / h.spec.Model.TicksPerSecond)
	tick := 1e6/h.spec.Model.TicksPerSecond - 1
	within := micros+tick >= float64(a.seen.BeforeMicros) && micros <= float64(a.seen.AfterMicros)
	return now, a.seen.After.Exists && (within || h.spec.ShiftedTime)
}

// identical says that two states are the same to the bit, but for the sign of 0.
func identical(a, b bucket.State) bool {
	return a == b || a.Exists && b.Exists && same(a.Tokens, b.Tokens) && same(a.Time, b.Time)
}

func same(a, b float64) bool { return a == b || math.Float64bits(a) == math.Float64bits(b) }

func (p position) same(q position) bool {
	return p.begun == q.begun && p.open == q.open && p.number == q.number && p.free == q.free && (p.open || identical(p.state, q.state))
}

func (p position) hash() uint64 {
	h := uint64(p.number)
	if !p.open {
		// + 0 makes one of the two zeros.
		h = h*0x9e3779b97f4a7c15 ^ math.Float64bits(p.state.Tokens+0)
		h = h*0x9e3779b97f4a7c15 ^ math.Float64bits(p.state.Time+0)
	}
	return h ^ h>>29
}

// String is what stands in the picture.
func (p position) String() string {
	words := "no key: full"
	switch {
	case p.open:
		words = "not known"
	case p.state.Exists:
		words = stored(p.state)
	}
	if p.number > 0 {
		words += fmt.Sprintf(" (#%d)", p.number)
	}
	return words
}

// String is what stands in the picture.
func (a *attempt) String() string {
	words := fmt.Sprintf("%s → %v", tokens(a.cost), a.outcome)
	if a.seen.Sequence > 0 {
		words += fmt.Sprintf(" #%d, %s → %s", a.seen.Sequence, stored(a.seen.Before), stored(a.seen.After))
	} else if a.clock != history.NoClock {
		words += fmt.Sprintf(" at %.3f ms", float64(a.clock)/1e6)
	}
	return words
}
