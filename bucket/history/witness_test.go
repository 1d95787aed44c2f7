package history_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// witnesses generates witnesses as a history can hold them: none, or one that
// tells something.
func witnesses() *rapid.Generator[bucket.Witness] {
	whole := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Min(0))
	numbers := rapid.OneOf(
		rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1e21, 1e-7, math.SmallestNonzeroFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 1700000000123456}),
		rapid.Float64())
	states := rapid.Custom(func(t *rapid.T) bucket.State {
		if rapid.Bool().Draw(t, "missing") {
			return bucket.State{}
		}
		return bucket.State{Tokens: numbers.Draw(t, "tokens"), Time: numbers.Draw(t, "time"), Exists: true}
	})
	return rapid.Custom(func(t *rapid.T) bucket.Witness {
		if rapid.Bool().Draw(t, "none") {
			return bucket.Witness{}
		}
		w := bucket.Witness{
			Sequence:     whole.Draw(t, "sequence"),
			BeforeMicros: rapid.Int64Min(1).Draw(t, "before"),
			AfterMicros:  whole.Draw(t, "after"),
			Before:       states.Draw(t, "state before"),
			After:        states.Draw(t, "state after"),
		}
		if rapid.Bool().Draw(t, "at once") {
			w.AfterMicros = w.BeforeMicros
		}
		return w
	})
}

// TestWitnessOfOthers: what a program may say, and what it means.
func TestWitnessOfOthers(t *testing.T) {
	unseen, gone := bucket.Unseen(), bucket.State{}
	inf, nan := math.Inf(1), math.NaN()
	for _, test := range []struct {
		members string
		want    bucket.Witness
	}{
		{``, bucket.Witness{}},
		{`,"sequence":null,"tokens_after":null`, bucket.Witness{}},
		{`,"sequence":3`, bucket.Witness{Sequence: 3, Before: unseen, After: unseen}},
		{`,"server_us":5`, bucket.Witness{BeforeMicros: 5, AfterMicros: 5, Before: unseen, After: unseen}},
		{`,"server_us":5,"server_end_us":4`, bucket.Witness{BeforeMicros: 5, AfterMicros: 4, Before: unseen, After: unseen}},
		{`,"tokens_before":"none","tokens_after":4.5,"time_after":1.7e12`, bucket.Witness{
			Before: gone, After: bucket.State{Tokens: 4.5, Time: 1.7e12, Exists: true},
		}},
		{`,"tokens_before":"inf","time_before":"-inf","time_after":0`, bucket.Witness{
			Before: bucket.State{Tokens: inf, Time: -inf, Exists: true}, After: bucket.State{Tokens: nan, Exists: true},
		}},
		{`,"tokens_before":0,"tokens_after":"none"`, bucket.Witness{
			Before: bucket.State{Time: nan, Exists: true}, After: gone,
		}},
	} {
		_, ops, err := decode(`{"call_ns":1,"return_ns":2,"outcome":"allowed"` + test.members + `}`)
		if err != nil {
			t.Errorf("%s: %v", test.members, err)
			continue
		}
		if diff := cmp.Diff(test.want, ops[0].Witness, sameNaN); diff != "" {
			t.Errorf("%s (-want +got)\n%s", test.members, diff)
		}
	}
}

// TestStatesKeepTheirBits: a stored level is compared bit for bit later, so
// what is written must read back as the same double, in plain decimal where
// that is short.
func TestStatesKeepTheirBits(t *testing.T) {
	for v, want := range map[float64]string{
		49.300000000000004: `49.300000000000004`,
		1700000000123:      `1700000000123`,
		1700000000123456:   `1700000000123456`,
		-0.5:               `-0.5`,
		1e-7:               `1e-07`,
		5e-324:             `5e-324`,
		1e300:              `1e+300`,
	} {
		op := history.Operation{Clock: history.NoClock, Cost: 1, Outcome: history.Denied, Remaining: math.NaN(), RetryAfter: -1}
		op.Witness = bucket.Witness{Sequence: 1, After: bucket.State{Tokens: v, Time: math.NaN(), Exists: true}}
		text := string(history.AppendJSON(nil, &op))
		if want := fmt.Sprintf(`{"call_ns":0,"return_ns":0,"outcome":"denied","sequence":1,"tokens_before":"none","tokens_after":%s}`, want); text != want {
			t.Errorf("written as\n%s, want\n%s", text, want)
		}
		_, ops, err := decode(text)
		if err != nil || math.Float64bits(ops[0].Witness.After.Tokens) != math.Float64bits(v) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
