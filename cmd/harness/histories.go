package main

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"bucketproof/bucket/check"
	"bucketproof/bucket/history"
	"bucketproof/reports"
	"bucketproof/scenarios"
	"bucketproof/scenarios/load"
)

// What a run leaves in its folder.
const (
	historyFile = "history.jsonl.zst"
	latencyFile = "latency.hlog"
	pictureFile = "linearizability.html" // only where no order was found
)

// histories loads the histories below a result folder.
func histories(dir string) reports.Loader {
	return func(r reports.Run) ([]history.Operation, error) {
		f, err := history.Open(filepath.Join(dir, filepath.FromSlash(r.Dir), historyFile), nil, history.Options{})
		if err != nil {
			return nil, err
		}
		defer f.Close()
		ops := make([]history.Operation, 0, f.Len())
		for op, err := range f.Operations() {
			if err != nil {
				return nil, err
			}
			ops = append(ops, *op)
		}
		return ops, nil
	}
}

// copyHistory writes a history that was read into a run's folder, in order.
func copyHistory(dir string, file *history.File) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("keep history: %w", err)
	}
	w, err := history.Create(filepath.Join(dir, historyFile), file.Header())
	if err != nil {
		return err
	}
	batch := make([]history.Operation, 0, 4096)
	for op, err := range file.Operations() {
		if err != nil {
			w.Close()
			return err
		}
		if batch = append(batch, *op); len(batch) == cap(batch) {
			if err := w.Write(batch); err != nil {
				w.Close()
				return err
			}
			batch = batch[:0]
		}
	}
	if err := w.Write(batch); err != nil {
		w.Close()
		return err
	}
	return w.Close()
}

// saveLatency writes a run's latencies as an HdrHistogram log.
func saveLatency(path string, l *load.Latency) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("keep latencies: %w", err)
	}
	if err := load.WriteLog(f, l); err != nil {
		f.Close()
		return fmt.Errorf("keep latencies: %w", err)
	}
	return f.Close()
}

// drawDisorder draws, beside the history of a run below a result folder, the
// requests that have no order, and says in the run where; nothing where
// linearizability did not fail. spec and ops are what was judged.
func drawDisorder(dir string, run *reports.Run, verdicts []scenarios.Verdict, spec check.Spec, ops iter.Seq2[*history.Operation, error]) error {
	i := slices.IndexFunc(verdicts, func(v scenarios.Verdict) bool {
		return v.Name == check.Linearizability && v.Verdict == check.Fail && v.Evidence != nil
	})
	if i < 0 {
		return nil
	}
	name := run.Dir + "/" + pictureFile
	var page bytes.Buffer
	if err := check.DrawLinearization(&page, spec, ops, verdicts[i].Evidence.Key); err != nil {
		return fmt.Errorf("draw %s: %w", name, err)
	}
	if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), page.Bytes(), 0o644); err != nil {
		return fmt.Errorf("keep picture: %w", err)
	}
	run.Linearizability = name
	return nil
}
