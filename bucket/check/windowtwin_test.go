package check

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// smallWindows draws a history that no bucket or window decided, short enough
// for three windows to hold it.
func smallWindows(rng *rand.Rand, c bucket.Contract) (Spec, []history.Operation) {
	s := randomShape(rng)
	s.keys, s.origin = 1, 0
	s.spec.Contract, s.spec.RateTolerance = c, 0
	s.latency = min(s.latency, 3)
	s.denied = []float64{0.1, 0.3, 0.6}[rng.IntN(3)]
	ops := s.history(rng)
	first := ops[0].Call
	for i := range ops {
		ops[i].Call -= first
		if ops[i].Return != history.Forever {
			ops[i].Return -= first
		}
	}
	last := ops[len(ops)-1]
	w := max(2*tick, float64(last.Call+10*tick)/3.1/float64(1+rng.IntN(2)))
	if s.spec.Limit.Capacity/s.spec.Limit.Rate*1e9*3 < float64(last.Call)+30*tick {
		s.spec.Limit.Rate = s.spec.Limit.Capacity / w * 1e9
	}
	return s.spec, ops
}

// The fast judge of sliding windows finds what its definition says.
func TestSlidingWindowEqualsBrute(t *testing.T) {
	t.Parallel()
	over, denied, byPhase := 0, 0, 0
	for seed := range uint64(cases(1500)) {
		rng := randomOf(seed, 400)
		spec, ops := smallWindows(rng, bucket.SlidingWindow)
		if float64(ops[len(ops)-1].Call+40*tick) > spec.frame().memory() {
			continue // it would forget some
		}
		rep := judged(t, spec, ops)
		r, d := find(t, rep, OverAdmission), find(t, rep, SpuriousDenial)
		if rep.Summary.Answered() == 0 {
			continue
		}
		peak, spurious := bruteSliding(&spec, ops)
		if got := r.Value["peak_excess"]; !near(got, max(0, peak)) {
			t.Fatalf("seed %d: %v over, want %v: %+v", seed, got, peak, spec)
		}
		if got := d.Value["count"]; got != float64(spurious) {
			t.Fatalf("seed %d: %v spurious denials, want %d: %+v", seed, got, spurious, spec)
		}
		if peak > 0 {
			over++
		}
		if spurious > 0 {
			denied++
		}
		if full := bruteFullest(spec.frame(), ops); full > 0 && peak <= 0 {
			byPhase++
		}
	}
	t.Logf("%d over, %d with spurious denials, %d right by a phase alone", over, denied, byPhase)
	if over < 50 || denied < 50 || byPhase < 20 {
		t.Errorf("%d over, %d with spurious denials, %d right by a phase alone", over, denied, byPhase)
	}
}

// The log's fullest window is the brute one's, whatever is forgotten meanwhile,
// and no fewer tokens can be struck.
func TestWindowLogEqualsBrute(t *testing.T) {
	t.Parallel()
	struck := 0
	for seed := range uint64(cases(2000)) {
		rng := randomOf(seed, 401)
		s := randomShape(rng)
		s.spec.Contract, s.keys, s.unknown, s.denied = bucket.SlidingWindow, 1, 0, 0
		s.n = min(s.n, 8)
		s.costs = unit
		if rng.IntN(3) == 0 {
			s.n, s.costs = s.n*5, fraction
		}
		ops := s.history(rng)
		f := s.spec.frame()
		w := newWindowLog(f)
		order := slices.Clone(ops)
		slices.SortStableFunc(order, func(a, b history.Operation) int { return int(min(1, max(-1, a.Return-b.Return))) })
		for _, o := range order {
			if o.Outcome == history.Allowed {
				w.land(&request{call: o.Call, ret: o.Return, cost: o.Cost})
			}
		}
		if want := bruteFullest(f, ops); !near(max(-1e9, w.full.peak), max(-1e9, want)) {
			t.Fatalf("seed %d: fullest is over by %v, want %v", seed, w.full.peak, want)
		}
		if s.costs[0] != 1 || len(ops) > 8 {
			continue
		}
		want := bruteStruck(f, ops)
		if w.excess != want {
			t.Fatalf("seed %d: %v struck, want %v", seed, w.excess, want)
		}
		if want > 0 {
			struck++
		}
	}
	if struck < 100 {
		t.Errorf("something was struck in %d histories only", struck)
	}
}

// The phases' counts of aligned windows are the brute ones'.
func TestAlignedPhasesEqualBrute(t *testing.T) {
	t.Parallel()
	for seed := range uint64(cases(300)) {
		rng := randomOf(seed, 402)
		spec, ops := smallWindows(rng, bucket.FixedWindow)
		f := spec.frame()
		p := newPhases(f, false, 0)
		order := slices.Clone(ops)
		slices.SortStableFunc(order, func(a, b history.Operation) int { return int(min(1, max(-1, a.Return-b.Return))) })
		var landed []history.Operation
		for _, o := range order {
			if o.Outcome == history.Allowed {
				p.land(&request{call: o.Call, ret: o.Return, cost: o.Cost}, false)
				landed = append(landed, o)
			}
		}
		for j := range p.parts {
			if got, want := p.parts[j].full.peak, brutePhase(f, j, landed); !near(math.Max(-1e9, got), math.Max(-1e9, want)) {
				t.Fatalf("seed %d: by phase %d over by %v, want %v", seed, j, got, want)
			}
		}
	}
}

// Windows that begin with a request are followed as their definition says.
func TestWindowStartsEqualBrute(t *testing.T) {
	t.Parallel()
	over := 0
	for seed := range uint64(cases(3000)) {
		rng := randomOf(seed, 403)
		s := windowShape(rng, bucket.FixedWindow)
		s.keys, s.origin, s.denied = 1, 0, 0.3
		s.spec.Limit.Rate *= 2
		ops := s.history(rng)
		rules, err := s.spec.rules()
		if err != nil {
			t.Fatal(err)
		}
		r := &reading{spec: &s.spec, rules: rules, keys: map[string]*sweep{}}
		if err := r.read(all(ops)); err != nil {
			t.Fatal(err)
		}
		if len(r.order) == 0 {
			continue
		}
		want := bruteStarts(&s.spec, ops)
		if got := r.order[0].windowed.starts.full.peak; !near(math.Max(-1e9, got), math.Max(-1e9, want)) {
			t.Fatalf("seed %d: over by %v, want %v: %+v", seed, got, want, s.spec)
		}
		if want > 0 {
			over++
		}
	}
	if over < 100 {
		t.Errorf("%d were over", over)
	}
}
