package load_test

import (
	"fmt"
	"math"
	"testing"

	"bucketproof/scenarios/load"
)

func TestKeyPickers(t *testing.T) {
	const n, count = 100_000, 10
	keys := make([]string, count)
	harmonic := 0.0
	for i := range keys {
		keys[i] = fmt.Sprint(i)
		harmonic += 1 / float64(i+1)
	}
	even := func(int) float64 { return 1.0 / count }
	for _, test := range []struct {
		name  string
		pick  load.KeyPicker
		share func(i int) float64
	}{
		{"uniform", load.UniformKeys(keys, 1), even},
		{"zipf 0", load.ZipfKeys(keys, 0, 1), even},
		{"zipf 1", load.ZipfKeys(keys, 1, 1), func(i int) float64 { return 1 / float64(i+1) / harmonic }},
		{"in turn", load.KeysInTurn(keys), even},
	} {
		t.Run(test.name, func(t *testing.T) {
			counts := map[string]int{}
			for i := range uint64(n) {
				key := test.pick(i)
				if key != test.pick(i) {
					t.Fatal("one request has two keys")
				}
				counts[key]++
			}
			for i, key := range keys {
				p := test.share(i)
				if got := float64(counts[key]) / n; math.Abs(got-p) > 5*math.Sqrt(p/n) {
					t.Errorf("key %s has a share of %.4f, want %.4f", key, got, p)
				}
			}
		})
	}
	if key := load.OneKey("x")(7); key != "x" {
		t.Errorf("OneKey gives %s", key)
	}
	if load.KeysInTurn(keys)(12) != "2" {
		t.Error("KeysInTurn is not in turn")
	}
}

func TestKeySeedsDiffer(t *testing.T) {
	keys := []string{"a", "b"}
	one, two := load.UniformKeys(keys, 1), load.UniformKeys(keys, 2)
	same := 0
	for i := range uint64(1000) {
		if one(i) == two(i) {
			same++
		}
	}
	if same < 400 || same > 600 {
		t.Errorf("two seeds agree in %d of 1000 keys, want about half", same)
	}
}
