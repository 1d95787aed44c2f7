package capacity

import (
	"math"
	"strings"
	"testing"
)

// measured is a result to plan from.
func measured() *Result {
	rate := 41_200.0
	return &Result{
		Connections: []Level{{N: 32, ThroughputPS: 43_000, P99US: 1500}, {N: 64, Pipelined: true, ThroughputPS: 90_000}},
		Knee: Knee{SLO: "p99=5ms", RatePS: &rate, MetPS: rate, LimitedBy: "redis", Steps: []Step{
			{RatePS: rate, ServiceP99: 2000, Verdict: stepMet},
		}},
		Memory: Memory{EntryBytes: 190, BytesPerKey: 207, KeyBytes: 38, IdleKeyS: 1},
		Cost:   Cost{RedisUSPerCall: 16, NetBytesPerCall: 165},
	}
}

func value(t *testing.T, p *Plan, name string) Formula {
	t.Helper()
	for _, f := range p.Formulas {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no formula %q among %+v", name, p.Formulas)
	return Formula{}
}

func TestPlan(t *testing.T) {
	p := newPlan(measured(), perBucket{1, 1}, Wish{TargetPS: 200_000, Keys: 5e6, Headroom: 0.4})
	if p.Refused != "" || p.Shards != 9 { // 200,000 / 24,720 = 8.09
		t.Errorf("%d shards, refused %q", p.Shards, p.Refused)
	}
	if f := value(t, p, "rate of a shard"); f.Inputs != "41,200 × (1 − 40 %), the knee at p99=5ms" || f.Value != 41_200*0.6 {
		t.Errorf("%+v", f)
	}
	if f := value(t, p, "shards"); f.Inputs != "200,000 ÷ 24,720" {
		t.Errorf("%+v", f)
	}
	each := math.Ceil(5e6 / 9)
	if want := math.Ceil(each*190 + 2*1.5*8*(1<<20)); p.MemoryBytes != want {
		t.Errorf("%v bytes, want %v", p.MemoryBytes, want)
	}
	if p.Connections != 45 { // 22,222/s · 2 ms
		t.Errorf("%d connections", p.Connections)
	}
	if p.Instances != 8 { // 200,000 / (43,000 · 0.6) = 7.75
		t.Errorf("%d instances", p.Instances)
	}
	if f := value(t, p, "main thread of a shard"); math.Abs(f.Value-0.3556) > 1e-3 {
		t.Errorf("%+v", f)
	}
	if len(p.Unmeasured) == 0 {
		t.Error("a plan that knows everything")
	}
}

func TestPlanWithoutTarget(t *testing.T) {
	p := newPlan(measured(), perBucket{1, 1}, Wish{Headroom: 0.4})
	if !strings.Contains(p.Refused, "--target") || p.Shards != 1 || p.MemoryBytes == 0 || len(p.Formulas) == 0 {
		t.Errorf("%+v", p)
	}
}

func TestPlanRestsOn(t *testing.T) {
	refused := func(met float64) *Result {
		r := measured()
		r.Knee.RatePS, r.Knee.MetPS, r.Knee.LimitedBy = nil, met, "generator"
		return r
	}
	for name, c := range map[string]struct {
		r    *Result
		rate float64
		from string
	}{
		"the knee":         {measured(), 41_200, "the knee at p99=5ms"},
		"what was met":     {refused(30_000), 30_000, "the knee is refused, so Redis carries at least this"},
		"too little met":   {refused(1000), 43_000, "whatever the latency: the knee at p99=5ms is refused"},
		"nothing was met":  {refused(0), 43_000, "whatever the latency"},
		"nothing measured": {&Result{}, 0, ""},
	} {
		if rate, from := c.r.basis(); rate != c.rate || !strings.Contains(from, c.from) {
			t.Errorf("%s: %v %q", name, rate, from)
		}
	}
	if p := newPlan(&Result{}, perBucket{1, 1}, Wish{TargetPS: 1}); p.Refused == "" || p.Formulas == nil {
		t.Errorf("%+v", p)
	}
}

// TestPlanIsExactAtWholeShards: a target of exactly two shards takes two.
func TestPlanIsExactAtWholeShards(t *testing.T) {
	for _, shards := range []int{1, 2, 3, 7, 10} {
		r := measured()
		p := newPlan(r, perBucket{1, 1}, Wish{TargetPS: float64(shards) * *r.Knee.RatePS * (1 - 0.4), Headroom: 0.4})
		if p.Shards != shards {
			t.Errorf("%d shards, want %d", p.Shards, shards)
		}
	}
}

func TestThousands(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 7: "7", 1.5: "1.5", 999.6: "999.6", 1000: "1,000", 41_234.6: "41,235", 1e6: "1,000,000", 12_345_678: "12,345,678"} {
		if got := thousands(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}
