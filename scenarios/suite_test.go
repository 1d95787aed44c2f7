package scenarios

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bucketproof/bucket"
)

// counted is a limiter that tells when its instance is closed.
type counted struct {
	bucket.Limiter
	io.Closer
}

type closer func()

func (c closer) Close() error { c(); return nil }

// TestAloneRunsAlone: a scenario that wants the machine for itself has no other run
// beside it, where runs go side by side.
func TestAloneRunsAlone(t *testing.T) {
	together := mustParse(t, "name: together\nlimit: {rate: 100, capacity: 50}\ninstances: [{name: app}]\nphases: [{for: 1s, open: {rate: 50}}]\n")
	alone := together.copy()
	alone.Name, alone.Alone = "alone", true
	var runs, most, beside atomic.Int64
	subject := func(name string) *Subject {
		sub := virtualSubject("app-clock", 2)
		sub.Name = name
		open := sub.Open
		sub.Open = func(ctx context.Context, instance string, witness bool) (bucket.Limiter, error) {
			l, err := open(ctx, instance, witness)
			most.Store(max(most.Load(), runs.Add(1)))
			return counted{l, closer(func() { runs.Add(-1) })}, err
		}
		return sub
	}
	plans, _, err := Selection{Scenarios: []*Scenario{&alone, together}, Subjects: []*Subject{subject("a"), subject("b"), subject("c")}}.Plans()
	if err != nil {
		t.Fatal(err)
	}
	for i := range plans {
		if !plans[i].Scenario.Alone {
			continue
		}
		sub := *plans[i].Subject
		open := sub.Open
		sub.Open = func(ctx context.Context, instance string, witness bool) (bucket.Limiter, error) {
			beside.Add(runs.Load())
			return open(ctx, instance, witness)
		}
		plans[i].Subject = &sub
	}
	done := 0
	synctest.Test(t, func(t *testing.T) {
		s := &Suite{Runner: &Runner{ID: "virtual"}, Plans: plans, RepeatUntil: time.Minute, Done: func(*Result, Plan, error) error { done++; return nil }}
		if err := s.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	if done != 6 || most.Load() != 3 || beside.Load() != 0 {
		t.Errorf("%d runs ended, at most %d at once, %d beside one that wanted to be alone; want 6, 3, 0", done, most.Load(), beside.Load())
	}
}
