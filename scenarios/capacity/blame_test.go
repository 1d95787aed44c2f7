package capacity

import (
	"math"
	"runtime"
	"strings"
	"testing"
)

func TestJudgeStep(t *testing.T) {
	slo, err := ParseSLO("p99=5ms,errors=0.1%")
	if err != nil {
		t.Fatal(err)
	}
	sound := Step{RatePS: 1000, AchievedPS: 1000, P99US: 900, OnTime: 1, Idle: 0.6, RedisCPU: 0.3}
	with := func(change func(*Step)) Step {
		s := sound
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		step    Step
		told    bool
		redisUS float64
		ownUS   float64
		verdict string
		why     string
	}{
		"met":                       {sound, true, 0, 0, stepMet, ""},
		"met by a late generator":   {with(func(s *Step) { s.OnTime, s.Idle = 0.1, 0 }), true, 0, 0, stepMet, ""},
		"met, and nothing told":     {sound, false, 0, 0, stepMet, ""},
		"saturated":                 {with(func(s *Step) { s.P99US, s.RedisCPU = 9000, 0.95 }), true, 0, 0, stepMissed, "Redis' main thread was busy for 95 %"},
		"nearly saturated":          {with(func(s *Step) { s.P99US, s.RedisCPU = 9000, 0.88 }), true, 0, 0, stepMissed, "a better generator could bring 14 % more at most"},
		"saturated beside no idle":  {with(func(s *Step) { s.P99US, s.RedisCPU, s.Idle = 9000, 0.95, 0 }), true, 0, 0, stepMissed, "busy for 95 %"},
		"backlog":                   {with(func(s *Step) { s.AchievedPS, s.RedisCPU = 900, 0.95 }), true, 0, 0, stepMissed, "900 of 1,000 requests a second were answered"},
		"keeps up with a wobble":    {with(func(s *Step) { s.AchievedPS = 980 }), true, 0, 0, stepMet, ""},
		"errors":                    {with(func(s *Step) { s.Errors = 0.5 }), true, 0, 0, stepMissed, "errors are 50 %"},
		"slow though idle":          {with(func(s *Step) { s.P99US, s.ServiceP99 = 9000, 8900 }), true, 0, 0, stepMissed, "kept its schedule and waited for Redis, service p99 8.9 ms"},
		"no processor":              {with(func(s *Step) { s.P99US, s.Idle = 9000, 0.1 }), true, 0, 0, stepRefused, "no processor to spare"},
		"no processor, Redis 80 %":  {with(func(s *Step) { s.P99US, s.Idle, s.RedisCPU = 9000, 0.02, 0.8 }), true, 0, 0, stepRefused, "Redis' main thread was busy for 80 % of the time and the generator's processors were idle for 2 %"},
		"late":                      {with(func(s *Step) { s.P99US, s.OnTime = 9000, 0.7 }), true, 0, 0, stepRefused, "the generator was late: 70 % of its sends were on time"},
		"late in the tail":          {with(func(s *Step) { s.P99US, s.LagP99US = 9000, 4000 }), true, 0, 0, stepRefused, "lag p99 4 ms"},
		"missed, and nothing told":  {with(func(s *Step) { s.P99US = 9000 }), false, 0, 0, stepRefused, "does not tell how busy"},
		"Redis needs them most":     {with(func(s *Step) { s.P99US, s.Idle, s.Others = 9000, 0, 1.2 }), true, 1e6, 10, stepMissed, "Redis is the bottleneck: a decision takes 1e+06 µs of its one thread and 10 µs of the generator's"},
		"generator needs them most": {with(func(s *Step) { s.P99US, s.Idle = 9000, 0 }), true, 10, 1e6, stepRefused, "no processor to spare"},
		"both need the same":        {with(func(s *Step) { s.P99US, s.Idle = 9000, 0 }), true, 10, 10 * float64(runtime.GOMAXPROCS(0)), stepRefused, "no processor to spare"},
		"idle, though Redis needs":  {with(func(s *Step) { s.P99US, s.OnTime = 9000, 0.5 }), true, 1000, 10, stepRefused, "the generator was late"},
		"others took the processor": {with(func(s *Step) { s.P99US, s.Idle, s.Others = 9000, 0, 1.2 }), true, 0, 0, stepRefused, "(other programs took 1.2 of them)"},
	} {
		s := c.step
		s.RedisUS, s.OwnUS = c.redisUS, c.ownUS
		judgeStep(&s, slo, view{told: c.told, direct: true, local: true})
		if s.Verdict != c.verdict || !strings.Contains(s.Why, c.why) || c.why == "" && s.Why != "" {
			t.Errorf("%s: %s %q, want %s %q", name, s.Verdict, s.Why, c.verdict, c.why)
		}
	}
}

// TestPipelinesWaitForThemselves: a batch waits for the one before it, though
// nobody is saturated.
func TestPipelinesWaitForThemselves(t *testing.T) {
	slo, err := ParseSLO("p99=5ms")
	if err != nil {
		t.Fatal(err)
	}
	for cpu, verdict := range map[float64]string{0.8: stepRefused, 0.95: stepMissed} {
		s := Step{RatePS: 1000, AchievedPS: 800, P99US: 9000, OnTime: 1, Idle: 0.4, RedisCPU: cpu}
		if judgeStep(&s, slo, view{told: true, local: true}); s.Verdict != verdict {
			t.Errorf("Redis busy for %v: %s, want %s: %s", cpu, s.Verdict, verdict, s.Why)
		}
	}
}

// TestPooled: of the steps from the edge on that were not met and that nobody
// disturbed, and of no others.
func TestPooled(t *testing.T) {
	at := func(rate, cpu, others float64, verdict string) Step {
		return Step{RatePS: rate, RedisCPU: cpu, Idle: 1 - cpu, RedisUS: 10 * cpu, OwnUS: 20 * cpu, OnTime: cpu, Others: others, Verdict: verdict}
	}
	steps := []Step{
		at(900, 0.1, 0, stepMet), at(950, 0.2, 0, stepRefused), // below the edge
		at(1000, 0.9, 0, stepMissed), at(1000, 0.3, 0, stepMet), at(1000, 0.4, 1, stepRefused), at(1200, 0.8, 0, stepRefused), at(1000, 0.7, 0, stepRefused),
	}
	above := steps[6]
	got := pooled(above, steps)
	if math.Abs(got.RedisCPU-0.8) > 1e-9 || math.Abs(got.Idle-0.2) > 1e-9 || math.Abs(got.RedisUS-8) > 1e-9 || math.Abs(got.OwnUS-16) > 1e-9 || math.Abs(got.OnTime-0.8) > 1e-9 || got.RatePS != 1000 || got.Others != 0 {
		t.Errorf("%+v", got)
	}
	if got := pooled(steps[4], steps[4:5]); got.RedisCPU != 0.4 || got.Others != 1 {
		t.Errorf("only disturbed ones: %+v", got)
	}
}
