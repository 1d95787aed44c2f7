package thirdparty

import (
	"testing"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
)

// TestFiberOverwrites: what one process counts while another is between its
// reading and its writing is lost.
func TestFiberOverwrites(t *testing.T) {
	limit := bucket.Limit{Rate: 0.01, Capacity: 5} // 5 in 500 s
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		other := open(t, fiberLimiter, r)
		granted, acted := 0, false
		ask := func(l bucket.Limiter) {
			if take(t, l, limit, "k").Allowed {
				granted++
			}
		}
		client := newClient(t, r)
		client.AddHook(interloper{watch{}, "set", func() {
			if !acted {
				acted = true
				for range 5 {
					ask(other)
				}
			}
		}})
		ask(openOn(t, fiberLimiter, client)) // reads 0, and writes 1 after the other has written 5
		for range 5 {
			ask(other)
		}
		if granted != 10 {
			t.Errorf("granted %d of 11 in a window of 5, want 10", granted)
		}
	})
}

// TestFiberFailsOpen: without its storage the middleware counts nothing and
// grants everything.
func TestFiberFailsOpen(t *testing.T) {
	limit := bucket.Limit{Rate: 0.01, Capacity: 5}
	client := backendtest.Embedded(t).NewClient("fails open")
	l := openOn(t, fiberLimiter, client)
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if !take(t, l, limit, "k").Allowed {
			t.Fatalf("request %d denied without a storage", i+1)
		}
	}
}
