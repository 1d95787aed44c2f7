package main

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
	"bucketproof/scenarios"
)

// openOwn is a server of the test's own with a limiter on it.
func openOwn(t *testing.T, kind scenarios.ServerKind, limiter string) (scenarios.OwnServer, bucket.Limiter) {
	t.Helper()
	if err := backend.CanOwnClock("process"); err != nil {
		backendtest.Require(t, "redis", err)
	}
	table := newLimiters()
	found, err := table.find(limiter)
	if err != nil {
		t.Fatal(err)
	}
	server, err := table.openOwn(t.Context(), kind)
	if err != nil {
		t.Fatal(err)
	}
	l, err := server.OpenLimiter(t.Context(), found.Subject, "app")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := closeLimiter(l); err != nil {
			t.Error(err)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server, l
}

// TestFailoverKeepsWhatWasWritten: the replica knows of every token that was taken,
// and forgets them only where its clock is so far ahead that the key has expired.
func TestFailoverKeepsWhatWasWritten(t *testing.T) {
	limit := bucket.Limit{Rate: 0.01, Capacity: 20} // nothing is earned meanwhile
	for _, c := range []struct {
		limiter string
		by      time.Duration
		again   int
	}{
		{"app-clock", -time.Minute, 0},
		{"app-clock", time.Minute, 0},
		{"app-clock", time.Hour, 20},
		{"redis-time", -time.Minute, 0},
		{"redis-time", 1000 * time.Second, 10},
		{"redis-time", time.Hour, 20},
	} {
		server, l := openOwn(t, scenarios.ServerFailover, c.limiter)
		ask := func(n int) (granted int) {
			t.Helper()
			for i := range n {
				d, err := l.Take(t.Context(), limit, bucket.Request{ID: fmt.Sprint(i), Key: "k", Instance: "app", Cost: 1, Now: time.Now()})
				if err != nil {
					t.Fatalf("%s: %v", c.limiter, err)
				}
				if d.Allowed {
					granted++
				}
			}
			return granted
		}
		if n := ask(30); n != 20 {
			t.Errorf("%s granted %d, want 20", c.limiter, n)
		}
		if err := server.Step(t.Context(), c.by); err != nil {
			t.Fatal(err)
		}
		if n := ask(30); n != c.again {
			t.Errorf("%s granted %d after a failover to a clock that is %v ahead, want %d", c.limiter, n, c.by, c.again)
		}
	}
}

// TestFailoverLosesNoCall: calls wait while the replica takes over, and each is
// answered.
func TestFailoverLosesNoCall(t *testing.T) {
	server, l := openOwn(t, scenarios.ServerFailover, "app-clock")
	limit := bucket.Limit{Rate: 0.01, Capacity: 100}
	var wg sync.WaitGroup
	var mu sync.Mutex
	granted := 0
	begun := make(chan struct{}, 400)
	for w := range 4 {
		wg.Go(func() {
			for i := range 100 {
				d, err := l.Take(t.Context(), limit, bucket.Request{ID: fmt.Sprint(w, i), Key: "k", Instance: "app", Cost: 1, Now: time.Now()})
				begun <- struct{}{}
				if err != nil {
					t.Errorf("call %d of worker %d: %v", i, w, err)
				}
				if d.Allowed {
					mu.Lock()
					granted++
					mu.Unlock()
				}
			}
		})
	}
	for range 40 {
		<-begun
	}
	if err := server.Step(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if granted != 100 {
		t.Errorf("%d of 100 tokens were granted", granted)
	}
}
