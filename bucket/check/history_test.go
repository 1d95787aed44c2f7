package check

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// tick is the grid that random histories stand on: coarse, so that calls and
// returns tie often.
const tick = 100_000_000 // ns

// all is a history in memory.
func all(ops []history.Operation) iter.Seq2[*history.Operation, error] {
	return func(yield func(*history.Operation, error) bool) {
		for i := range ops {
			if !yield(&ops[i], nil) {
				return
			}
		}
	}
}

// shape is what a random history looks like.
type shape struct {
	spec      Spec
	n         int
	keys      int
	instances int
	span      int64     // ticks over which calls are spread
	latency   int64     // ticks, the most
	held      float64   // share of calls that take ten times the latency
	costs     []float64 // drawn from
	unknown   float64   // share
	denied    float64   // share of the answered
	clocks    bool      // operations tell their clocks
	origin    int64     // the first call, about
	fine      bool      // times off the grid
}

var (
	unit     = []float64{1}
	whole    = []float64{1, 1, 2, 3}
	fraction = []float64{0.5, 1, 1.25, 2}
)

// randomShape draws everything that a check may depend on.
func randomShape(rng *rand.Rand) shape {
	pick := func(list ...float64) float64 { return list[rng.IntN(len(list))] }
	s := shape{
		n: 1 + rng.IntN(24), keys: 1 + rng.IntN(2), instances: 1 + rng.IntN(3),
		span: 1 + rng.Int64N(40), latency: rng.Int64N(8), held: pick(0, 0, 0.2),
		costs: [][]float64{unit, unit, whole, fraction}[rng.IntN(4)], unknown: pick(0, 0, 0.1),
		denied: pick(0.2, 0.5, 0.8), clocks: rng.IntN(2) == 0, fine: rng.IntN(4) == 0,
		origin: int64(pick(0, 0, 1.8e18, -3e12)),
	}
	s.spec = Spec{
		Limit:       bucket.Limit{Rate: pick(0.5, 1, 3, 10), Capacity: pick(1, 1, 2, 2.5, 5)},
		Granularity: []time.Duration{0, time.Millisecond, 100 * time.Millisecond}[rng.IntN(3)], RateTolerance: pick(0, 0, 1e-4, 0.01),
		Retries: rng.IntN(3), EmptyStart: rng.IntN(4) == 0, Time: []bucket.TimeSource{bucket.CallerTime, bucket.ServerTime}[rng.IntN(2)],
	}
	return s
}

// history draws a history of the shape. No bucket decided it: it is only
// well-formed.
func (s *shape) history(rng *rand.Rand) []history.Operation {
	unit := int64(tick)
	if s.fine {
		unit = tick + 12_345_677
	}
	ops := make([]history.Operation, s.n)
	for i := range ops {
		call := s.origin + rng.Int64N(s.span)*unit
		took := rng.Int64N(s.latency+1) * unit
		if rng.Float64() < s.held {
			took *= 10
		}
		op := history.Operation{
			Due: call, Call: call, Return: call + took, Clock: history.NoClock,
			Key: string(rune('a' + rng.IntN(s.keys))), Instance: string(rune('x' + rng.IntN(s.instances))),
			Cost: s.costs[rng.IntN(len(s.costs))], Outcome: history.Allowed,
			Remaining: math.NaN(), RetryAfter: -1,
		}
		if s.clocks {
			op.Clock = 1_700_000_000_000_000_000 + call + rng.Int64N(5)*unit
		}
		switch p := rng.Float64(); {
		case p < s.unknown:
			op.Outcome = history.Unknown
			if rng.IntN(2) == 0 {
				op.Return = history.Forever
			}
		case p < s.unknown+0.03:
			op.Outcome = history.Unsent
		case rng.Float64() < s.denied:
			op.Outcome = history.Denied
		}
		ops[i] = op
	}
	slices.SortStableFunc(ops, func(a, b history.Operation) int { return int(min(1, max(-1, a.Call-b.Call))) })
	return ops
}

// onlyKey is the operations on one key.
func onlyKey(ops []history.Operation, key string) []history.Operation {
	return slices.DeleteFunc(slices.Clone(ops), func(o history.Operation) bool { return o.Key != key })
}

func keysOf(ops []history.Operation) []string {
	var keys []string
	for _, o := range ops {
		keys = append(keys, o.Key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// randomOf is the source of a property's seed.
func randomOf(seed, property uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, property)) }
