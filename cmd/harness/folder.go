package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bucketproof/reports"
)

// folderOf is where a limiter's run in a scenario is kept below the output
// folder, with forward slashes: skew-drain/10ms/control-get-set.
func folderOf(scenario, limiter string) string {
	return scenario + "/" + strings.ReplaceAll(limiter, "/", "-")
}

// folder is an output folder that may be used.
type folder struct {
	dir     string
	earlier bool // it holds an earlier result
	named   bool // by the user
}

// claimFolder finds the output folder: dir, or a new one named after the time
// below out. One that exists must be empty or hold an earlier result. Nothing is
// made or removed yet.
func claimFolder(dir string, now time.Time) (folder, error) {
	if dir == "" {
		return folder{dir: filepath.Join("out", now.UTC().Format("20060102T150405Z"))}, nil
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return folder{}, usagef("output folder %s: %v, name another with --out", dir, err)
	case len(entries) > 0:
		if _, err := reports.Read(dir); err != nil {
			return folder{}, usagef("output folder %s is neither empty nor an earlier result, name another with --out", dir)
		}
		return folder{dir: dir, earlier: true, named: true}, nil
	}
	return folder{dir: dir, named: true}, nil
}

// open makes the folder ready: an earlier result goes.
func (f folder) open() (string, error) {
	if f.earlier {
		if err := clear(f.dir); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return "", environment(fmt.Errorf("create output folder: %w", err))
	}
	if !f.named {
		latest(f.dir)
	}
	return f.dir, nil
}

// clear removes an earlier result, and nothing else.
func clear(dir string) error {
	earlier, err := reports.Read(dir)
	if err != nil {
		return usagef("output folder %s is neither empty nor an earlier result, name another with --out", dir)
	}
	gone := []string{"plots", "report.html", "report.md", "junit.xml", "results.json"}
	for _, r := range earlier.Runs {
		if filepath.IsLocal(r.Dir) {
			gone = append(gone, filepath.FromSlash(r.Dir))
		}
	}
	for _, name := range gone {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return environment(fmt.Errorf("remove earlier result: %w", err))
		}
		for up := filepath.Dir(name); up != "."; up = filepath.Dir(up) {
			_ = os.Remove(filepath.Join(dir, up)) // stays while there is something in it
		}
	}
	return nil
}

// latest lets out/latest point at the newest result. Where links cannot be
// made there is none.
func latest(dir string) {
	link := filepath.Join(filepath.Dir(dir), "latest")
	if info, err := os.Lstat(link); err == nil && info.Mode()&os.ModeSymlink == 0 {
		return // somebody's own
	}
	_ = os.Remove(link)
	_ = os.Symlink(filepath.Base(dir), link)
}
