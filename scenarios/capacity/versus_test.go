package capacity_test

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
	"bucketproof/bucket/check"
	"bucketproof/bucket/history"
	"bucketproof/bucket/limiterfile"
	"bucketproof/bucket/lua"
	"bucketproof/scenarios/load"
)

// turn is how long each contestant runs at a time.
const turn = 4 * time.Second

// BenchmarkVersus lets the client by itself, the limiter on it and the closed
// loop with its recording run the same script on the same server in turn, plain
// and in pipelines: what each step costs is the ratio of their rates, whatever
// the machine does besides. The history is checked afterwards, outside the time.
// The server is the one that HARNESS_REDIS names, else one of its own; versus.sh
// compares with redis-benchmark.
//
//	go test ./scenarios/capacity -run '^$' -bench Versus -benchtime 1x
func BenchmarkVersus(b *testing.B) {
	for _, shared := range contests(b) {
		for _, contestant := range []struct {
			name string
			run  func(*testing.B, *contest) int64
		}{{"client", alone}, {"limiter", asked}, {"load", driven}} {
			b.Run(shared.name+"/"+contestant.name, func(b *testing.B) {
				n := int64(0)
				for b.Loop() {
					n += contestant.run(b, shared)
				}
				b.ReportMetric(float64(n)/float64(b.N)/turn.Seconds(), "requests/s")
			})
		}
	}
}

// BenchmarkOnTime is how well the open loop keeps its schedule against a real
// server, and how long the answers take: the share that is sent within 1 ms of
// its due time, and µs.
func BenchmarkOnTime(b *testing.B) {
	for _, shared := range contests(b) {
		for _, rate := range []float64{5000, 20_000, 60_000} {
			if shared.name == "plain" && rate > 20_000 {
				continue // more than it carries
			}
			b.Run(fmt.Sprintf("%s/%v", shared.name, rate), func(b *testing.B) {
				var alarm load.Alarm
				defer alarm.Close()
				var latency *load.Latency
				for b.Loop() {
					d := shared.driver(b)
					d.Sleep = alarm.Sleep
					if err := d.Open(b.Context(), nil, load.Open{Rate: rate, Arrivals: load.ArrivePoisson, For: turn}); err != nil {
						b.Fatal(err)
					}
					latency = load.Measure(d.Recorder.Operations())
				}
				b.ReportMetric(100*latency.OnTime(), "%-on-time")
				b.ReportMetric(float64(latency.Lag.Quantile(0.99).Microseconds()), "p99-lag-µs")
				b.ReportMetric(float64(latency.Response.Quantile(0.5).Microseconds()), "p50-µs")
				b.ReportMetric(float64(latency.Response.Quantile(0.99).Microseconds()), "p99-µs")
			})
		}
	}
}

// contest is what the contestants have in common.
type contest struct {
	name    string
	client  lua.Client
	workers int
	key     string
}

// contests opens a client of each kind, until the benchmark ends. The 1024 pipelined
// callers have about as many requests under way as redis-benchmark's 50 connections
// with 16 each.
func contests(b *testing.B) []*contest {
	r := server(b)
	plain := r.NewClient("versus")
	b.Cleanup(func() { _ = plain.Close() })
	if err := backend.Warm(b.Context(), plain, 50); err != nil {
		b.Fatal(err)
	}
	pipelined := r.NewPipelinedClient("versus")
	b.Cleanup(func() { _ = pipelined.Close() })
	key := fmt.Sprint("versus-", os.Getpid(), "-")
	return []*contest{{"plain", plain, 50, key + "plain"}, {"pipelined", pipelined, 1024, key + "pipelined"}}
}

// versusLimit earns a whole token a millisecond. The script's numbers then stay as
// short for callers whose clocks go on as for redis-benchmark, whose arguments are
// always the same: the server has the same work with both.
var versusLimit = bucket.Limit{Rate: 1000, Capacity: 50}

func server(b *testing.B) *backend.Redis {
	url := os.Getenv("HARNESS_REDIS")
	if url == "" {
		return backendtest.Real(b)
	}
	r, err := backend.Open(b.Context(), url, backend.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = r.Close() })
	return r
}

// alone sends the script with nothing around it.
func alone(b *testing.B, c *contest) int64 {
	f := reference(b)
	sum := sha1.Sum([]byte(f.Script))
	sha := hex.EncodeToString(sum[:])
	if _, err := lua.Send(b.Context(), c.client, 3, "eval", f.Script, 1, c.key, versusLimit.Rate, versusLimit.Capacity, 0, 1); err != nil {
		b.Fatal(err)
	}
	return c.together(b, func() error {
		_, err := lua.Send(b.Context(), c.client, 3, "evalsha", sha, 1, c.key, versusLimit.Rate, versusLimit.Capacity, time.Now().UnixMilli(), 1)
		return err
	})
}

// asked puts requests to the limiter.
func asked(b *testing.B, c *contest) int64 {
	l := c.limiter(b)
	return c.together(b, func() error {
		_, err := l.Take(b.Context(), versusLimit, bucket.Request{Key: c.key, Cost: 1, Now: time.Now()})
		return err
	})
}

// driven is the closed loop of a run: every request is recorded, and the record
// must pass the checks.
func driven(b *testing.B, c *contest) int64 {
	d := c.driver(b)
	if err := d.Closed(b.Context(), nil, load.Closed{Workers: c.workers, For: turn}); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	defer b.StartTimer()
	spec := check.Spec{
		Limit: versusLimit, Granularity: time.Millisecond, RateTolerance: check.DefaultRateTolerance,
		Time: bucket.CallerTime, EmptyStart: true, // the contestants before have used the bucket
	}
	report, err := check.Judge(spec, history.All(d.Recorder.Operations()), nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, result := range report.Results {
		if result.Verdict == check.Fail {
			b.Errorf("%s: %s", result.Name, result.Detail)
		}
	}
	counts := d.Counts()
	if counts.Unsent+counts.Unknown > 0 || report.Summary.Offered != counts.Offered {
		b.Errorf("%+v, of which %d are on record: %v", counts, report.Summary.Offered, d.Failures())
	}
	return counts.Allowed + counts.Denied
}

// driver drives the limiter as a run does.
func (c *contest) driver(b *testing.B) *load.Driver {
	start := time.Now()
	return &load.Driver{
		Elapsed: func() time.Duration { return time.Since(start) }, Base: start, Limit: versusLimit,
		Instances: []load.Instance{{Name: "versus", Limiter: c.limiter(b)}},
		Keys:      load.OneKey(c.key), Recorder: history.NewRecorder(), Timeout: 5 * time.Second,
	}
}

func (c *contest) limiter(b *testing.B) *lua.Limiter {
	l, err := lua.New(reference(b), c.client)
	if err != nil {
		b.Fatal(err)
	}
	return l
}

func reference(b *testing.B) *limiterfile.File {
	f, err := lua.Builtin("app-clock")
	if err != nil {
		b.Fatal(err)
	}
	return f
}

// together lets all workers ask for a turn and returns how often they did.
func (c *contest) together(b *testing.B, ask func() error) int64 {
	var total atomic.Int64
	var workers sync.WaitGroup
	start := time.Now()
	for range c.workers {
		workers.Go(func() {
			n := int64(0)
			for ; time.Since(start) < turn; n++ {
				if err := ask(); err != nil {
					b.Error(err)
					return
				}
			}
			total.Add(n)
		})
	}
	workers.Wait()
	return total.Load()
}
