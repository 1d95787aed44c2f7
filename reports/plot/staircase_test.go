package plot

import (
	"math"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

func drawStaircase(t *rapid.T) staircase {
	n := rapid.IntRange(0, 300).Draw(t, "steps")
	s := make(staircase, n)
	for i := range s {
		s[i] = step{
			at:   float64(rapid.IntRange(0, 5000).Draw(t, "at")),
			cost: float64(rapid.IntRange(1, 3).Draw(t, "cost")),
			who:  rapid.IntRange(-1, 3).Draw(t, "who"),
		}
	}
	sort.SliceStable(s, func(i, j int) bool { return s[i].at < s[j].at })
	return s
}

func TestColumnsLoseNoTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStaircase(t)
		from := float64(rapid.IntRange(0, 3000).Draw(t, "from"))
		to := from + float64(rapid.IntRange(1, 3000).Draw(t, "length"))
		n := rapid.IntRange(1, 60).Draw(t, "n")
		list := s.columns(from, to, n, 4)
		if len(list) > n {
			t.Fatalf("%d columns, want at most %d", len(list), n)
		}
		width, at := (to-from)/float64(n), math.Inf(-1)
		for i, c := range list {
			if c.at < from || c.at > to || c.at <= at {
				t.Fatalf("column %d at %v after %v, in [%v, %v]", i, c.at, at, from, to)
			}
			at = c.at
			// What the picture shows up to the next column is the true total
			// just before it, and no step is further than a column away.
			truth, last := s.through(to), s.lastUpTo(to)
			if i+1 < len(list) {
				truth, last = s.through(math.Nextafter(list[i+1].at, 0)), s.lastUpTo(math.Nextafter(list[i+1].at, 0))
			}
			if c.total != truth {
				t.Fatalf("column %d shows %v, the total is %v", i, c.total, truth)
			}
			if last-c.at > width*(1+1e-9) {
				t.Fatalf("column %d at %v hides a step at %v, more than %v later", i, c.at, last, width)
			}
		}
	})
}

// lastUpTo is when the last step up to t happened.
func (s staircase) lastUpTo(t float64) float64 {
	at := math.Inf(-1)
	for _, x := range s {
		if x.at <= t {
			at = x.at
		}
	}
	return at
}

func TestColumnsPartsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStaircase(t)
		parts, told := 0.0, 0.0
		for _, c := range s.columns(0, 5000, 40, 4) {
			for _, p := range c.parts {
				parts += p
			}
		}
		for _, x := range s {
			if x.who >= 0 {
				told += x.cost
			}
		}
		if parts != told {
			t.Fatalf("parts are %v, want %v", parts, told)
		}
	})
}

// slowIdeal is the bucket by its definition, in seconds.
func slowIdeal(l bucket.Limit, ops []history.Operation) float64 {
	level, last, granted := l.Capacity, ops[0].Call, 0.0
	for _, op := range ops {
		level = math.Min(l.Capacity, level+float64(op.Call-last)/1e9*l.Rate)
		last = op.Call
		if level >= op.Cost-1e-9 {
			level -= op.Cost
			granted += op.Cost
		}
	}
	return granted
}

func TestIdealIsABucket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := bucket.Limit{Rate: float64(rapid.IntRange(1, 1000).Draw(t, "rate")), Capacity: float64(rapid.IntRange(1, 50).Draw(t, "capacity"))}
		var ops []history.Operation
		at := int64(rapid.IntRange(0, 1).Draw(t, "epoch")) * 1_700_000_000_000_000_000
		for range rapid.IntRange(1, 200).Draw(t, "requests") {
			at += int64(rapid.IntRange(0, 30).Draw(t, "gap")) * 1_000_000
			ops = append(ops, history.Operation{Call: at, Return: at, Cost: 1, Key: "k", Outcome: history.Allowed})
		}
		r := recorded{ops: ops, zero: ops[0].Call}
		if got, want := r.ideal(l).through(math.Inf(1)), slowIdeal(l, ops); math.Abs(got-want) > 1 { // a tie may fall either way
			t.Fatalf("ideal grants %v, by definition %v", got, want)
		}
	})
}
