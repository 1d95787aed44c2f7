package capacity

import (
	"context"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
	"bucketproof/bucket/history"
	"bucketproof/bucket/limiterfile"
	"bucketproof/bucket/lua"
	"bucketproof/scenarios/load"
)

// held is a limiter with the client that it closes.
type held struct {
	*lua.Limiter
	io.Closer
}

// onRedis is a limiter file's subject on a server.
func onRedis(f *limiterfile.File, r *backend.Redis) *Subject {
	return &Subject{
		Name: f.Name, Time: f.Time, Granularity: f.Granularity, Limit: f.Limit, Stored: true,
		Open: func(_ context.Context, instance string, mode Mode) (bucket.Limiter, error) {
			if mode == Pipelined {
				c := r.NewPipelinedClient(instance)
				l, err := lua.New(f, c)
				return held{l, c}, err
			}
			c := r.NewClient(instance)
			l, err := lua.New(f, c)
			return held{l, c}, err
		},
	}
}

// briefPace is as short as a real server allows.
func briefPace() Pace {
	return Pace{
		plain: []int{1, 2, 4, 8, 16}, pipelined: []int{4, 32}, rounds: 1,
		level: stretch{30 * time.Millisecond, 100 * time.Millisecond}, step: stretch{50 * time.Millisecond, 200 * time.Millisecond},
		steps: 8, growth: 1.25, resolution: 1.1, contrast: stretch{20 * time.Millisecond, 50 * time.Millisecond},
		keys: 256, many: 500, buckets: []int{4000, 9000, 40_000},
	}
}

func onServer(t *testing.T, s *Subject, r *backend.Redis, slo string) *Measurement {
	t.Helper()
	objective, err := ParseSLO(slo)
	if err != nil {
		t.Fatal(err)
	}
	alarm := &load.Alarm{}
	t.Cleanup(func() { _ = alarm.Close() })
	return New(s, Settings{
		Pace: briefPace(), SLO: objective, Wish: Wish{TargetPS: 100_000, Keys: 1e6, Headroom: 0.4}, ID: "bp-live", Seed: 1,
		Server: r, Keyspace: r, Local: true, Sleep: alarm.Sleep,
		Clear: func(ctx context.Context, _ string) error { return r.Empty(ctx) },
	})
}

// TestMeasureRedis measures a real server, briefly. What it finds depends on the
// machine; that it is all there, and hangs together, does not.
func TestMeasureRedis(t *testing.T) {
	r := backendtest.Real(t)
	f, err := lua.Builtin("app-clock")
	if err != nil {
		t.Fatal(err)
	}
	m := onServer(t, onRedis(f, r), r, "p99=50ms,errors=0.1%")
	if err := m.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	res := m.Result()
	for _, l := range res.Connections {
		if l.ThroughputPS <= 0 || l.P99US < l.P50US || l.RedisCPU <= 0 {
			t.Errorf("level %+v", l)
		}
	}
	if len(res.Connections) != 7 || res.USL.Lambda <= 0 {
		t.Errorf("%d levels, law %+v", len(res.Connections), res.USL)
	}
	if c := res.Cost; c.CommandUS <= 0 || c.RedisUSPerCall < c.CommandUS/2 || c.NetBytesPerCall < 100 || c.NetBytesPerCall > 400 {
		t.Errorf("cost %+v", c)
	}
	mem := res.Memory
	if last := mem.Points[2]; math.Abs(last.Predicted/last.UsedBytes-1) > 0.03 {
		t.Errorf("%d buckets take %.0f bytes, predicted were %.0f", last.Keys, last.UsedBytes, last.Predicted)
	}
	if mem.Why != "" || mem.BytesPerKey < mem.UsageBytes || mem.EntryBytes > mem.BytesPerKey || mem.KeyBytes < 20 {
		t.Errorf("memory %+v", mem)
	}
	if mem.IdleKeyS <= 0 || mem.IdleKeyS > 1 { // a refill of 100 tokens at 100 a second
		t.Errorf("an idle bucket stays %v s", mem.IdleKeyS)
	}
	if n := r.Client().DBSize(t.Context()).Val(); n > 2 { // the idle bucket and a straggler
		t.Errorf("%d keys are left", n)
	}
	if v := res.Verified; v.Operations == 0 || v.Verdict == "undecided" || strings.Contains(v.Detail, "accounting") {
		t.Errorf("verified %+v", *v)
	}
	if res.Knee.RatePS == nil && res.Knee.LimitedBy != "generator" || res.Knee.Why == "" || len(res.Knee.Steps) == 0 {
		t.Errorf("knee %+v", res.Knee)
	}
	if res.Plan.Shards < 1 || res.Plan.MemoryBytes == 0 {
		t.Errorf("plan %+v", *res.Plan)
	}
}

// TestClusterRoutes: keys spread over all nodes, and a hot key stays on one.
func TestClusterRoutes(t *testing.T) {
	r := backendtest.Real(t)
	f, err := lua.Builtin("app-clock")
	if err != nil {
		t.Fatal(err)
	}
	s := onRedis(f, r)
	s.Cluster = func(ctx context.Context) (*Cluster, error) {
		c, err := backend.OpenCluster(ctx, 3, backend.Options{})
		if err != nil {
			return nil, err
		}
		client := c.NewClient("test")
		l, err := lua.New(f, client)
		fleet := &Cluster{Limiter: l, Close: func() error { return errors.Join(client.Close(), c.Close()) }}
		for _, n := range c.Nodes() {
			fleet.Nodes = append(fleet.Nodes, n)
		}
		return fleet, err
	}
	m := onServer(t, s, r, "p99=50ms")
	m.Pace.cluster = true
	m.result.Connections = []Level{{N: 4, ThroughputPS: 1000}}
	c, err := m.clustered(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c.Skipped != "" || c.APerS == 0 || c.BPerS == 0 || c.B != "3 nodes" || !strings.Contains(c.Detail, "all decisions of a hot key were made on one node") || strings.Contains(c.Detail, " 0 %") {
		t.Errorf("%+v", c)
	}
	if v := m.Result().Verified; v.Operations == 0 || v.Verdict == "undecided" {
		t.Errorf("%+v", *v)
	}
}

// burning is a limiter whose script takes some hundred microseconds for nothing.
const burning = `
name: burning
time: caller
source: |
  local n = 0
  for i = 1, 20000 do n = n + i % 7 end
  redis.call("SET", KEYS[1], n, "PX", 1000)
  return 1
keys: ["rl:burning:${key}"]
args: [now_ms]
reply: {allowed: reply == 1}
`

// TestSlowRedisIsBlamed: with a script that burns time Redis is the bottleneck,
// and the meters say so, unless other programs take the processors.
func TestSlowRedisIsBlamed(t *testing.T) {
	r := backendtest.Real(t)
	f, err := limiterfile.Parse("burning.yaml", []byte(burning), nil)
	if err != nil {
		t.Fatal(err)
	}
	m := onServer(t, onRedis(f, r), r, "p99=20ms")
	for _, part := range []func(context.Context) error{m.sweep, m.knees} {
		if err := part(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	c, k := m.result.Cost, m.result.Knee
	if c.CommandUS < 50 || c.CommandUS < c.RedisUSPerCall/2 {
		t.Errorf("a decision takes %.0f µs of Redis, %.0f µs of it in the script that burns them", c.RedisUSPerCall, c.CommandUS)
	}
	blamed := 0
	for _, s := range k.Steps {
		switch {
		case s.Verdict == stepMissed:
			blamed++
		case s.Verdict == stepRefused && s.Others <= mostOthers:
			t.Errorf("Redis was busy for %.0f %%, and the step is refused: %s", 100*s.RedisCPU, s.Why)
		}
	}
	if blamed == 0 {
		t.Skipf("other programs took the processors in every step that was not met: %s", k.Why)
	}
}

// TestStarvedGeneratorIsRefused: processors that this process burns are missing
// to the generator, and Redis is not blamed.
func TestStarvedGeneratorIsRefused(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	for range 2 * runtime.GOMAXPROCS(0) {
		go func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
			}
		}()
	}
	start := time.Now()
	memory := bucket.NewMemory(func() time.Duration { return time.Since(start) })
	slo, err := ParseSLO("p99=100us")
	if err != nil {
		t.Fatal(err)
	}
	s := &Subject{Name: "memory", Time: bucket.ProcessTime, Open: func(context.Context, string, Mode) (bucket.Limiter, error) { return memory, nil }}
	m := New(s, Settings{Pace: briefPace(), SLO: slo, ID: "starved", Seed: 1, Server: idleServer{}, Keep: func([]history.Operation) error { return nil }})
	m.Pace.steps = 4
	m.Pace.level = m.Pace.Brief().level // a bucket in this process decides a million requests a second
	m.tallies = []*tally{{level: Level{N: 4}, latency: load.NewDistribution(), rounds: slices.Repeat([]float64{1500}, 99)}}
	if err := m.knees(t.Context()); err != nil {
		t.Fatal(err)
	}
	if k := m.result.Knee; k.LimitedBy != "generator" || k.RatePS != nil {
		t.Errorf("%v limited by %s: %s", k.MetPS, k.LimitedBy, k.Why)
	}
}

// idleServer tells that it is not busy.
type idleServer struct{}

func (idleServer) Statistics(context.Context) (map[string]string, error) {
	return map[string]string{"used_cpu_sys": "1", "used_cpu_user": "1"}, nil
}

// TestMeasureEnds: an interrupted measurement returns what it found, and a server
// that is lost ends it with the server's error.
func TestMeasureEnds(t *testing.T) {
	r := backendtest.Real(t)
	f, err := lua.Builtin("redis-time")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	m := onServer(t, onRedis(f, r), r, "p99=50ms")
	levels := 0
	m.Keep = func(ops []history.Operation) error {
		if levels++; levels == 3 {
			cancel()
		}
		return nil
	}
	if err := m.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if res := m.Result(); len(res.Connections) == 0 || res.Verified.Operations == 0 || res.Knee.RatePS != nil || res.Plan == nil {
		t.Errorf("%+v", res)
	}

	lost := onServer(t, onRedis(f, r), r, "p99=50ms")
	levels = 0
	lost.Keep = func([]history.Operation) error {
		if levels++; levels == 2 {
			return r.Stop(t.Context())
		}
		return nil
	}
	if err := lost.Run(t.Context()); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("a lost server ends it with %v", err)
	}
}
