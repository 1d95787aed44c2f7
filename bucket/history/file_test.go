package history_test

import (
	"bytes"
	order "cmp"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// collect makes one pass.
func collect(tb testing.TB, f *history.File) []history.Operation {
	tb.Helper()
	var ops []history.Operation
	for op, err := range f.Operations() {
		if err != nil {
			tb.Fatal(err)
		}
		ops = append(ops, *op)
	}
	return ops
}

func write(tb testing.TB, name, text string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// TestOrderDoesNotDependOnMemory: whatever the order of lines and however
// little fits in memory, from a file or from standard input, every pass yields
// what sorting in memory yields.
func TestOrderDoesNotDependOnMemory(t *testing.T) {
	for name, shuffle := range map[string]func([]history.Operation){
		"in order": func([]history.Operation) {},
		"shuffled": func(ops []history.Operation) {
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(ops), func(i, j int) { ops[i], ops[j] = ops[j], ops[i] })
		},
		"reversed":   slices.Reverse[[]history.Operation],
		"late break": func(ops []history.Operation) { n := len(ops); ops[n-1], ops[n-2] = ops[n-2], ops[n-1] },
	} {
		t.Run(name, func(t *testing.T) {
			ops := typical(300)
			for i := range ops {
				ops[i].Call = ops[i].Call / 1e6 * 1e6 // ties
				ops[i].Due = ops[i].Call - int64(i%2)
			}
			shuffle(ops)
			want := slices.Clone(ops)
			slices.SortStableFunc(want, func(a, b history.Operation) int {
				return order.Or(order.Compare(a.Call, b.Call), order.Compare(a.Due, b.Due))
			})
			path := filepath.Join(t.TempDir(), "h.jsonl")
			if err := history.Save(path, history.Header{}, ops); err != nil {
				t.Fatal(err)
			}
			for _, most := range []int{0, 1, 7, 299, 300, 301} {
				for _, from := range []string{path, "-"} {
					equalPasses(t, from, path, most, want)
				}
			}
		})
	}
}

func equalPasses(t *testing.T, from, path string, most int, want []history.Operation) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	f, err := history.Open(from, iotest.HalfReader(bytes.NewReader(text)), history.Options{MaxInMemory: most, TempDir: folder})
	if err != nil {
		t.Fatal(err)
	}
	if f.Len() != len(want) {
		t.Errorf("Len %d, want %d", f.Len(), len(want))
	}
	for pass := range 2 {
		if got := collect(t, f); !slices.Equal(want, got) { // no NaN among them
			t.Fatalf("%s, %d in memory, pass %d (-want +got)\n%.2000s", from, most, pass+1, cmp.Diff(want, got))
		}
	}
	for range f.Operations() {
		break // a pass that ends early
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("%d files left in the temporary folder", len(left))
	}
}

func TestPointersStayAsTheyAre(t *testing.T) {
	ops := typical(2000)
	path := filepath.Join(t.TempDir(), "h.jsonl")
	if err := history.Save(path, history.Header{}, ops); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{path, "-"} {
		f, err := history.Open(from, bytes.NewReader(text), history.Options{MaxInMemory: 10, TempDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var kept []*history.Operation
		for op, err := range f.Operations() {
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, op)
		}
		for i, op := range kept {
			if op.Call != ops[i].Call {
				t.Fatalf("operation %d changed after it was yielded", i)
			}
		}
	}
}

func TestExternalSortOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ops := rapid.SliceOfN(operations(), 0, 40).Draw(t, "operations")
		var text []byte
		for i := range ops {
			text = append(history.AppendJSON(text, &ops[i]), '\n')
		}
		open := func(most int) []history.Operation {
			f, err := history.Open("-", bytes.NewReader(text), history.Options{MaxInMemory: most})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			var got []history.Operation
			for op, err := range f.Operations() {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, *op)
			}
			return got
		}
		most := rapid.IntRange(1, 7).Draw(t, "most")
		if diff := cmp.Diff(open(1000), open(most), sameNaN); diff != "" {
			t.Fatalf("%d in memory (-all +few)\n%s", most, diff)
		}
	})
}

func TestCompressionGoesByContent(t *testing.T) {
	var gz, zst bytes.Buffer
	g := gzip.NewWriter(&gz)
	io.WriteString(g, good)
	g.Close()
	z, _ := zstd.NewWriter(&zst)
	io.WriteString(z, good)
	z.Close()
	skippable := "\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
	for name, text := range map[string]string{
		"plain.jsonl": good, "plain.zst": good, "plain.gz": good,
		"packed.gz": gz.String(), "packed.jsonl": gz.String(), "twice.gz": gz.String() + gz.String(),
		"packed.zst": zst.String(), "packed.csv": zst.String(), "skip.zst": skippable + zst.String(), "twice.zst": zst.String() + zst.String(),
	} {
		f, err := history.Open(write(t, name, text), nil, history.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := 1
		if strings.HasPrefix(name, "twice") {
			want = 2
		}
		if f.Len() != want {
			t.Errorf("%s: %d operations, want %d", name, f.Len(), want)
		}
	}
}

func TestOpenJudgesNothingOfABadHistory(t *testing.T) {
	bad := strings.Repeat(good, 50) + `{"call_ns":9,"return_ns":5,"outcome":"allowed"}` + "\n" + good
	path := write(t, "bad.jsonl", bad)
	for from, name := range map[string]string{path: path, "-": "standard input"} {
		for _, most := range []int{0, 10} {
			folder := t.TempDir()
			_, err := history.Open(from, strings.NewReader(bad), history.Options{MaxInMemory: most, TempDir: folder})
			var wrong *history.LineError
			if !errors.As(err, &wrong) || wrong.Line != 51 || wrong.Name != name {
				t.Errorf("error %v, want line 51 of %s", err, name)
			}
			if left, _ := os.ReadDir(folder); len(left) > 0 {
				t.Errorf("%d files left in the temporary folder", len(left))
			}
		}
	}
}

func TestOpenFiles(t *testing.T) {
	if _, err := history.Open(filepath.Join(t.TempDir(), "none.jsonl"), nil, history.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := history.Open(t.TempDir(), nil, history.Options{}); err == nil {
		t.Error("a folder: no error")
	}
	cut := write(t, "cut.jsonl.gz", "\x1f\x8b\x08\x00")
	if _, err := history.Open(cut, nil, history.Options{}); err == nil || !strings.Contains(err.Error(), cut) {
		t.Errorf("a cut file: %v, want its name", err)
	}
	if _, err := history.Open("-", strings.NewReader(strings.Repeat(good, 5)), history.Options{MaxInMemory: 2, TempDir: filepath.Join(t.TempDir(), "none")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder to sort in: %v", err)
	}
}

func TestChangedFileEndsAPass(t *testing.T) {
	path := write(t, "h.jsonl", strings.Repeat(good, 50))
	f, err := history.Open(path, nil, history.Options{MaxInMemory: 10})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.WriteFile(path, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	var last error
	for _, err := range f.Operations() {
		last = err
	}
	if last == nil {
		t.Error("a file that became shorter: no error")
	}
}

func TestHeaderIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.jsonl.gz")
	want := history.Header{Limit: &bucket.Limit{Rate: 0.1, Capacity: 1e9}}
	if err := history.Save(path, want, typical(3)); err != nil {
		t.Fatal(err)
	}
	f, err := history.Open(path, nil, history.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, f.Header()); diff != "" || f.Name() != path {
		t.Errorf("name %s, header (-want +got)\n%s", f.Name(), diff)
	}
}
