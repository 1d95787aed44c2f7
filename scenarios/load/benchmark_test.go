package load_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"bucketproof/bucket/history"
	"bucketproof/scenarios/load"
)

// BenchmarkSchedule measures how late the open loop sends in real time. Its
// figures are lag-µs at quantiles and the share of requests sent within 1 ms.
func BenchmarkSchedule(b *testing.B) {
	var alarm load.Alarm
	defer alarm.Close()
	for name, sleep := range map[string]func(time.Duration){"alarm": alarm.Sleep, "time.Sleep": nil} {
		for _, arrivals := range []load.Arrivals{load.ArriveConstant, load.ArrivePoisson} {
			for _, rate := range []float64{500, 5000, 20_000, 60_000} {
				b.Run(fmt.Sprintf("%s/%s/%v", name, arrivals, rate), func(b *testing.B) {
					measureLag(b, sleep, load.Open{Rate: rate, Arrivals: arrivals, For: 2 * time.Second})
				})
			}
		}
	}
}

func measureLag(b *testing.B, sleep func(time.Duration), o load.Open) {
	var ops []history.Operation
	for b.Loop() {
		d := newDriver(2, nil)
		d.Sleep = sleep
		if err := d.Open(context.Background(), nil, o); err != nil {
			b.Fatal(err)
		}
		ops = d.Recorder.Operations()
	}
	latency := load.Measure(ops)
	lag := latency.Lag
	b.ReportMetric(float64(lag.Quantile(0.5))/1e3, "p50-µs")
	b.ReportMetric(float64(lag.Quantile(0.99))/1e3, "p99-µs")
	b.ReportMetric(float64(lag.Quantile(0.999))/1e3, "p999-µs")
	b.ReportMetric(100*latency.OnTime(), "%-within-1ms")
	b.ReportMetric(float64(len(ops))/o.For.Seconds(), "requests/s")
}

// BenchmarkClosed measures what the generator itself can do: the ceiling of
// every measurement.
func BenchmarkClosed(b *testing.B) {
	for _, workers := range []int{1, 2, 64} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			n := 0
			for b.Loop() {
				d := newDriver(1, nil)
				if err := d.Closed(context.Background(), nil, load.Closed{Workers: workers, For: time.Second}); err != nil {
					b.Fatal(err)
				}
				n += int(d.Counts().Offered)
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}
