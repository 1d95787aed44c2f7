package reports

import (
	"fmt"

	"bucketproof/reports/quantity"
	"bucketproof/scenarios/capacity"
)

// What was measured on an idle machine with two processors.
var (
	plainLevels = []struct {
		n             int
		rate          float64
		p50, p99      float64
		redis, unused float64
	}{
		{1, 19_126, 33.7, 101, 0.38, 0.41}, {2, 31_540, 58.1, 151, 0.52, 0.22}, {4, 41_904, 88.6, 246, 0.71, 0.14}, {8, 50_211, 142, 385, 0.86, 0.11},
		{16, 55_730, 262, 590, 0.94, 0.09}, {32, 57_102, 518, 1180, 0.97, 0.08}, {64, 55_490, 1078, 2310, 0.98, 0.07}, {128, 51_860, 2310, 5120, 0.97, 0.06},
	}
	pipelinedLevels = []struct {
		n         int
		rate      float64
		p50, p99  float64
		redis, id float64
	}{
		{4, 27_506, 132, 447, 0.42, 0.29}, {32, 96_012, 309, 902, 0.78, 0.16}, {128, 131_206, 918, 2296, 0.96, 0.11}, {512, 139_836, 3474, 8287, 0.99, 0.1},
	}
)

// measured is a limiter at a part of the reference's speed.
func measured(limiter string, speed float64) capacity.Result {
	c := capacity.Result{
		Limiter: limiter, Limit: capacity.Limit{Rate: 100, Capacity: 100},
		USL: capacity.USL{
			Lambda: 20_280 * speed, Sigma: 0.31415, Kappa: 0.000585, PeakN: 34.24, PeakPS: 57_349 * speed, R2: 0.998,
			CI95: map[string]capacity.Bounds{
				"lambda": {Low: 19_203 * speed, High: 21_358 * speed}, "sigma": {Low: 0.28963, High: 0.33867}, "kappa": {Low: 0.000442, High: 0.000728},
				"peak_per_s": {Low: 56_320 * speed, High: 58_378 * speed},
			},
		},
		Memory: capacity.Memory{
			BytesPerKey: 207.35, IdleKeyS: 1, EntryBytes: 189.87, KeyBytes: 37.79, UsageBytes: 150.88,
			Points: []capacity.MemoryPoint{{Keys: 5000, UsedBytes: 1_080_192}, {Keys: 20_000, UsedBytes: 4_302_864}, {Keys: 60_000, UsedBytes: 12_435_776, Predicted: 12_372_368}},
		},
		Cost:      capacity.Cost{RedisUSPerCall: 16.43 / speed, CommandUS: 7.5 / speed, NetBytesPerCall: 165.5},
		Generator: &capacity.Generator{CeilingPS: 1_172_249, OnTime: 0.9967, LagP99US: 287},
		Verified: &capacity.Verified{
			Operations: 474_071, Verdict: "pass", Detail: "no bucket of 38 steps granted too much or denied too early", Dir: "capacity/" + limiter,
		},
		Compare: []capacity.Contrast{
			{What: "one hot key against many", A: "1 key", B: "10,000 keys", APerS: 57_102 * speed, BPerS: 52_349 * speed, Detail: "1 key is 1.09 times as fast, with 32 plain callers"},
			{What: "plain against pipelined callers", A: "32 plain callers", B: "512 pipelined callers", APerS: 57_102 * speed, BPerS: 139_836 * speed, Detail: "2.45 times as fast with 512 pipelined callers, each at its best level"},
			{What: "one server against a cluster of three nodes", A: "one server", B: "three nodes", Skipped: "not measured: three servers do not fit on two processors"},
		},
		Notes: []string{"the memory was measured with a limit of 0.001664 tokens a second and a capacity of 6"},
	}
	for _, l := range plainLevels {
		c.Connections = append(c.Connections, capacity.Level{
			N: l.n, ThroughputPS: l.rate * speed, P50US: l.p50 / speed, P99US: l.p99 / speed, RedisCPU: l.redis, GeneratorIdle: l.unused,
		})
	}
	for _, l := range pipelinedLevels {
		c.Connections = append(c.Connections, capacity.Level{
			N: l.n, Pipelined: true, Depth: l.n, ThroughputPS: l.rate * speed, P50US: l.p50 / speed, P99US: l.p99 / speed, RedisCPU: l.redis, GeneratorIdle: l.id,
		})
	}
	return c
}

// searched is a search for a knee that rises from 60 % of a rate by tenths and
// bends at it.
func searched(knee float64, p50, p99 float64) capacity.Knee {
	k := capacity.Knee{
		SLO: "p99=5ms,errors=0.1%", RatePS: &knee, MetPS: knee, LimitedBy: "redis", PeakPS: 1.15 * knee, InFlight: 32,
		Why: fmt.Sprintf("at %.0f a second p99 is 18.4 ms, at most 5 ms is allowed; Redis' main thread was busy for 97 %% of the time", 1.1*knee),
	}
	for i, rise := range []float64{1, 1.2, 1.6, 2.4, 4, 16, 70} {
		part := 0.6 + 0.1*float64(i)
		s := capacity.Step{
			RatePS: part * knee, AchievedPS: part * knee, P50US: p50 * rise, P90US: 2 * p50 * rise, P99US: p99 * rise, P999US: 2.2 * p99 * rise,
			MaxUS: 4 * p99 * rise, MeanUS: 1.1 * p50 * rise, ServiceP99: 0.9 * p99 * rise, LagP99US: 212, OnTime: 0.9981,
			RedisCPU: min(0.99, 0.88*part), Idle: 0.3 - 0.2*part, RedisUS: 17.6, OwnUS: 14.2, Others: 0.02, Verdict: "met",
		}
		if s.P99US > 5000 {
			s.Verdict, s.Why = "missed", fmt.Sprintf("p99 is %.1f ms, at most 5 ms is allowed; Redis' main thread was busy for %.0f %% of the time", s.P99US/1000, 100*s.RedisCPU)
			s.AchievedPS *= 0.96
		}
		k.Steps = append(k.Steps, s)
	}
	return k
}

// planned is a plan as the command writes it.
func planned(target, keys, knee float64) *capacity.Plan {
	shard := 0.6 * knee
	return &capacity.Plan{
		TargetPS: target, Keys: keys, Headroom: 0.4, Shards: 7, MemoryBytes: 58_720_256, Connections: 71, Instances: 8,
		Formulas: []capacity.Formula{
			{Name: "rate of a shard", Text: "knee × (1 − headroom)", Inputs: fmt.Sprintf("%s × (1 − 0.4), the knee at p99=5ms,errors=0.1%%", quantity.Number(knee)), Value: shard, Unit: "decisions/s"},
			{Name: "shards", Text: "⌈target ÷ rate of a shard⌉", Inputs: "200,000 ÷ 29,820", Value: 7, Unit: "shards"},
			{Name: "memory of a shard", Text: "buckets of a shard × bytes of a bucket", Inputs: "285,715 × 205.5", Value: 58_720_256, Unit: "bytes"},
			{Name: "instances", Text: "⌈target ÷ rate of this process⌉", Inputs: "20,000 ÷ 57,102", Value: 1, Unit: "processes"},
			{Name: "network of a shard", Text: "load of a shard × bytes a decision × 8", Inputs: "28,571 × 165.5 × 8", Value: 37_828_570, Unit: "bit/s"},
		},
		Unmeasured: []string{"the network between the service's hosts and Redis", "replication and failover", "<b>other tenants</b> of the Redis | and of its machine"},
	}
}

// capable is a report of `harness capacity`: a limiter whose knee was found, one
// whose was refused, and one that broke its contract under load.
func capable() *Report {
	app := measured("app-clock", 1)
	app.Knee = searched(49_700, 190, 540)
	pipelined := searched(118_000, 610, 980)
	app.Pipelined = &pipelined
	app.Plan = planned(200_000, 2e6, 49_700)

	server := measured("redis-time", 0.84)
	server.Knee = searched(40_100, 215, 640)
	server.Knee.RatePS, server.Knee.LimitedBy = nil, "generator"
	server.Knee.Why = "refused: at 44110 a second p99 is 10.2 ms, at most 5 ms is allowed; the generator was late: 85 % of its sends were on time, while Redis' main thread was busy for 48 % of the time"
	for i := range server.Knee.Steps {
		if s := &server.Knee.Steps[i]; s.Verdict == "missed" {
			s.Verdict, s.OnTime, s.RedisCPU = "refused", 0.85, 0.48
		}
	}
	server.USL.Why = "the law explains 83 % of the variance only"
	server.Plan = planned(0, 0, 40_100)
	server.Plan.Refused, server.Plan.Formulas = "no --target was given: these are the figures of one shard at the rate of a shard", server.Plan.Formulas[:1]

	broken := measured("control/get-set", 0.55)
	broken.USL = capacity.USL{PeakPS: 31_406, Why: "no fit: least squares found no coefficients that are 0 or more"}
	broken.Knee = capacity.Knee{SLO: "p99=5ms,errors=0.1%", LimitedBy: "none", Why: "no rate was tried: the command was interrupted"}
	broken.Memory = capacity.Memory{Why: "not measured: this Redis is somebody else's, and filling it takes --allow-destructive", IdleKeyS: -1}
	broken.Verified = &capacity.Verified{Operations: 118_220, Verdict: "fail", Detail: "over-admission: granted 4,212 tokens in 2 s where at most 300 fit"}
	broken.Generator, broken.Compare, broken.Notes = nil, nil, nil

	r := newFixture().report
	r.Command, r.Verdict, r.Seed = "harness capacity --target 200k --keys 2M --seed 7", "fail", 7
	r.Capacity = []capacity.Result{app, server, broken}
	return r
}
