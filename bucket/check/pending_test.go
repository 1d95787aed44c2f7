package check

import (
	"cmp"
	"slices"
	"testing"
)

func TestPendingIsInOrder(t *testing.T) {
	rng := randomOf(1, 41)
	var h pending
	var want []due
	for range 20_000 {
		if len(want) > 0 && rng.IntN(5) < 2 {
			i := 0
			for j := range want {
				if want[j].before(want[i]) {
					i = j
				}
			}
			if got := h.pop(); got != want[i] {
				t.Fatalf("popped %+v, want %+v", got, want[i])
			}
			want = slices.Delete(want, i, i+1)
			continue
		}
		if len(want) > 200 {
			continue
		}
		d := due{ret: rng.Int64N(50), place: rng.Int32N(1000)}
		h.push(d)
		want = append(want, d)
	}
	slices.SortFunc(want, func(a, b due) int { return cmp.Or(cmp.Compare(a.ret, b.ret), cmp.Compare(a.place, b.place)) })
	for _, d := range want {
		if got := h.pop(); got != d {
			t.Fatalf("popped %+v, want %+v", got, d)
		}
	}
}
