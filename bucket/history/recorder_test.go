package history_test

import (
	order "cmp"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// TestOperationsAreAStableSort: merging the logs is a stable sort by Call and
// Due of the workers' records, one worker after another.
func TestOperationsAreAStableSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := history.NewRecorder()
		var want []history.Operation
		for range rapid.IntRange(0, 5).Draw(t, "workers") {
			w := r.Worker()
			for range rapid.IntRange(0, 30).Draw(t, "records") {
				op := history.Operation{
					Call:    rapid.Int64Range(0, 5).Draw(t, "call"),
					Due:     rapid.Int64Range(0, 2).Draw(t, "due"),
					Witness: bucket.Witness{Sequence: int64(len(want))},
				}
				w.Append(op)
				want = append(want, op)
			}
		}
		slices.SortStableFunc(want, func(a, b history.Operation) int {
			return order.Or(order.Compare(a.Call, b.Call), order.Compare(a.Due, b.Due))
		})
		if diff := cmp.Diff(want, r.Operations()); diff != "" && len(want) > 0 {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	})
}

func TestOperationsTakesLaterRecords(t *testing.T) {
	r := history.NewRecorder()
	w := r.Worker()
	if got := r.Operations(); len(got) != 0 {
		t.Fatalf("%d operations in an empty recorder", len(got))
	}
	w.Append(history.Operation{Call: 2})
	first := r.Operations()
	if again := r.Operations(); &first[0] != &again[0] {
		t.Error("a second call with nothing new makes another slice")
	}
	w.Append(history.Operation{Call: 1})
	r.Worker().Append(history.Operation{Call: 3})
	var calls []int64
	for _, op := range r.Operations() {
		calls = append(calls, op.Call)
	}
	if !slices.Equal(calls, []int64{1, 2, 3}) {
		t.Errorf("calls %v, want 1 2 3", calls)
	}
}

func TestWorkersRecordConcurrently(t *testing.T) {
	const workers, records = 8, 2000
	r := history.NewRecorder()
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			w := r.Worker()
			for k := range records {
				w.Append(history.Operation{Call: int64(k), Witness: bucket.Witness{Sequence: int64(i)}})
			}
		})
	}
	wg.Wait()
	ops := r.Operations()
	if len(ops) != workers*records {
		t.Fatalf("%d operations, want %d", len(ops), workers*records)
	}
	if !slices.IsSortedFunc(ops, func(a, b history.Operation) int { return order.Compare(a.Call, b.Call) }) {
		t.Error("not in the order of Call")
	}
}

// TestAppendDoesNotAllocatePerRecord: chunks only.
func TestAppendDoesNotAllocatePerRecord(t *testing.T) {
	w := history.NewRecorder().Worker()
	allocations := testing.AllocsPerRun(10, func() {
		for range 10_000 {
			w.Append(history.Operation{})
		}
	})
	if allocations > 20 {
		t.Errorf("%v allocations for 10,000 records, want one in about 4,000", allocations)
	}
}
