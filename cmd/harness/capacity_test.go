package main

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket/backend/backendtest"
	"bucketproof/reports"
)

// TestInterruptedCapacityKeepsWhatWasMeasured: Ctrl-C leaves the levels that were
// measured, their history and a foreign server as it was, and exits 2.
func TestInterruptedCapacityKeepsWhatWasMeasured(t *testing.T) {
	r := backendtest.Real(t)
	theirs := []string{"bp-", "rl:app-clock:somebody"}
	for _, key := range theirs {
		if err := r.Client().Set(t.Context(), key, "theirs", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer time.AfterFunc(4*time.Second, cancel).Stop()
	dir := t.TempDir()
	_, errs, status := command(ctx, "capacity", "--limiter", "app-clock", "--redis", url(r), "--out", dir)
	if last := lastLine(errs); status != statusUndecided || last != "harness: interrupted; what was measured until then is in "+dir {
		t.Errorf("exit status %d, standard error: %s", status, errs)
	}
	found, err := reports.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if found.Verdict != "undecided" || len(found.Capacity) != 1 || len(found.Capacity[0].Connections) == 0 || found.Capacity[0].Knee.RatePS != nil {
		t.Errorf("%s, %+v", found.Verdict, found.Capacity)
	}
	if n := recorded(t, dir, found.Capacity[0].Verified.Dir); n < 10 || int64(n) != found.Capacity[0].Verified.Operations {
		t.Errorf("%d operations kept, %d checked", n, found.Capacity[0].Verified.Operations)
	}
	left, err := r.Scan(t.Context(), "*")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(left)
	if !slices.Equal(left, theirs) {
		t.Errorf("keys afterwards: %q, want %q", left, theirs)
	}
}

// TestCapacityOfLostServer: exit 4, one line that names the server, and what was
// measured is kept.
func TestCapacityOfLostServer(t *testing.T) {
	r := backendtest.Real(t)
	defer time.AfterFunc(3*time.Second, func() { _ = r.Stop(context.Background()) }).Stop()
	dir := t.TempDir()
	_, errs, status := command(t.Context(), "capacity", "--limiter", "redis-time", "--redis", url(r), "--out", dir)
	last := lastLine(errs)
	if status != statusEnvironment || !strings.HasPrefix(last, "harness: ") || !strings.Contains(last, r.Info().Address) || !strings.HasSuffix(last, "what was measured until then is in "+dir) {
		t.Errorf("exit status %d, standard error: %s", status, errs)
	}
	if found, err := reports.Read(dir); err != nil || found.Verdict != "undecided" || len(found.Capacity) != 1 {
		t.Errorf("%+v, %v", found, err)
	}
}
