package check

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// talk is what brute force finds in the replies on one key.
type talk struct{ judged, ranges, rises, denials int64 }

// bruteReplies judges one key's replies from the definitions.
func bruteReplies(spec *Spec, ops []history.Operation) talk {
	var v talk
	ops = slices.DeleteFunc(slices.Clone(ops), func(o history.Operation) bool { return o.Outcome == history.Unsent })
	fast := spec.Limit.Rate * (1 + spec.RateTolerance)
	for i, a := range ops {
		if a.Outcome == history.Unknown || !lonely(ops, i) {
			continue
		}
		told := !math.IsNaN(a.Remaining)
		hinted := a.Outcome == history.Denied && a.RetryAfter >= 0
		if told {
			off := a.Remaining < -1e-6
			if off || a.Remaining > spec.Limit.Capacity+1e-6 {
				v.ranges++
			}
			if b := anchorOf(ops, i); b >= 0 && a.Remaining <= spec.Limit.Capacity+1e-6 {
				level := ops[b].Remaining + 1
				if ops[b].Outcome == history.Denied {
					level = max(level, ops[b].Cost)
				}
				most := min(level, spec.Limit.Capacity) + fast*seconds(a.Return-ops[b].Call) + spec.Limit.Rate*spec.Granularity.Seconds() - grantedBetween(ops, b, i)
				if a.Outcome == history.Allowed {
					most -= a.Cost
				}
				if a.Remaining > most+1e-6 {
					v.rises++
				}
			}
		}
		due := a.Cost <= spec.Limit.Capacity && wasDue(spec, ops, i)
		if due && a.Outcome == history.Denied && !unknownYet(ops, i) {
			v.denials++
		}
		if told || due || hinted && a.Cost <= spec.Limit.Capacity {
			v.judged++
		}
	}
	return v
}

func answered(o history.Operation) bool {
	return o.Outcome == history.Allowed || o.Outcome == history.Denied
}

// lonely says that no other answer's [call, return] meets that of i.
func lonely(ops []history.Operation, i int) bool {
	for j, o := range ops {
		if j != i && answered(o) && o.Call <= ops[i].Return && o.Return >= ops[i].Call {
			return false
		}
	}
	return true
}

// anchorOf is the last lone answer before i that told what remains; −1: none.
func anchorOf(ops []history.Operation, i int) int {
	for b := i - 1; b >= 0; b-- {
		if answered(ops[b]) && !math.IsNaN(ops[b].Remaining) && lonely(ops, b) {
			return b
		}
	}
	return -1
}

func grantedBetween(ops []history.Operation, b, i int) (sum float64) {
	for _, o := range ops[b+1 : i] {
		if o.Outcome == history.Allowed {
			sum += o.Cost
		}
	}
	return sum
}

// wasDue says that i waited as an earlier lone denial of no smaller cost was
// told, with no grant between them.
func wasDue(spec *Spec, ops []history.Operation, i int) bool {
	for b := i - 1; b >= 0 && ops[b].Outcome != history.Allowed; b-- {
		o := ops[b]
		wait := int64(float64(o.RetryAfter)*(1+spec.RateTolerance)) + int64(spec.Granularity) + 1000
		if o.Outcome == history.Denied && o.RetryAfter >= 0 && o.Cost <= spec.Limit.Capacity && o.Cost >= ops[i].Cost &&
			ops[i].Call >= o.Return+wait && lonely(ops, b) {
			return true
		}
	}
	return false
}

// unknownYet says that an unknown request was called before the answer after i.
func unknownYet(ops []history.Operation, i int) bool {
	for j, o := range ops {
		if j > i && answered(o) {
			return false
		}
		if o.Outcome == history.Unknown {
			return true
		}
	}
	return false
}

func TestRepliesEqualBrute(t *testing.T) {
	t.Parallel()
	var sum talk
	for seed := range uint64(cases(5000)) {
		rng := randomOf(seed, 40)
		s := randomShape(rng)
		s.latency = min(s.latency, 2)
		s.span *= 4
		ops := s.history(rng)
		for i := range ops {
			if rng.IntN(3) > 0 {
				ops[i].Remaining = math.Floor(rng.Float64()*(s.spec.Limit.Capacity+1)) - float64(rng.IntN(20)/19)
			}
			if rng.IntN(3) > 0 {
				ops[i].RetryAfter = time.Duration(rng.IntN(6) * tick / 2)
			}
		}
		rules, err := s.spec.rules()
		if err != nil {
			t.Fatal(err)
		}
		r := &reading{spec: &s.spec, rules: rules, keys: map[string]*sweep{}, tells: true}
		if err := r.read(all(ops)); err != nil {
			t.Fatal(err)
		}
		for _, k := range r.order {
			c := &k.replies
			got := talk{c.judged, c.broken.ranges, c.broken.rises, c.broken.denials}
			want := bruteReplies(&s.spec, onlyKey(ops, k.key))
			if got != want {
				t.Fatalf("seed %d, key %s: %+v, want %+v", seed, k.key, got, want)
			}
			sum.judged += want.judged
			sum.ranges += want.ranges
			sum.rises += want.rises
			sum.denials += want.denials
		}
	}
	if sum.ranges < 100 || sum.rises < 1000 || sum.denials < 500 {
		t.Errorf("little was found: %+v", sum)
	}
}

// manner is how a limiter puts what it knows.
type manner struct {
	floor  bool          // remaining in whole tokens
	zero   bool          // a denial tells 0 remaining
	ceil   time.Duration // retry-after in whole units, rounded up; 0: exact
	silent int           // one reply in so many tells nothing; 0: each tells
}

// telling draws a run of a right bucket that tells what remains and when to
// retry, each request decided at one instant of its interval.
func telling(rng *rand.Rand, s *shape, m manner) []history.Operation {
	s.origin = 0 // clockAt floors as a clock after its epoch does
	ops := s.history(rng)
	order := make([]int, 0, len(ops))
	at := make([]int64, len(ops))
	for i, o := range ops {
		if o.Outcome == history.Unsent || o.Outcome == history.Unknown && rng.IntN(2) == 0 {
			continue
		}
		at[i] = within(rng, o.Call, min(o.Return, o.Call+20*tick))
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(min(1, max(-1, at[a]-at[b]))) })
	states := map[string]bucket.State{}
	for _, i := range order {
		op := &ops[i]
		next, allowed := nanoRule.Take(states[op.Key], s.spec.Limit, clockAt(s, at[i]), op.Cost)
		states[op.Key] = next
		if op.Outcome == history.Unknown {
			continue
		}
		op.Outcome = history.Denied
		if allowed {
			op.Outcome = history.Allowed
		}
		if m.silent > 0 && rng.IntN(m.silent) == 0 {
			continue
		}
		op.Remaining = next.Tokens
		if m.floor {
			op.Remaining = math.Floor(op.Remaining + 1e-9)
		}
		if m.zero && !allowed {
			op.Remaining = 0
		}
		if !allowed {
			op.RetryAfter = time.Duration((op.Cost - next.Tokens) / s.spec.Limit.Rate * 1e9)
			if m.ceil > 0 {
				op.RetryAfter = (op.RetryAfter + m.ceil - 1).Truncate(m.ceil)
			}
		}
	}
	return ops
}

// A right bucket's replies are never called false, whether it floors, tells 0
// with every denial, rounds its hints up or falls silent; and hints are found
// too short when half of them is told.
func TestRepliesOfARightBucket(t *testing.T) {
	t.Parallel()
	verdicts := map[Verdict]int{}
	short := 0
	for seed := range uint64(cases(4000)) {
		rng := randomOf(seed, 41)
		s := randomShape(rng)
		s.n *= 1 + rng.IntN(4)
		s.span *= 1 + rng.Int64N(12)
		s.latency = min(s.latency, rng.Int64N(3))
		m := manner{floor: rng.IntN(2) == 0, zero: rng.IntN(3) == 0, ceil: []time.Duration{0, time.Millisecond, time.Second}[rng.IntN(3)], silent: rng.IntN(4)}
		ops := telling(rng, &s, m)
		s.spec.EmptyStart = false
		r := find(t, judged(t, s.spec, ops), ReplyContract)
		verdicts[r.Verdict]++
		if r.Verdict == Fail {
			t.Fatalf("seed %d: %+v, %+v: %s\n%v", seed, s.spec, m, r.Detail, r.Evidence.Notes)
		}
		for i := range ops {
			if ops[i].RetryAfter > 0 {
				ops[i].RetryAfter /= 8
			}
		}
		if r := find(t, judged(t, s.spec, ops), ReplyContract); r.Verdict == Fail {
			short++
			if r.Value["retry_after_short_s"] <= 0 {
				t.Fatalf("seed %d: hints too short by %v", seed, r.Value["retry_after_short_s"])
			}
		}
	}
	if verdicts[Pass] < cases(4000)/2 || short < cases(4000)/20 {
		t.Errorf("%v; %d with hints that are too short", verdicts, short)
	}
}

// talkative runs a simulated limiter on the caller's clock that tells all.
func talkative(w *world, floor bool) []history.Operation {
	order := make([]int, len(w.ops))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(min(1, max(-1, w.runs[a]-w.runs[b]))) })
	var s bucket.State
	expires := int64(math.MaxInt64)
	for _, i := range order {
		op := &w.ops[i]
		now := (int64(epoch) + w.runs[i]) / 1e6
		if now > expires {
			s = bucket.State{}
		}
		var ok bool
		s, ok = w.rule.Take(s, w.limit, float64(op.Clock/1e6), op.Cost)
		if w.ttl > 0 {
			expires = now + w.ttl.Milliseconds()
		}
		op.Remaining, op.Outcome = s.Tokens, history.Allowed
		if floor {
			op.Remaining = math.Floor(s.Tokens)
		}
		if !ok {
			op.Outcome = history.Denied
			op.RetryAfter = time.Duration(math.Ceil((op.Cost - s.Tokens) / w.limit.Rate * 1e9))
		}
	}
	slices.SortStableFunc(w.ops, func(a, b history.Operation) int { return int(min(1, max(-1, a.Call-b.Call))) })
	return w.ops
}

// What callers' clocks make of true replies is never beyond what their
// disagreement and the age of their readings explain.
func TestRepliesOnCallersClocks(t *testing.T) {
	t.Parallel()
	failed := 0
	for seed := range uint64(cases(2000)) {
		rng := randomOf(seed, 42)
		w := []func(*rand.Rand) *world{callers, small}[seed%2](rng)
		spec := Spec{Limit: w.limit, Granularity: time.Millisecond, Time: bucket.CallerTime, TTL: w.ttl}
		if w.ttl == 0 {
			spec.TTL = math.MaxInt64
		}
		r := find(t, judged(t, spec, talkative(w, rng.IntN(2) == 0)), ReplyContract)
		if r.Verdict == Fail {
			failed++
		}
		if !r.WithinPrediction {
			t.Fatalf("seed %d: %v, ttl %v: %s\n%v", seed, w.limit, w.ttl, r.Detail, r.Evidence.Notes)
		}
	}
	if failed < cases(2000)/20 {
		t.Errorf("clocks showed in %d runs only", failed)
	}
}
