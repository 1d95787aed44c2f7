package check

import (
	"cmp"
	"math"
	"slices"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// FuzzFastEqualsSlow turns bytes into a history on a coarse grid, four a
// request, and holds checks 1 and 2 against their slow twins.
func FuzzFastEqualsSlow(f *testing.F) {
	f.Add([]byte{3, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0})
	f.Add([]byte{1, 9, 5, 10, 0, 0, 15, 3, 0, 17, 6, 1, 2, 8, 2, 30, 0, 3, 30, 12, 65})
	f.Add([]byte("a held call, two keys, three instances and some costs"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 4 || len(data) > 4+4*24 {
			return
		}
		spec := Spec{
			Limit:         bucket.Limit{Rate: []float64{0.5, 1, 3, 10}[data[0]%4], Capacity: []float64{1, 2, 2.5, 5}[data[0]/4%4]},
			Granularity:   time.Duration(data[1]%3) * 50 * time.Millisecond,
			RateTolerance: float64(data[1]/3%2) * 0.01, Retries: int(data[2] % 3), EmptyStart: data[2]/3%2 == 1,
			Time: []bucket.TimeSource{bucket.CallerTime, bucket.ServerTime}[data[3]%2],
		}
		compareWithBrute(t, uint64(data[3]), spec, fromBytes(data[4:]))
	})
}

// fromBytes reads call, length, outcome with key and instance, and cost.
func fromBytes(data []byte) []history.Operation {
	var ops []history.Operation
	for ; len(data) >= 4; data = data[4:] {
		o := history.Operation{
			Call: int64(data[0]%64) * tick, Cost: []float64{1, 1, 2, 0.5}[data[3]%4],
			Outcome: history.Outcome(data[2]%4 + 1), Clock: history.NoClock,
			Key: string('a' + rune(data[2]/4%2)), Instance: string('x' + rune(data[2]/8%3)), Remaining: math.NaN(), RetryAfter: -1,
		}
		o.Due, o.Return = o.Call, o.Call+int64(data[1]%16)*tick
		if o.Outcome == history.Unknown && data[1] > 127 {
			o.Return = history.Forever
		}
		if data[3] > 127 {
			o.Clock = o.Call + int64(data[3]%8)*tick
		}
		ops = append(ops, o)
	}
	slices.SortStableFunc(ops, func(a, b history.Operation) int { return cmp.Compare(a.Call, b.Call) })
	return ops
}
