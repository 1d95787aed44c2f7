package check

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// bruteServer is one key's history at the server's instants: [before, after + 1
// µs] for what was witnessed, and from the latest instant known to come before
// it for ever for what was not.
func bruteServer(ops []history.Operation) []history.Operation {
	first := int64(math.MaxInt64)
	for _, o := range ops {
		if o.Witness.Sequence > 0 {
			first = min(first, o.Witness.BeforeMicros)
		}
	}
	moved := slices.Clone(ops)
	for i := range moved {
		o := &moved[i]
		if o.Witness.Sequence > 0 {
			o.Call, o.Return = o.Witness.BeforeMicros*1000, (o.Witness.AfterMicros+1)*1000
			continue
		}
		from := first
		for _, p := range ops {
			if p.Witness.Sequence > 0 && p.Outcome != history.Unknown && p.Return < o.Call {
				from = max(from, p.Witness.BeforeMicros)
			}
		}
		o.Call, o.Return = from*1000, history.Forever
	}
	return moved
}

// Checks 1 and 2 at the server's instants equal their slow twins there,
// whatever was decided and lost.
func TestBoundsAtTheServerEqualBrute(t *testing.T) {
	t.Parallel()
	failed := 0
	for seed := range uint64(cases(2000)) {
		rng := randomOf(seed, 34)
		w := drawWatched(rng, 2+rng.IntN(30))
		w.source, w.rule = bucket.ServerTime, bucket.RuleRedisTime
		ops := w.run()
		for i := range ops {
			if op := &ops[i]; op.Outcome != history.Unknown && rng.IntN(4) == 0 {
				op.Outcome = history.Allowed + history.Denied - op.Outcome
			}
		}
		spec := w.spec()
		spec.Retries = rng.IntN(2)
		rules, err := spec.rules()
		if err != nil {
			t.Fatal(err)
		}
		r := &reading{spec: &spec, rules: rules, keys: map[string]*sweep{}}
		if err := r.read(all(ops)); err != nil {
			t.Fatal(err)
		}
		if r.server == nil {
			continue
		}
		if why := r.server.doubt(); why != "" {
			t.Fatalf("seed %d: %s", seed, why)
		}
		for _, s := range r.order {
			if s.track == nil {
				continue
			}
			mine := bruteServer(onlyKey(ops, s.key))
			exact := r.server.spec
			got := s.track.sweep
			if peak := brutePeak(exact, mine); !near(max(0, got.over.peak), max(0, peak)) {
				t.Fatalf("seed %d, key %s: peak %v, want %v", seed, s.key, got.over.peak, peak)
			}
			if excess := bruteExcess(exact, mine); !near(got.over.excess, excess) {
				t.Fatalf("seed %d, key %s: excess %v, want %v", seed, s.key, got.over.excess, excess)
			}
			if want := bruteDenials(exact, mine, 0); got.denials.spurious != int64(want.spurious) || got.denials.verdict() != want.verdict() {
				t.Fatalf("seed %d, key %s: %d spurious, %s; want %d, %s", seed, s.key, got.denials.spurious, got.denials.verdict(), want.spurious, want.verdict())
			}
			if got.over.verdict(rules.slack) == Fail || got.denials.spurious > 0 {
				failed++
			}
		}
	}
	if failed < cases(2000)/4 {
		t.Errorf("%d keys failed only", failed)
	}
}

// crowded is a run of 64 clients in a closed loop, each call taking about 40 ms,
// against a bucket of another limit than is promised.
func crowded(rng *rand.Rand, limit bucket.Limit, length time.Duration) *watched {
	w := &watched{rule: bucket.RuleRedisTime, source: bucket.ServerTime, limit: limit, ahead: int64(epoch) + 123_456_789}
	for i := range 64 {
		at := rng.Int64N(int64(time.Millisecond))
		for at < int64(length) {
			p := plan{arrives: at + rng.Int64N(int64(40*time.Millisecond)), took: 20_000 + rng.Int64N(40_000), back: rng.Int64N(int64(40 * time.Millisecond))}
			w.add(rng, at, "k", fmt.Sprint("client-", i), 0, p)
			at = p.arrives + p.took + p.back
		}
	}
	return w
}

// With 64 clients at once a bucket of one token more than is promised is told
// from a right one, and so is a rate 1 % off within ten seconds.
func TestSmallFaultsShowAtTheServer(t *testing.T) {
	t.Parallel()
	promised := bucket.Limit{Rate: 100, Capacity: 50}
	for _, c := range []struct {
		name         string
		limit        bucket.Limit
		over, denial Verdict
	}{
		{"as promised", promised, Pass, Pass},
		{"a token more", bucket.Limit{Rate: 100, Capacity: 51}, Fail, Pass},
		{"a rate 1 % too high", bucket.Limit{Rate: 101, Capacity: 50}, Fail, Pass},
		{"a rate 1 % too low", bucket.Limit{Rate: 99, Capacity: 50}, Pass, Fail},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := crowded(randomOf(1, 35), c.limit, 10*time.Second)
			ops := w.run()
			spec := w.spec()
			spec.Limit, spec.Model = promised, nil
			rep := judged(t, spec, ops)
			over, denial := find(t, rep, OverAdmission), find(t, rep, SpuriousDenial)
			if over.Verdict != c.over || denial.Verdict != c.denial || !rep.Summary.Exact {
				t.Errorf("over-admission %s: %s; spurious-denial %s: %s", over.Verdict, over.Detail, denial.Verdict, denial.Detail)
			}
			var server, caller time.Duration
			for i := range ops {
				w := &ops[i].Witness
				server = max(server, time.Duration(w.AfterMicros+1-w.BeforeMicros)*time.Microsecond)
				caller = max(caller, time.Duration(ops[i].Return-ops[i].Call))
			}
			if rep.Summary.Within != server {
				t.Errorf("decided within %v, want %v", rep.Summary.Within, server)
			}
			unwatch(ops)
			if rep := judged(t, spec, ops); rep.Summary.Within != caller || rep.Summary.Exact {
				t.Errorf("without a witness: decided within %v, want %v", rep.Summary.Within, caller)
			}
		})
	}
}

// One grant that the bucket did not have is found among thousands.
func TestOneTokenTooManyShowsAtTheServer(t *testing.T) {
	t.Parallel()
	limit := bucket.Limit{Rate: 100, Capacity: 50}
	for seed := range uint64(cases(20)) {
		rng := randomOf(seed, 36)
		w := crowded(rng, limit, 3*time.Second)
		ops := w.run()
		i := rng.IntN(len(ops))
		if ops[i].Outcome != history.Denied {
			continue
		}
		ops[i].Outcome = history.Allowed
		spec := w.spec()
		spec.Model = nil
		over := find(t, judged(t, spec, ops), OverAdmission)
		// The bucket is never full again: the token is missing until the end.
		if over.Verdict != Fail || over.Value["excess"] != 1 || math.Abs(over.Value["peak_excess"]-1) > 0.05 {
			t.Errorf("seed %d: %s: %s", seed, over.Verdict, over.Detail)
		}
	}
}

// gcra is a run of a limiter on the server's clock that keeps one time in a
// double, in the given unit since 1970: 2 requests a gap at random for ten
// seconds, each witnessed to the microsecond, of which it tells no state.
func gcra(rng *rand.Rand, does bucket.Limit, unit float64) []history.Operation {
	const start = 1_790_000_000_123_457 // µs since 1970
	var ops []history.Operation
	gap := unit / does.Rate
	tat := 0.0
	for at := int64(0); at < 10_000_000; at += 1 + int64(rng.ExpFloat64()*5e5/does.Rate) {
		now := float64(start+at) / 1e6 * unit
		next := max(tat, now) + gap
		op := history.Operation{
			Call: at*1000 - 100, Return: at*1000 + 900, Outcome: history.Denied, Key: "k", Instance: "i", Cost: 1, Clock: history.NoClock,
			Witness: bucket.Witness{
				Sequence: int64(len(ops) + 1), BeforeMicros: start + at, AfterMicros: start + at, Before: bucket.Unseen(), After: bucket.Unseen(),
			},
		}
		if next-now <= gap*does.Capacity {
			op.Outcome, tat = history.Allowed, next
		}
		ops = append(ops, op)
	}
	return ops
}

// A time since 1970 in a double has steps of a quarter of a microsecond, and a
// gap between tokens that is rounded to them at each grant is no fault: not in
// seconds, milli-, micro- or nanoseconds. Of a limiter that tells its level it is
// one, and so is, of any, a rate 0.3 % off or a token more.
func TestTimeSince1970IsRounded(t *testing.T) {
	t.Parallel()
	judge := func(limit bucket.Limit, ops []history.Operation) bool {
		rep := judged(t, Spec{
			Limit: limit, Granularity: time.Microsecond, RateTolerance: DefaultRateTolerance,
			Time: bucket.ServerTime, Witnessed: true, LinearizeTimeout: -1,
		}, ops)
		if !rep.Summary.Exact {
			t.Fatal("not judged at the server's instants")
		}
		return find(t, rep, OverAdmission).Verdict == Fail || find(t, rep, SpuriousDenial).Verdict == Fail
	}
	strict := 0
	for _, rate := range []float64{33.3, 130, 300, 700} {
		for i, unit := range []float64{1, 1e3, 1e6, 1e9} {
			name := fmt.Sprintf("%v/s in 1/%.0f s", rate, unit)
			limit := bucket.Limit{Rate: rate, Capacity: 20}
			ops := gcra(randomOf(uint64(i), 38), limit, unit)
			if judge(limit, ops) {
				t.Errorf("%s: rounding is taken for a fault", name)
			}
			for _, wrong := range []bucket.Limit{{Rate: rate * 1.003, Capacity: 20}, {Rate: rate * 0.997, Capacity: 20}, {Rate: rate, Capacity: 21}} {
				if !judge(limit, gcra(randomOf(uint64(i), 38), wrong, unit)) {
					t.Errorf("%s: %v passes", name, wrong)
				}
			}
			for j := range ops {
				ops[j].Witness.After = bucket.State{Tokens: 1, Time: math.NaN(), Exists: true}
			}
			if judge(limit, ops) {
				strict++
			}
		}
	}
	if strict < 4 {
		t.Errorf("%d of 16 are told from a stored level's arithmetic, want a quarter", strict)
	}
}

// What the server's word cannot be taken for is judged on the callers' times,
// and says so.
func TestWhenTheServerIsNotTaken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*Spec, []history.Operation)
		says   string
		figure bool // the excess at the server's instants is shown
	}{
		{"an answer without a witness", func(_ *Spec, ops []history.Operation) { ops[10].Witness = bucket.Witness{} }, "1 answer came without the server's time", false},
		{"no time after the decision", func(_ *Spec, ops []history.Operation) { ops[10].Witness.AfterMicros = 0 }, "1 answer came without the server's time", false},
		{"a time of another age", func(_ *Spec, ops []history.Operation) {
			ops[10].Witness.BeforeMicros, ops[10].Witness.AfterMicros = 7, 9
		}, "1 answer came without the server's time", false},
		{"a clock that goes back", func(_ *Spec, ops []history.Operation) {
			for i := range ops[100:] {
				ops[100+i].Witness.BeforeMicros -= 500_000
				ops[100+i].Witness.AfterMicros -= 500_000
			}
		}, "the server's clock went back by", false},
		{"a clock that goes back by less than is in flight", func(_ *Spec, ops []history.Operation) {
			for i := range ops {
				if w := &ops[i].Witness; w.Sequence > 100 {
					w.BeforeMicros -= 2000
					w.AfterMicros -= 2000
				}
			}
		}, "disagree", false},
		{"a caller's clock", func(s *Spec, _ []history.Operation) { s.Time = bucket.CallerTime }, "", true},
		{"a clock that nobody named", func(s *Spec, _ []history.Operation) { s.Time = "" }, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := crowded(randomOf(2, 37), bucket.Limit{Rate: 100, Capacity: 50}, time.Second)
			ops := w.run()
			spec := w.spec()
			spec.Model = nil
			c.change(&spec, ops)
			rep := judged(t, spec, ops)
			over := find(t, rep, OverAdmission)
			if _, ok := over.Value["server_excess"]; rep.Summary.Exact || !strings.Contains(over.Detail, c.says) || ok != c.figure || over.Verdict != Pass {
				t.Errorf("%s: %s; %v", over.Verdict, over.Detail, over.Value)
			}
		})
	}
}

// A server's clock that leaps forward is right by its own time, and a fault by
// everybody else's.
func TestServersLeapShowsOnTheCallersTimes(t *testing.T) {
	t.Parallel()
	limit := bucket.Limit{Rate: 100, Capacity: 50}
	w := &watched{rule: bucket.RuleRedisTime, source: bucket.ServerTime, limit: limit, ahead: int64(epoch)}
	w.leap = func(at int64) int64 { return int64(at/int64(50*time.Millisecond)) * int64(time.Second) }
	for i := range int64(200) {
		at := i*int64(time.Millisecond)/2 + 1
		w.add(nil, at, "k", "i", 0, plan{arrives: at, took: 2000, back: 1000})
	}
	rep := judged(t, w.spec(), w.run())
	over := find(t, rep, OverAdmission)
	if over.Verdict != Fail || !rep.Summary.Exact || !strings.Contains(over.Detail, "by the server's own clock nothing is wrong") {
		t.Errorf("%s: %s", over.Verdict, over.Detail)
	}
	if replay := find(t, rep, Replay); replay.Verdict != Pass {
		t.Errorf("replay: %s: %s", replay.Verdict, replay.Detail)
	}
}
