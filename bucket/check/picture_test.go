package check

import (
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
)

// A row of the picture belongs to one instance and holds one attempt at a time,
// at one instant too; and there are no more rows than attempts ever were under way.
func TestRowsOfThePicture(t *testing.T) {
	t.Parallel()
	for seed := range uint64(cases(300)) {
		rng := randomOf(seed, 51)
		var ops []porcupine.Operation
		var of []int
		call, most := int64(0), 1+rng.IntN(4)
		for range 1 + rng.IntN(40) {
			call += rng.Int64N(3)
			of = append(of, rng.IntN(most))
			ops = append(ops, porcupine.Operation{ClientId: of[len(of)-1], Call: call, Return: call + rng.Int64N(8)})
			if rng.IntN(20) == 0 {
				ops[len(ops)-1].Return = never
			}
		}
		rows := inRows(slices.Clone(ops))
		used := map[int]bool{}
		for i, a := range rows {
			used[a.ClientId] = true
			for j := range i {
				switch b := rows[j]; {
				case a.ClientId != b.ClientId:
				case of[i] != of[j]:
					t.Fatalf("seed %d: instances %d and %d share row %d", seed, of[i], of[j], a.ClientId)
				case b.Return >= a.Call:
					t.Fatalf("seed %d: row %d holds [%d, %d] and [%d, %d]", seed, a.ClientId, b.Call, b.Return, a.Call, a.Return)
				}
			}
		}
		want := 0
		for instance := range most {
			widest := 0
			for i := range ops {
				n := 0
				for j := range i + 1 {
					if of[j] == instance && ops[j].Return >= ops[i].Call {
						n++
					}
				}
				widest = max(widest, n)
			}
			want += widest
		}
		if len(used) != want {
			t.Fatalf("seed %d: %d rows, want %d", seed, len(used), want)
		}
	}
}
