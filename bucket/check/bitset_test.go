package check

import "testing"

func TestBitsetAgainstSlice(t *testing.T) {
	rng := randomOf(1, 40)
	for range 300 {
		n := 1 + rng.IntN(300)
		b, in := newBitset(n), make([]bool, n)
		for range rng.IntN(2 * n) {
			i := rng.IntN(n)
			if in[i] = rng.IntN(3) > 0; in[i] {
				b.set(i)
			} else {
				b.clear(i)
			}
		}
		last := -1
		for i := range n {
			if b.has(i) != in[i] {
				t.Fatalf("has(%d) is %v", i, !in[i])
			}
			if in[i] {
				if got := b.after(last); got != i {
					t.Fatalf("after(%d) is %d, want %d", last, got, i)
				}
				last = i
			}
			if got := b.upTo(i); got != last {
				t.Fatalf("upTo(%d) is %d, want %d", i, got, last)
			}
		}
		if got := b.after(last); got != -1 {
			t.Fatalf("after the last comes %d", got)
		}
	}
}
