package backend_test

import (
	"fmt"
	"testing"
	"time"

	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
)

// TestPromote: the replica has all that was written, and keys live on there by
// its own clock.
func TestPromote(t *testing.T) {
	primary, replica := backendtest.Real(t), backendtest.OwnClock(t)
	ctx := t.Context()
	if err := replica.Follow(ctx, primary); err != nil {
		t.Fatal(err)
	}
	shift(t, replica, -10*time.Second)
	for i := range 500 {
		if err := primary.Client().Set(ctx, fmt.Sprint("key-", i), i, time.Minute).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := replica.Client().Set(ctx, "mine", 1, 0).Err(); err == nil {
		t.Error("a replica took a write")
	}
	if err := replica.Promote(ctx, primary); err != nil {
		t.Fatal(err)
	}
	if err := primary.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := replica.Client().DBSize(ctx).Result(); n != 500 || err != nil {
		t.Errorf("%d keys, error %v, want 500", n, err)
	}
	if err := replica.Client().Set(ctx, "mine", 1, 0).Err(); err != nil {
		t.Errorf("a promoted replica took no write: %v", err)
	}
	ttl, err := replica.TTL(ctx, []string{"key-0"})
	if err != nil {
		t.Fatal(err)
	}
	if ttl[0] <= time.Minute || ttl[0] > 70*time.Second {
		t.Errorf("a key of a minute lives %v on a replica whose clock is 10 s behind", ttl[0])
	}
}

// TestFollowChangesOnlyOurOwn: somebody else's server is left alone.
func TestFollowChangesOnlyOurOwn(t *testing.T) {
	owned := backendtest.Real(t)
	theirs, err := backend.Open(t.Context(), owned.URL(), backend.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	if err := theirs.Follow(t.Context(), owned); err == nil {
		t.Error("an external server was made a replica")
	}
	if err := owned.Follow(t.Context(), theirs); err == nil {
		t.Error("an external server was made a primary")
	}
}
