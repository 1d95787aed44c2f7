package history_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"bucketproof/bucket/history"
)

// packedHistory is a history of n lines as a file of that name holds it.
func packedHistory(t *testing.T, name string, n int) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	ops := make([]history.Operation, n)
	for i := range ops {
		ops[i] = history.Operation{Call: int64(i) * 7919, Return: int64(i)*7919 + 1000, Clock: history.NoClock, Cost: 1, RetryAfter: -1, Key: fmt.Sprint(i * i % 1009), Outcome: history.Denied}
	}
	w, err := history.Create(path, history.Header{})
	if err == nil {
		err = errors.Join(w.Write(ops), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestDamagedDataAreABadLine: a packed history that was cut off or damaged is
// the history's fault, with the line where it shows, and nothing is read of it.
func TestDamagedDataAreABadLine(t *testing.T) {
	const n = 20_000
	for _, name := range []string{"h.jsonl.gz", "h.jsonl.zst"} {
		whole := packedHistory(t, name, n)
		flipped, at := bytes.Clone(whole), len(whole)/2
		if name == "h.jsonl.gz" { // in the middle it may still read as something, and as no history
			at = len(whole) - 8
		}
		for i := range 4 {
			flipped[at+i] ^= 0xff
		}
		for _, tt := range []struct {
			what string
			data []byte
			want string
		}{
			{"all but 4 bytes", whole[:len(whole)-4], "end too early"},
			{"half", whole[:len(whole)/2], "end too early"},
			{"30 bytes", whole[:30], "end too early"},
			{"6 bytes", whole[:6], "end too early"},
			{"4 bytes changed", flipped, "damaged"},
		} {
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, tt.data, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := history.Open(path, nil, history.Options{})
			var bad *history.LineError
			switch {
			case !errors.As(err, &bad):
				t.Errorf("%s of %s: error %v, want that of a line", tt.what, name, err)
			case bad.Name != path || bad.Line < 1 || bad.Line > n+2:
				t.Errorf("%s of %s: error at %s:%d", tt.what, name, bad.Name, bad.Line)
			case !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n"):
				t.Errorf("%s of %s: error %q, want %q in it", tt.what, name, err, tt.want)
			}
		}
	}
}

// TestFailingReaderIsNoBadLine: a disk that fails below packed data is not
// the history's fault.
func TestFailingReaderIsNoBadLine(t *testing.T) {
	broken := errors.New("the disk is broken")
	for _, name := range []string{"h.jsonl", "h.jsonl.gz", "h.jsonl.zst"} {
		whole := packedHistory(t, name, 20_000)
		for _, length := range []int{0, 3, 100, len(whole) / 2} {
			r := io.MultiReader(bytes.NewReader(whole[:length]), iotest.ErrReader(broken))
			_, err := history.Open("-", r, history.Options{})
			var bad *history.LineError
			if !errors.Is(err, broken) || errors.As(err, &bad) {
				t.Errorf("%s that breaks after %d bytes: error %v, want the disk's", name, length, err)
			}
		}
	}
}

// TestFolderIsNoHistory: it is told what to name instead.
func TestFolderIsNoHistory(t *testing.T) {
	dir := t.TempDir()
	_, err := history.Open(dir, nil, history.Options{})
	if !errors.Is(err, history.ErrFolder) || !strings.Contains(err.Error(), dir) {
		t.Errorf("error %v, want that it is a folder", err)
	}
}
