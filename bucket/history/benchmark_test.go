package history_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// typical returns n operations as a witnessed run records them.
func typical(n int) []history.Operation {
	ops := make([]history.Operation, n)
	for i := range ops {
		call := int64(i) * 201_337
		ops[i] = history.Operation{
			Due: call - 70_001, Call: call, Return: call + 412_345,
			Clock: 1_767_225_600_000_000_000 + call + 250_000_000,
			Key:   fmt.Sprintf("rl:0f3c:%d", i%1000), Instance: fmt.Sprintf("a-%d", i%4), Cost: 1,
			Outcome: history.Allowed, Remaining: float64(i%50) + 0.25, RetryAfter: -1,
			Witness: bucket.Witness{
				Sequence: int64(i) + 1, BeforeMicros: 1_767_225_600_000_000 + call/1000, AfterMicros: 1_767_225_600_000_041 + call/1000,
				Before: bucket.State{Tokens: float64(i%50) + 1.25, Time: 1_767_225_600_250 + float64(call/1_000_000), Exists: i > 0},
				After:  bucket.State{Tokens: float64(i%50) + 0.25, Time: 1_767_225_600_250 + float64(call/1_000_000), Exists: true},
			},
		}
		if i == 0 {
			ops[i].Witness.Before = bucket.State{}
		}
		if i%3 == 0 {
			ops[i].Outcome, ops[i].RetryAfter = history.Denied, 10*time.Millisecond
		}
	}
	return ops
}

func BenchmarkAppend(b *testing.B) {
	ops := typical(1000)
	w := history.NewRecorder().Worker()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		w.Append(ops[i%len(ops)])
		i++
	}
}

func BenchmarkOperations(b *testing.B) {
	ops := typical(100_000)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		r := history.NewRecorder()
		workers := make([]*history.Worker, 64)
		for i := range workers {
			workers[i] = r.Worker()
		}
		for i, op := range ops {
			workers[i*7%64].Append(op)
		}
		b.StartTimer()
		r.Operations()
	}
	b.ReportMetric(float64(b.N)*float64(len(ops))/b.Elapsed().Seconds(), "ops/s")
}

func encoded(ops []history.Operation, encode func([]byte, *history.Operation) []byte) []byte {
	var text []byte
	for i := range ops {
		text = append(encode(text, &ops[i]), '\n')
	}
	return text
}

func BenchmarkEncode(b *testing.B) {
	ops := typical(1000)
	for name, encode := range map[string]func([]byte, *history.Operation) []byte{
		"json": history.AppendJSON, "csv": history.AppendCSV,
	} {
		b.Run(name, func(b *testing.B) {
			text := encoded(ops, encode)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				text = text[:0]
				for i := range ops {
					text = append(encode(text, &ops[i]), '\n')
				}
			}
			b.ReportMetric(float64(b.N)*float64(len(ops))/b.Elapsed().Seconds(), "lines/s")
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	ops := typical(10_000)
	for name, text := range map[string][]byte{
		"json": encoded(ops, history.AppendJSON),
		"csv":  append(append(history.AppendCSVHeader(nil), '\n'), encoded(ops, history.AppendCSV)...),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				decodeAll(b, text)
			}
			b.ReportMetric(float64(b.N)*float64(len(ops))/b.Elapsed().Seconds(), "lines/s")
		})
	}
}

func decodeAll(tb testing.TB, text []byte) {
	d, err := history.NewDecoder(bytes.NewReader(text), "history")
	if err != nil {
		tb.Fatal(err)
	}
	defer d.Close()
	var op history.Operation
	for {
		switch err := d.Decode(&op); {
		case err == io.EOF:
			return
		case err != nil:
			tb.Fatal(err)
		}
	}
}

func BenchmarkSave(b *testing.B) {
	ops := typical(100_000)
	for _, name := range []string{"h.jsonl", "h.jsonl.zst", "h.jsonl.gz"} {
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), name)
			for b.Loop() {
				if err := history.Save(path, history.Header{}, ops); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*float64(len(ops))/b.Elapsed().Seconds(), "lines/s")
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	ops := typical(100_000)
	for i, j := 0, len(ops)-1; i < j; i, j = i+2, j-2 {
		ops[i], ops[j] = ops[j], ops[i]
	}
	path := filepath.Join(b.TempDir(), "h.jsonl.zst")
	if err := history.Save(path, history.Header{}, ops); err != nil {
		b.Fatal(err)
	}
	for _, most := range []int{math.MaxInt, 10_000} {
		b.Run(fmt.Sprintf("memory=%v", most == math.MaxInt), func(b *testing.B) {
			for b.Loop() {
				f, err := history.Open(path, nil, history.Options{MaxInMemory: most})
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for _, err := range f.Operations() {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				if err := f.Close(); err != nil || n != len(ops) {
					b.Fatal(n, err)
				}
			}
			b.ReportMetric(float64(b.N)*float64(len(ops))/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
