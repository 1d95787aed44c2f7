package main

import (
	"fmt"
	"os"
	"path/filepath"

	"bucketproof/bucket/history"
	"bucketproof/scenarios/capacity"
)

// capacityHistory is the history of one limiter's measurement, written step by
// step: minutes at full speed do not fit in memory.
type capacityHistory struct {
	folder string // relative to the results, with forward slashes
	w      *history.Writer
}

// keepCapacity creates the history of a limiter.
func keepCapacity(dir string, l *limiter) (*capacityHistory, error) {
	h := &capacityHistory{folder: folderOf("capacity", l.Name)}
	path := filepath.Join(dir, filepath.FromSlash(h.folder))
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, fmt.Errorf("keep history: %w", err)
	}
	limit := capacity.DefaultLimit
	if l.Limit != nil {
		limit = *l.Limit
	}
	var err error
	h.w, err = history.Create(filepath.Join(path, historyFile), history.Header{Limit: &limit})
	return h, err
}

func (h *capacityHistory) keep(ops []history.Operation) error { return h.w.Write(ops) }

func (h *capacityHistory) close() error { return h.w.Close() }
