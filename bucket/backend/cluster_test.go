package backend_test

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"testing"

	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
)

// TestCluster: every key is stored on the node that owns its slot and nowhere else,
// and all nodes have some.
func TestCluster(t *testing.T) {
	ctx := t.Context()
	c, err := backend.OpenCluster(ctx, 3, backend.Options{Log: func(line string) { t.Log(line) }})
	if err != nil {
		if _, none := exec.LookPath("redis-server"); none == nil {
			t.Fatal(err)
		}
		backendtest.Require(t, "redis", err)
	}
	defer c.Close()
	client := c.NewClient("app")
	defer client.Close()
	held := map[*backend.Redis]int{}
	for i := range 60 {
		key := fmt.Sprint("key-", i)
		if err := client.Set(ctx, key, i, 0).Err(); err != nil {
			t.Fatal(err)
		}
		owner, err := c.Owner(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		held[owner]++
		for _, node := range c.Nodes() {
			keys, err := node.Scan(context.WithoutCancel(ctx), "key-*")
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(keys, key) != (node == owner) {
				t.Errorf("%s belongs to %v and %v holds %v", key, owner.Info(), node.Info(), keys)
			}
		}
	}
	if len(held) != 3 {
		t.Errorf("keys are held by %d of 3 nodes", len(held))
	}
}
