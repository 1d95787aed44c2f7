package scenarios

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/check"
)

// faraway is a right limiter on the server's clock that takes a while to reach.
func faraway(seed uint64, way time.Duration, witness bool) *Subject {
	sub := virtualSubject("redis-time", seed)
	sub.Reference, sub.Model, sub.Witnessed = false, nil, witness
	v := &virtual{rule: bucket.RuleRedisTime, server: true, way: way, random: rand.New(rand.NewPCG(seed, 1)), states: map[string]stored{}}
	sub.Open = func(_ context.Context, _ string, witness bool) (bucket.Limiter, error) {
		return &view{v, witness, nil}, nil
	}
	return sub
}

// TestSlowCallsHideNothingFromTheServer: where a fault was expected and none
// shown, slow calls may have hidden it from who saw the calls alone. The server
// decided each at one instant: there was none.
func TestSlowCallsHideNothingFromTheServer(t *testing.T) {
	s := mustParse(t, `name: slow
limit: {rate: 100, capacity: 20}
instances:
  - {name: app, count: 4}
phases:
  - {for: 2s, open: {rate: 150}}
expect:
  redis-time: {over-admission: fail, spurious-denial: fail}
`)
	for _, witness := range []bool{false, true} {
		res := runScenarios(t, 4, faraway(4, 60*time.Millisecond, witness), s)[0]
		for _, name := range []string{check.OverAdmission, check.SpuriousDenial} {
			want := map[bool]check.Verdict{false: check.Undecided, true: check.Pass}[witness]
			if v := verdictOn(t, res, name); v.Verdict != want {
				t.Errorf("witness %v: %s %s, want %s: %s", witness, name, v.Verdict, want, v.Detail)
			}
		}
		want := map[bool]Outcome{false: Undecided, true: Unexpected}[witness]
		if res.Outcome != want || res.Hazy == witness {
			t.Errorf("witness %v: %s, hazy %v, want %s", witness, res.Outcome, res.Hazy, want)
		}
	}
}

// TestABucketThatWasNotEmptiedProvesNothing: a lone caller that is to drain the
// bucket and cannot in time has not shown that the limiter is without the fault
// that was expected, though it was denied later.
func TestABucketThatWasNotEmptiedProvesNothing(t *testing.T) {
	s := mustParse(t, `name: lone
limit: {rate: 10, capacity: 20}
instances:
  - {name: app}
phases:
  - {for: 100ms, closed: {workers: 1}}
  - {for: 500ms, closed: {workers: 1}}
expect:
  redis-time: {over-admission: fail}
`)
	for way, want := range map[time.Duration]Outcome{time.Millisecond: Unexpected, 4 * time.Millisecond: Undecided} {
		res := runScenarios(t, 5, faraway(5, way, true), s)[0]
		if res.Outcome != want || res.Hazy != (want == Undecided) || res.Report.Summary.Denied == 0 {
			t.Errorf("calls of %v: %s, hazy %v, %d denied, want %s", 2*way, res.Outcome, res.Hazy, res.Report.Summary.Denied, want)
		}
	}
}

// TestOutcomeOfAnUndecidedCheck: a check that cannot decide leaves the run
// undecided, but for a search for an order that gave up where nothing was expected
// of it: it is a second opinion.
func TestOutcomeOfAnUndecidedCheck(t *testing.T) {
	for _, c := range []struct {
		name     string
		expected Expectation
		want     Outcome
	}{
		{check.Linearizability, ExpectPass, AsExpected},
		{check.Linearizability, ExpectAny, AsExpected},
		{check.Linearizability, ExpectFail, Undecided},
		{check.Replay, ExpectPass, Undecided},
		{check.OverAdmission, ExpectPass, Undecided},
		{check.OverAdmission, ExpectAny, AsExpected},
	} {
		verdicts := []Verdict{
			{Result: check.Result{Name: check.Accounting, Verdict: check.Pass, WithinPrediction: true}, Expected: ExpectPass},
			{Result: check.Result{Name: c.name, Verdict: check.Undecided, WithinPrediction: true}, Expected: c.expected},
		}
		if got := OutcomeOf(verdicts, true); got != c.want {
			t.Errorf("%s undecided, expected %s: %s, want %s", c.name, c.expected, got, c.want)
		}
		verdicts[0].Verdict = check.Fail
		if got := OutcomeOf(verdicts, true); got != Unexpected {
			t.Errorf("%s undecided, expected %s, and a failure beside it: %s", c.name, c.expected, got)
		}
	}
}

// TestLostKeysAreNobodysFault: what was granted after the server was flushed is
// not the limiter's doing.
func TestLostKeysAreNobodysFault(t *testing.T) {
	res := &Result{Verdicts: []Verdict{
		{Result: check.Result{Name: check.OverAdmission, Verdict: check.Fail}},
		{Result: check.Result{Name: check.SpuriousDenial, Verdict: check.Pass}},
		{Result: check.Result{Name: check.Accounting, Verdict: check.Pass, Value: map[string]float64{"restarts": 0}}},
	}}
	if why := lostKeys(res); why != "" {
		t.Errorf("nothing was lost: %s", why)
	}
	res.Verdicts[2].Value["restarts"] = 2
	why := lostKeys(res)
	res.doubt(why, check.Fail)
	if why == "" || res.Verdicts[0].Verdict != check.Undecided || res.Verdicts[1].Verdict != check.Pass {
		t.Errorf("%q: %+v", why, res.Verdicts)
	}
}

// TestTooLittleLoadShowsNothing: a limiter that grants everything, and is expected
// to, is not cleared by a load that does not exceed the limit.
func TestTooLittleLoadShowsNothing(t *testing.T) {
	for _, c := range []struct {
		rate    string
		verdict check.Verdict
	}{{"50", check.Undecided}, {"400", check.Fail}} {
		s := mustParse(t, `name: idle
limit: {rate: 100, capacity: 20}
instances:
  - {name: app, count: 2}
phases:
  - {for: 1s, open: {rate: `+c.rate+`}}
expect:
  everything: {over-admission: fail, accept-rate: any}
`)
		sub := virtualSubject("redis-time", 1)
		sub.Name, sub.Reference, sub.Model, sub.Witnessed = "everything", false, nil, false
		sub.Open = func(context.Context, string, bool) (bucket.Limiter, error) { return open{}, nil }
		res := runScenarios(t, 1, sub, s)[0]
		if v := verdictOn(t, res, check.OverAdmission); v.Verdict != c.verdict {
			t.Errorf("at %s/s: %s, want %s: %s", c.rate, v.Verdict, c.verdict, v.Detail)
		}
	}
}

// open grants everything.
type open struct{}

func (open) Take(context.Context, bucket.Limit, bucket.Request) (bucket.Decision, error) {
	return bucket.Untold(true), nil
}
