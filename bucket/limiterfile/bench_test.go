package limiterfile_test

import (
	"testing"
	"time"

	"bucketproof/bucket"
)

func BenchmarkWords(b *testing.B) {
	limit := bucket.Limit{Rate: 100, Capacity: 50}
	request := bucket.Request{Key: "user-7", Instance: "a", Cost: 1, Now: time.UnixMilli(1234567890123)}
	for _, bench := range []struct{ name, args string }{
		{"names", "args: [rate, capacity, now_ms, cost]"},
		{"expression", "args: [rate, capacity, now_ms / 1000, cost]"},
	} {
		f := file(b, with(bench.args))
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := f.Words(limit, request); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecide(b *testing.B) {
	for _, bench := range []struct {
		name, reply string
		value       any
	}{
		{"number", "reply: {allowed: reply == 1}", int64(1)},
		{"list", `reply: {allowed: "reply[0] == 1"}`, []any{int64(1)}},
		{"all", `reply: {allowed: "reply[0] == 1", remaining: "reply[1]", retry_after: "float(reply[2]) / 1000"}`, []any{int64(1), int64(7), int64(250)}},
	} {
		f := file(b, with(bench.reply))
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Decide(bucket.Limit{}, bucket.Request{}, bench.value); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
