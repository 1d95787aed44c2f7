package scenarios

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/check"
	"bucketproof/bucket/limiterfile"
)

// choosy is a right limiter that fails under limits of some rate.
type choosy struct {
	bucket.Limiter
	rate float64
	err  error
}

func (c choosy) Take(ctx context.Context, l bucket.Limit, r bucket.Request) (bucket.Decision, error) {
	if l.Rate == c.rate {
		return bucket.Untold(false), fmt.Errorf("limiter choosy: %w", c.err)
	}
	return c.Limiter.Take(ctx, l, r)
}

// side runs two scenarios, whole and thirds, side by side for a limiter that fails
// in the second.
func side(t *testing.T, err error) (results map[string]*Result, failed error) {
	t.Helper()
	sub := virtualSubject("redis-time", 2)
	open := sub.Open
	sub.Open = func(ctx context.Context, instance string, witness bool) (bucket.Limiter, error) {
		l, openErr := open(ctx, instance, witness)
		return choosy{l, 30, err}, openErr
	}
	sel := Selection{Subjects: []*Subject{sub}, Scenarios: []*Scenario{
		mustParse(t, "name: whole\nlimit: {rate: 100, capacity: 50}\ninstances: [{name: app}]\nphases: [{for: 2s, open: {rate: 200}}]\n"),
		mustParse(t, "name: thirds\nlimit: {rate: 30, capacity: 7}\ninstances: [{name: app}]\nphases: [{for: 1s, open: {rate: 60}}]\n"),
	}}
	plans, _, planErr := sel.Plans()
	if planErr != nil {
		t.Fatal(planErr)
	}
	results = map[string]*Result{}
	synctest.Test(t, func(t *testing.T) {
		s := &Suite{Runner: &Runner{ID: "virtual"}, Plans: plans, Done: func(res *Result, p Plan, err error) error {
			if err == nil {
				results[p.Scenario.Name] = res
			}
			return err
		}}
		failed = s.Run(t.Context())
	})
	return results, failed
}

// TestMistakeUnderOneLimit: a script that fails under one limit alone leaves that
// run undecided, with what it said, and the runs beside it alone.
func TestMistakeUnderOneLimit(t *testing.T) {
	const said = "the value is not an integer"
	results, err := side(t, &limiterfile.Error{File: "choosy.yaml", Line: 3, What: said})
	if err != nil || len(results) != 2 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	if res := results["whole"]; res.Outcome != AsExpected || len(res.Warnings) > 0 {
		t.Errorf("whole: %s, %q", res.Outcome, res.Warnings)
	}
	res := results["thirds"]
	want := fmt.Sprintf("the most frequent error, of %d of %[1]d requests: limiter choosy: choosy.yaml:3: %s", len(res.Operations), said)
	if got := res.Warnings[len(res.Warnings)-1]; res.Outcome != Undecided || got != want {
		t.Errorf("thirds: %s, %q\nwant %s, %q", res.Outcome, got, Undecided, want)
	}
}

// TestNobodyAnswers: where there is no limiter at all the suite ends, and the runs
// that were under way say so.
func TestNobodyAnswers(t *testing.T) {
	results, err := side(t, fmt.Errorf("%w: connection refused", bucket.ErrUnsent))
	if err == nil || !strings.Contains(err.Error(), "run thirds for redis-time: no answer to the first requests: limiter choosy: ") || len(results) != 1 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	res := results["whole"]
	if told := strings.Join(res.Warnings, "\n"); res.Outcome != Undecided || !strings.Contains(told, "the run was stopped, for the command failed, after ") || strings.Contains(told, "frequent") {
		t.Errorf("whole: %s\n%s", res.Outcome, told)
	}
}

// TestFewErrorsAreToldToo: of a run that is not as expected the error is told that
// fewer requests ended with than leave it undecided.
func TestFewErrorsAreToldToo(t *testing.T) {
	s := mustParse(t, "name: few\nlimit: {rate: 100, capacity: 20}\ninstances: [{name: app}]\nphases: [{for: 2s, open: {rate: 300}}]\n")
	sub := virtualSubject("redis-time", 2)
	sub.Reference, sub.Model = false, nil
	sub.Open = func(context.Context, string, bool) (bucket.Limiter, error) { return &lax{}, nil }
	res := runScenarios(t, 2, sub, s)[0]
	if v := verdictOn(t, res, check.OverAdmission); v.Verdict != check.Fail || res.Outcome != Unexpected {
		t.Fatalf("%s, over-admission %s", res.Outcome, v.Verdict)
	}
	if len(res.Warnings) != 1 || !strings.HasPrefix(res.Warnings[0], "the most frequent error, of ") || !strings.HasSuffix(res.Warnings[0], " of 600 requests: gone") {
		t.Errorf("warnings %q", res.Warnings)
	}
}

// lax grants everything and answers nineteen requests of twenty.
type lax struct{ n atomic.Int64 }

func (l *lax) Take(context.Context, bucket.Limit, bucket.Request) (bucket.Decision, error) {
	time.Sleep(time.Millisecond)
	if l.n.Add(1)%20 == 0 {
		return bucket.Untold(false), errors.New("gone")
	}
	return bucket.Untold(true), nil
}
