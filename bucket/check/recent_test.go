package check

import (
	"fmt"
	"testing"

	"bucketproof/bucket/history"
)

// Far more instances and keys than there are slots, among them the empty names:
// each is counted as itself.
func TestManyNames(t *testing.T) {
	rng := randomOf(1, 42)
	want := map[string]int64{}
	var ops []history.Operation
	for i := range 30_000 {
		o := op(fmt.Sprint("i", rng.IntN(3000)), history.Allowed, float64(i), float64(i))
		if o.Instance == "i0" {
			o.Instance = ""
		}
		o.Key = "k" + o.Instance
		want[o.Instance]++
		ops = append(ops, o)
	}
	rep := judged(t, plain, ops)
	if len(rep.Summary.Instances) != len(want) {
		t.Fatalf("%d instances, want %d", len(rep.Summary.Instances), len(want))
	}
	for _, in := range rep.Summary.Instances {
		if in.Allowed != want[in.Name] {
			t.Errorf("%q was granted %d, want %d", in.Name, in.Allowed, want[in.Name])
		}
	}
	for _, k := range find(t, rep, AcceptRate).Keys {
		if n := want[k.Key[1:]]; k.Figure != float64(n) {
			t.Errorf("key %q was granted %v, want %d", k.Key, k.Figure, n)
		}
	}
}
