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
// below out. One that exists must be empty or hold an earlier result, and it must
// be possible to write there. Nothing is left there and nothing removed yet.
func claimFolder(dir string, now time.Time) (folder, error) {
	f, err := findFolder(dir, now)
	if err != nil {
		return folder{}, err
	}
	if err := tryWriting(f.dir); err != nil {
		return folder{}, environment(fmt.Errorf("output folder %s cannot be written, name another with --out: %w", f.dir, err))
	}
	return f, nil
}

func findFolder(dir string, now time.Time) (folder, error) {
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

// tryWriting writes a byte below dir and takes it back, with the folders that it
// had to make for it.
func tryWriting(dir string) error {
	dir = filepath.Clean(dir)
	var made []string
	for up := dir; ; up = filepath.Dir(up) {
		if _, err := os.Lstat(up); !errors.Is(err, os.ErrNotExist) {
			break
		}
		made = append(made, up)
	}
	defer func() {
		for _, d := range made {
			_ = os.Remove(d) // stays when somebody else put something in it
		}
	}()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, ".harness-")
	if err != nil {
		return err
	}
	_, err = file.Write([]byte{0})
	return errors.Join(err, file.Close(), os.Remove(file.Name()))
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
	for _, c := range earlier.Capacity {
		if c.Verified != nil && c.Verified.Dir != "" && filepath.IsLocal(c.Verified.Dir) {
			gone = append(gone, filepath.FromSlash(c.Verified.Dir))
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
