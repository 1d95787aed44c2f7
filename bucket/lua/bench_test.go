package lua_test

import (
	"context"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/lua"

	"github.com/redis/go-redis/v9"
)

// instant is a server that answers at once, so that only our own work is
// measured.
type instant struct{}

func (instant) Process(_ context.Context, cmd redis.Cmder) error {
	for range cmd.Args() {
	}
	cmd.(interface{ SetVal(any) }).SetVal(int64(1))
	return nil
}

// BenchmarkTake is what a request costs beside the network and the client.
func BenchmarkTake(b *testing.B) {
	l, err := lua.New(builtins(b)[0], instant{})
	if err != nil {
		b.Fatal(err)
	}
	limit := bucket.Limit{Rate: 100, Capacity: 50}
	r := bucket.Request{Key: "k", Cost: 1, Now: time.UnixMilli(1_700_000_000_123)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Take(b.Context(), limit, r); err != nil {
			b.Fatal(err)
		}
	}
}
