package backend_test

import (
	"testing"
	"time"

	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
)

// TestADeadConnectionIsNoticed: a connection that the server has closed is not
// written to, however soon before the server had answered, once that is no
// longer recent; nothing is sent twice for it.
func TestADeadConnectionIsNoticed(t *testing.T) {
	r := backendtest.Real(t)
	c := r.NewClient("killed")
	defer c.Close()
	ctx := t.Context()
	for range 3 {
		if err := backend.Warm(ctx, c, 4); err != nil {
			t.Fatal(err)
		}
		if n, err := r.Client().ClientKillByFilter(ctx, "TYPE", "normal", "SKIPME", "yes").Result(); err != nil || n < 4 {
			t.Fatalf("%d connections were closed, %v", n, err)
		}
		time.Sleep(50 * time.Millisecond)
		for range 8 {
			if err := c.Ping(ctx).Err(); err != nil {
				t.Errorf("PING after the connections were closed: %v", err)
			}
		}
	}
	if s := c.PoolStats(); s.StaleConns < 4 {
		t.Errorf("pool %+v: no dead connection was found", s)
	}
}
