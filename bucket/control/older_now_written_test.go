package control

import (
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/backend/backendtest"
)

// TestOlderNowWrittenMintsTokens turns between two clocks 100 ms apart, without
// any time passing: each turn earns R·S = 10 tokens again.
func TestOlderNowWrittenMintsTokens(t *testing.T) {
	l := open(t, backendtest.Any(t), olderNowWritten)
	limit := bucket.Limit{Rate: 100, Capacity: 20}
	granted := 0
	for turn := range 200 {
		now := time.UnixMilli(1_000_000 + 100*int64(turn%2))
		d, err := l.Take(t.Context(), limit, bucket.Request{Key: "k", Cost: 1, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		if d.Allowed {
			granted++
		}
	}
	if granted != 200 {
		t.Errorf("granted %d of 200, want all, where at most 20 + 10 are right", granted)
	}
}
