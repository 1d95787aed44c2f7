package main

import (
	"fmt"
	"os"
	"path/filepath"

	"bucketproof/bucket/history"
	"bucketproof/reports"
	"bucketproof/scenarios/load"
)

// What a run leaves in its folder.
const (
	historyFile = "history.jsonl.zst"
	latencyFile = "latency.hlog"
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
