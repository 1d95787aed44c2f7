package lua_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"bucketproof/bucket"
)

// draw makes a random step: ordinary ones, edges and nonsense.
func (tr *trial) draw(server time.Time) *shot {
	r := tr.random
	s := &shot{limit: bucket.Limit{Rate: positive(r), Capacity: positive(r)}}
	if tr.tame || r.IntN(3) > 0 { // a limit whose level moves
		s.limit = bucket.Limit{Rate: math.Exp(r.Float64()*14 - 2), Capacity: math.Exp(r.Float64() * 8)}
	}
	key := fmt.Sprint("k", r.IntN(20))
	s.request = bucket.Request{Key: key, Cost: 1, Now: time.UnixMilli(1_700_000_000_000 + distance(r))}
	kind := r.IntN(6)
	if !tr.file.UsesCost {
		kind = 5
	}
	switch kind {
	case 0:
		s.request.Cost = min(r.Float64()*2*s.limit.Capacity, math.MaxFloat64)
	case 1:
		s.request.Cost = []float64{0, 0.5, 1e-9, s.limit.Capacity, 3, 1e300}[r.IntN(6)]
		if tr.tame {
			s.request.Cost = min(s.request.Cost, 1e6)
		}
	}
	if tr.tame || r.IntN(3) > 0 {
		return s
	}
	s.preset = &bucket.State{Exists: r.IntN(4) > 0}
	if s.preset.Exists {
		s.preset.Tokens = (r.Float64()*2 - 1) * s.limit.Capacity
		s.preset.Time = float64(1_700_000_000_000 + distance(r))
		if tr.file.Time == bucket.ServerTime {
			s.preset.Time = float64(server.UnixMicro() + distance(r))
		}
		odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 5e-324, math.MaxFloat64, -math.MaxFloat64, 1.0 / 3}
		switch r.IntN(8) {
		case 0:
			s.preset.Tokens = odd[r.IntN(len(odd))]
		case 1:
			s.preset.Time = odd[r.IntN(len(odd))]
		}
	}
	return s
}

// positive draws a rate or a capacity from all over the doubles.
func positive(r *rand.Rand) float64 {
	edges := []float64{1, 2, 100, 5000, 0.1, 1.0 / 3, 1e-6, 1e-20, 1e-300, 5e-324, 1e20, 1e300, math.MaxFloat64, 9007199254740993}
	if r.IntN(2) == 0 {
		return edges[r.IntN(len(edges))]
	}
	return math.Exp(r.Float64()*60 - 30)
}

// distance draws how far a clock is from where it was expected, in ticks.
func distance(r *rand.Rand) int64 {
	switch r.IntN(8) {
	case 0:
		return 0
	case 1:
		return -r.Int64N(1000)
	case 2, 3:
		return r.Int64N(1000)
	case 4:
		return r.Int64N(2e9) - 1e9
	case 5:
		return r.Int64N(2e15) - 1e15
	case 6:
		return []int64{math.MaxInt64 - 1_800_000_000_000_000_000, math.MinInt64, 1 << 53, -1 << 60}[r.IntN(4)]
	}
	return r.Int64N(100_000)
}
