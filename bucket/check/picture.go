package check

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/anishathalye/porcupine"

	"bucketproof/bucket/history"
)

// DrawLinearization writes a picture, one HTML page that needs nothing else, of
// how far an order of a key's requests was found, for a history whose
// linearizability fails on the key: Porcupine's own, of the shortest beginning
// of the key's history that has no order. spec and ops are what was judged.
func DrawLinearization(w io.Writer, spec Spec, ops iter.Seq2[*history.Operation, error], key string) error {
	rules, err := spec.rules()
	if err != nil {
		return err
	}
	r := &reading{spec: &spec, rules: rules, keys: make(map[string]*sweep)}
	if err := r.read(ops); err != nil {
		return err
	}
	s := r.keys[key]
	if s == nil || s.excerpt == nil {
		return fmt.Errorf("draw key %q: %w", key, errors.New("nothing was searched on it"))
	}
	h := r.newSearch()
	n, res := h.begin(s.excerpt)
	if res == porcupine.Illegal {
		n, _ = h.shortest(s.excerpt, n)
	}
	h.steps.Store(0)
	model := h.model()
	model.DescribeOperation = func(input, _ any) string {
		a := input.(*attempt)
		return called(r.crowd.members[a.instance].Name) + ": " + a.String()
	}
	_, info := porcupine.CheckOperationsVerbose(model, inRows(s.excerpt.attempts(n)), h.timeout)
	h.steps.Store(0) // to describe the states takes steps, too
	if err := porcupine.Visualize(model, info, w); err != nil {
		return fmt.Errorf("draw key %q: %w", key, err)
	}
	return nil
}

// inRows gives each attempt a row of the picture, where a client has one row and
// one attempt at a time: the instances one after another, each with as many rows
// as it ever had attempts under way. The attempts are in order of their calls.
func inRows(ops []porcupine.Operation) []porcupine.Operation {
	free := map[int][]int64{} // by instance: until when each of its rows is taken
	row := make([]int, len(ops))
	for i, op := range ops {
		rows := free[op.ClientId]
		row[i] = slices.IndexFunc(rows, func(until int64) bool { return until < op.Call })
		if row[i] < 0 {
			row[i], rows = len(rows), append(rows, 0)
		}
		rows[row[i]] = op.Return
		free[op.ClientId] = rows
	}
	first, next := map[int]int{}, 0
	for _, instance := range slices.Sorted(maps.Keys(free)) {
		first[instance] = next
		next += len(free[instance])
	}
	for i := range ops {
		ops[i].ClientId = first[ops[i].ClientId] + row[i]
	}
	return ops
}
