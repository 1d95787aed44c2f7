package history_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bucketproof/bucket/history"
)

// TestFlushedPartCanBeRead: a program that is killed between two writes leaves
// a history of what was written, in every format.
func TestFlushedPartCanBeRead(t *testing.T) {
	ops := typical(300)
	for _, name := range []string{"h.jsonl", "h.jsonl.zst", "h.jsonl.gz", "h.csv", "h.csv.zst", "h.csv.gz", "h"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			w, err := history.Create(path, history.Header{})
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < len(ops); i += 100 {
				if err := w.Write(ops[i : i+100]); err != nil {
					t.Fatal(err)
				}
				f, err := history.Open(path, nil, history.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(ops[:i+100], collect(t, f), sameNaN); diff != "" {
					t.Fatalf("after %d (-want +got)\n%.1000s", i+100, diff)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			f, err := history.Open(path, nil, history.Options{})
			if err != nil || f.Len() != len(ops) {
				t.Fatalf("closed: %d operations, %v", f.Len(), err)
			}
			if text, _ := os.ReadFile(path); strings.Contains(name, "csv") && strings.HasSuffix(name, "csv") != strings.HasPrefix(string(text), "call_ns,") {
				t.Errorf("%s begins with %.20q", name, text)
			}
		})
	}
}

func TestFullDiskNamesTheFile(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("no " + full)
	}
	err := history.Save(full, history.Header{}, typical(10))
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "write history "+full) {
		t.Errorf("error %v, want no space left, with the file's name", err)
	}
	w, err := history.Create(full, history.Header{})
	if err != nil {
		t.Fatal(err)
	}
	first := w.Write(typical(10))
	if again := w.Write(typical(10)); first == nil || again != first {
		t.Errorf("errors %v and %v, want the same one twice", first, again)
	}
	if err := w.Close(); err != first {
		t.Errorf("Close: %v, want the first error", err)
	}
}

func TestCreateInNoFolder(t *testing.T) {
	_, err := history.Create(filepath.Join(t.TempDir(), "none", "h.jsonl"), history.Header{})
	if !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "create history: ") {
		t.Errorf("error %v", err)
	}
}

func TestWriterRefusesWhatNobodyCouldRead(t *testing.T) {
	ops := typical(3)
	ops[2].Outcome = 0
	err := history.Save(filepath.Join(t.TempDir(), "h.jsonl"), history.Header{}, ops)
	if err == nil || !strings.HasSuffix(err.Error(), "operation 3: outcome is 0, want allowed, denied, unsent or unknown") {
		t.Errorf("error %v", err)
	}
}
