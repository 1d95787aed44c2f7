package capacity

import (
	"math"
	"testing"
)

// filled is a server's memory with n buckets of so many bytes, beside what it
// holds anyway.
func filled(n int, entry, keys, expires float64) filling {
	k := keyCount{7 + keys*float64(n), 2 + expires*float64(n)}
	return filling{n, heap{used: 1_000_000 + 2048 + entry*float64(n) + k.tables(), keys: k}}
}

// TestWeighPredictsAcrossDoublings: between 100,000 and a million buckets the
// tables double three or four times, which a straight line does not know.
func TestWeighPredictsAcrossDoublings(t *testing.T) {
	empty := heap{used: 1_000_000, keys: keyCount{7, 2}}
	for _, counts := range [][]int{{10_000, 100_000, 1_000_000}, {10_000, 100_000, 1_050_000}, {5000, 20_000, 70_000}} {
		for _, expires := range []float64{0, 1} {
			var all []filling
			for _, n := range counts {
				all = append(all, filled(n, 183.5, 1, expires))
			}
			m, _ := weigh(empty, all)
			last := m.Points[2]
			if off := last.Predicted/last.UsedBytes - 1; math.Abs(off) > 0.001 {
				t.Errorf("%v: predicted %.0f of %.0f bytes", counts, last.Predicted, last.UsedBytes)
			}
			if math.Abs(m.EntryBytes-183.5) > 0.01 {
				t.Errorf("%v: an entry has %v bytes, want 183.5", counts, m.EntryBytes)
			}
			perKey := (last.UsedBytes - 2048) / float64(counts[2])
			if math.Abs(m.BytesPerKey/perKey-1) > 0.001 {
				t.Errorf("%v: %v bytes a bucket, want %v", counts, m.BytesPerKey, perKey)
			}
			if m.Points[0].Predicted != 0 || m.Points[1].Predicted != 0 {
				t.Errorf("%v: the first two predict themselves", counts)
			}
		}
	}
	if m, _ := weigh(empty, nil); m.BytesPerKey != 0 {
		t.Errorf("nothing weighs %+v", m)
	}
}
