package check

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// event is one decision, or one look at the stored state, at its true instant.
type event struct {
	at     int64
	op     int // index of the operation; −1: a look
	sample int
	silent bool // an unknown's charge: nobody hears the answer
}

// store is how an ideal limiter keeps a bucket in Redis: what life it gives a
// key, and whether a denial writes.
type store struct {
	fixed       bool // one full refill at every decision, else the time until the bucket is full
	down        bool // rounds the life down to whole milliseconds
	two         bool // level and time in two keys
	deniesWrite bool
}

// place is one bucket of the simulation.
type place struct {
	state   bucket.State
	expires int64 // ms; the key is there up to this one
}

// ideal draws a run of a perfect bucket a key that decides each request at one
// instant in its interval, with looks at what it stores. granularity is that of
// the clock it decides by.
func ideal(rng *rand.Rand, s *shape, kept store) ([]history.Operation, []Sample) {
	ops := s.history(rng)
	var events []event
	for i, o := range ops {
		switch o.Outcome {
		case history.Unsent:
		case history.Unknown:
			for range rng.IntN(2 + s.spec.Retries) {
				events = append(events, event{at: o.Call + rng.Int64N(20)*tick/2, op: i, silent: true})
			}
		default:
			events = append(events, event{at: within(rng, o.Call, o.Return), op: i})
		}
	}
	samples := looks(rng, s, ops)
	for i, m := range samples {
		events = append(events, event{at: within(rng, m.Call, m.Return), op: -1, sample: i})
	}
	rng.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	places := map[string]*place{}
	for _, k := range keysOf(ops) {
		places[k] = &place{}
		if s.spec.EmptyStart {
			places[k].state = bucket.State{Tokens: rng.Float64() * s.spec.Limit.Capacity, Time: clockAt(s, ops[0].Call), Exists: true}
			places[k].expires = math.MaxInt64
		}
	}
	for _, e := range events {
		if e.op >= 0 {
			p := places[ops[e.op].Key]
			allowed := p.decide(s, kept, e.at, ops[e.op].Cost)
			if !e.silent {
				ops[e.op].Outcome = history.Denied
				if allowed {
					ops[e.op].Outcome = history.Allowed
				}
			}
			continue
		}
		m := &samples[e.sample]
		if p := places[m.Key]; p != nil {
			m.Keys = p.look(kept, e.at)
		}
	}
	return ops, samples
}

// within is an instant in [a, b], often an end.
func within(rng *rand.Rand, a, b int64) int64 {
	switch rng.IntN(4) {
	case 0:
		return a
	case 1:
		return b
	}
	return a + rng.Int64N(b-a+1)
}

// clockAt is the limiter's clock at a true instant, in ticks of ms: floored to
// the granularity, counted from the first call so that doubles are exact.
func clockAt(s *shape, at int64) float64 {
	at -= s.origin
	if g := int64(s.spec.Granularity); g > 0 {
		at -= ((at % g) + g) % g
	}
	return float64(at)
}

// nanoRule decides on nanoseconds.
var nanoRule = bucket.Rule{TicksPerSecond: 1e9}

// decide is one decision at a true instant. The bucket itself forgets nothing:
// a life that is rounded down, or counted by another clock than the level, would
// give it up to R·(1 ms + g) more at every expiry, which is a fault, if a small
// one.
func (p *place) decide(s *shape, kept store, at int64, cost float64) bool {
	next, allowed := nanoRule.Take(p.state, s.spec.Limit, clockAt(s, at), cost)
	if !allowed && !kept.deniesWrite {
		return false
	}
	p.state = next
	life := s.spec.Limit.Capacity / s.spec.Limit.Rate * 1000
	if !kept.fixed {
		life = (s.spec.Limit.Capacity - p.state.Tokens) / s.spec.Limit.Rate * 1000
	}
	if kept.down {
		life = math.Floor(life)
	}
	p.expires = at/1e6 + int64(math.Ceil(life))
	return allowed
}

func (p *place) look(kept store, at int64) []KeyState {
	ms := at / 1e6
	if !p.state.Exists || ms > p.expires || p.expires == math.MaxInt64 {
		return nil
	}
	k := KeyState{Name: "rl:k", TTL: time.Duration(p.expires-ms) * time.Millisecond, Tokens: p.state.Tokens}
	if kept.two {
		return []KeyState{{Name: "rl:t", TTL: k.TTL / 2, Tokens: math.NaN()}, k}
	}
	return []KeyState{k}
}

// looks draws when the keys are looked at.
func looks(rng *rand.Rand, s *shape, ops []history.Operation) []Sample {
	var samples []Sample
	keys := keysOf(ops)
	for range rng.IntN(8) {
		call := s.origin + rng.Int64N(2*s.span+1)*tick/2
		samples = append(samples, Sample{
			Call: call, Return: call + rng.Int64N(3)*tick/4,
			Key: keys[rng.IntN(len(keys))], Complete: rng.IntN(2) == 0,
		})
	}
	slices.SortStableFunc(samples, func(a, b Sample) int { return cmp.Compare(a.Call, b.Call) })
	return samples
}

// A bucket that decides every request at one instant of its interval is accused
// by no check, whatever the concurrency, the costs, the unknowns and the way it
// keeps its state.
func TestIdealIsNeverAccused(t *testing.T) {
	t.Parallel()
	verdicts := map[string]int{}
	for seed := range uint64(cases(5000)) {
		rng := randomOf(seed, 3)
		s := randomShape(rng)
		if rng.IntN(3) == 0 {
			s.n *= 8
		}
		if s.origin < 0 { // a server's clock that counts from before its epoch rounds the other way
			s.origin = 0
		}
		kept := store{fixed: rng.IntN(2) == 0, down: rng.IntN(2) == 0, two: rng.IntN(4) == 0, deniesWrite: rng.IntN(2) == 0}
		s.spec.Time = []bucket.TimeSource{bucket.ServerTime, bucket.CallerTime, bucket.ProcessTime, ""}[rng.IntN(4)]
		ops, samples := ideal(rng, &s, kept)
		rep, err := Judge(s.spec, all(ops), samples)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, r := range rep.Results {
			verdicts[r.Name+" "+string(r.Verdict)]++
			if r.Verdict == Fail {
				t.Fatalf("seed %d: %+v, %+v: %s: %s; %+v", seed, s.spec, kept, r.Name, r.Detail, r.Evidence)
			}
		}
	}
	for _, name := range []string{OverAdmission, SpuriousDenial, AcceptRate, StateAudit, Accounting} {
		if verdicts[name+" pass"] == 0 {
			t.Errorf("%s never passed: %s", name, fmt.Sprint(verdicts))
		}
	}
	t.Log(verdicts)
}
