package control

import (
	"context"
	"testing"
	"time"

	"bucketproof/bucket"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

func TestSmoke(t *testing.T) {
	m := miniredis.RunT(t)
	c := redis.NewClient(&redis.Options{Addr: m.Addr(), MaxRetries: -1})
	defer c.Close()
	for _, ctl := range All() {
		l, err := ctl.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		granted := 0
		for i := range 10 {
			d, err := l.Take(context.Background(), bucket.Limit{Rate: 1, Capacity: 5}, bucket.Request{Key: "k", Cost: 1, Now: time.UnixMilli(1e12 + int64(i))})
			if err != nil {
				t.Fatal(err)
			}
			if d.Allowed {
				granted++
			}
		}
		if granted != 5 {
			t.Errorf("%s granted %d", ctl.Name, granted)
		}
	}
}
