package check

import (
	"math"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// burst is n requests at once, of a millisecond each.
func burst(outcome history.Outcome, n int, at float64) []history.Operation {
	var ops []history.Operation
	for range n {
		ops = append(ops, op("i", outcome, at, at+0.001))
	}
	return ops
}

func sequence(parts ...[]history.Operation) (ops []history.Operation) {
	for _, p := range parts {
		ops = append(ops, p...)
	}
	return ops
}

// Ten a second, what is right by each contract and what is not.
func TestWindowTable(t *testing.T) {
	yes, no := history.Allowed, history.Denied
	instant := func(outcome history.Outcome, at float64) []history.Operation {
		return []history.Operation{op("i", outcome, at, at)}
	}
	tests := []struct {
		name           string
		ops            []history.Operation
		sliding, fixed [2]Verdict // over-admission, spurious-denial
	}{
		{"N, and N after W", sequence(burst(yes, 10, 0), burst(no, 1, 0.5), burst(yes, 10, 1.002)),
			[2]Verdict{Pass, Pass}, [2]Verdict{Pass, Pass}},
		{"one more in a burst, twice", sequence(burst(yes, 11, 0), burst(yes, 11, 2.3)),
			[2]Verdict{Fail, Pass}, [2]Verdict{Fail, Pass}},
		{"twice N across a boundary, thrice", sequence(burst(yes, 10, 0.9), burst(yes, 10, 1.1), burst(yes, 10, 2.9), burst(yes, 10, 3.1), burst(yes, 10, 4.9), burst(yes, 10, 5.1)),
			[2]Verdict{Fail, Pass}, [2]Verdict{Pass, Pass}},
		{"the same at other parts of the second", sequence(burst(yes, 10, 0.9), burst(yes, 10, 1.1), burst(yes, 10, 3.4), burst(yes, 10, 3.6)),
			[2]Verdict{Fail, Pass}, [2]Verdict{Fail, Pass}},
		{"a denial W after the last grant", sequence(burst(yes, 10, 0), burst(no, 1, 1.2)),
			[2]Verdict{Pass, Fail}, [2]Verdict{Pass, Fail}},
		{"a denial just after W, as counters give it", sequence(burst(yes, 10, 0), burst(no, 1, 1.05)),
			[2]Verdict{Pass, Pass}, [2]Verdict{Pass, Fail}},
		{"a denial of the tenth", sequence(burst(yes, 9, 0), burst(no, 1, 0.1)),
			[2]Verdict{Pass, Fail}, [2]Verdict{Pass, Fail}},
		{"ten grants exactly W after ten", sequence(burst(yes, 9, 0), instant(yes, 0.001), instant(yes, 1.001), burst(yes, 9, 1.002)),
			[2]Verdict{Pass, Pass}, [2]Verdict{Pass, Pass}},
		{"unknown requests may have taken all", sequence(burst(history.Unknown, 10, 0), burst(no, 1, 5)),
			[2]Verdict{Pass, Undecided}, [2]Verdict{Pass, Undecided}},
		{"nothing was granted", burst(no, 3, 0),
			[2]Verdict{Pass, Fail}, [2]Verdict{Pass, Fail}},
	}
	for _, tt := range tests {
		for c, want := range map[bucket.Contract][2]Verdict{bucket.SlidingWindow: tt.sliding, bucket.FixedWindow: tt.fixed} {
			rep := judged(t, Spec{Limit: bucket.Limit{Rate: 10, Capacity: 10}, Contract: c}, tt.ops)
			for i, name := range []string{OverAdmission, SpuriousDenial} {
				if r := find(t, rep, name); r.Verdict != want[i] {
					t.Errorf("%s, %s: %s is %s, want %s: %s", tt.name, c, name, r.Verdict, want[i], r.Detail)
				}
			}
		}
	}
}

// A log of ten a second that grants one a nanosecond too early has an eleventh.
func TestWindowIsHalfOpen(t *testing.T) {
	for _, c := range []struct {
		last int64
		want Verdict
	}{{1_000_000_000, Pass}, {999_999_999, Fail}} {
		w := newWindowLog(Spec{Limit: bucket.Limit{Rate: 10, Capacity: 10}, Contract: bucket.SlidingWindow}.frame())
		for i := range int64(10) {
			w.land(&request{call: i, ret: i, cost: 1})
		}
		w.land(&request{call: c.last, ret: c.last, cost: 1})
		if got := w.full.peak > tolerance; got != (c.want == Fail) {
			t.Errorf("the eleventh at %d ns: over by %v", c.last, w.full.peak)
		}
	}
}

// What is stored must live as long as it counts, and not for ever.
func TestWindowAudit(t *testing.T) {
	ops := sequence(burst(history.Allowed, 10, 0), burst(history.Denied, 1, 0.9))
	look := func(at float64, complete bool, ttl ...time.Duration) Sample {
		m := Sample{Call: int64(at * 1e9), Return: int64(at * 1e9), Key: "k", Complete: complete}
		for _, d := range ttl {
			m.Keys = append(m.Keys, KeyState{Name: "rl:k", TTL: d, Tokens: math.NaN()})
		}
		return m
	}
	for _, c := range []struct {
		name           string
		sample         Sample
		sliding, fixed Verdict
	}{
		{"right", look(0.5, false, 600*time.Millisecond), Pass, Pass},
		{"too short", look(0.5, false, 300*time.Millisecond), Fail, Pass},
		{"one of two lives long enough", look(0.5, false, 300*time.Millisecond, 1500*time.Millisecond), Pass, Pass},
		{"absent under the names of now", look(0.5, false), Skipped, Skipped},
		{"absent under any name", look(0.5, true), Fail, Skipped},
		{"absent when nothing counts", look(1.5, true), Skipped, Skipped},
		{"no expiry", look(0.5, false, NoExpiry), Fail, Fail},
		{"a thousand seconds", look(0.5, false, 1000*time.Second), Fail, Fail},
	} {
		for contract, want := range map[bucket.Contract]Verdict{bucket.SlidingWindow: c.sliding, bucket.FixedWindow: c.fixed} {
			spec := Spec{Limit: bucket.Limit{Rate: 10, Capacity: 10}, Contract: contract, Time: bucket.ServerTime, Granularity: time.Millisecond}
			rep, err := Judge(spec, all(ops), []Sample{c.sample})
			if err != nil {
				t.Fatal(err)
			}
			if r := find(t, rep, StateAudit); r.Verdict != want {
				t.Errorf("%s, %s: %s, want %s: %s", c.name, contract, r.Verdict, want, r.Detail)
			}
		}
	}
}

// What is told to remain may jump where a window ends, and not beyond N; and who
// waits as told is let in.
func TestWindowReplies(t *testing.T) {
	told := func(outcome history.Outcome, at, remaining float64, retry time.Duration) history.Operation {
		o := op("i", outcome, at, at+0.001)
		o.Remaining, o.RetryAfter = remaining, retry
		return o
	}
	full := func(more ...history.Operation) []history.Operation {
		var ops []history.Operation
		for i := range 10 {
			ops = append(ops, told(history.Allowed, float64(i)*0.002, float64(9-i), -1))
		}
		return append(ops, more...)
	}
	for _, c := range []struct {
		name string
		ops  []history.Operation
		want Verdict
	}{
		{"all there again", full(told(history.Allowed, 1.05, 9, -1), told(history.Allowed, 1.1, 8, -1)), Pass},
		{"more than N", full(told(history.Allowed, 1.05, 11, -1), told(history.Allowed, 1.1, 8, -1)), Fail},
		{"waited as told", full(told(history.Denied, 0.5, 0, 530*time.Millisecond), told(history.Allowed, 1.05, 9, -1)), Pass},
		{"waited as told in vain", full(told(history.Denied, 0.5, 0, 200*time.Millisecond), told(history.Denied, 0.75, 0, -1), told(history.Denied, 0.8, 0, -1)), Fail},
	} {
		for _, contract := range windowContracts {
			spec := Spec{Limit: bucket.Limit{Rate: 10, Capacity: 10}, Contract: contract, Granularity: time.Millisecond}
			if r := find(t, judged(t, spec, c.ops), ReplyContract); r.Verdict != c.want {
				t.Errorf("%s, %s: %s, want %s: %s", c.name, contract, r.Verdict, c.want, r.Detail)
			}
		}
	}
}

// A contract that is none, and a model that is another, are refused.
func TestContractIsChecked(t *testing.T) {
	rule := bucket.RuleRedisTime
	for _, spec := range []Spec{
		{Limit: bucket.Limit{Rate: 1, Capacity: 1}, Contract: "leaky"},
		{Limit: bucket.Limit{Rate: 1, Capacity: 1}, Contract: bucket.FixedWindow, Model: &rule},
	} {
		if _, err := Judge(spec, all(nil), nil); err == nil {
			t.Errorf("%+v is taken", spec)
		}
	}
}
