package lua_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/backend/backendtest"
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

// BenchmarkWitness asks the same server in turn without a witness and with
// one, from one caller and from many: what the witness costs is their ratio,
// whatever the machine does besides.
func BenchmarkWitness(b *testing.B) {
	r := backendtest.Real(b)
	limit := bucket.Limit{Rate: 100, Capacity: 50}
	f := builtins(b)[2]
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint("callers=", callers), func(b *testing.B) {
			var took [2]time.Duration
			turn := func(kind int, l *lua.Limiter) {
				start := time.Now()
				var wg sync.WaitGroup
				for range callers {
					wg.Go(func() {
						for range 50 {
							if _, err := l.Take(b.Context(), limit, request("k", 0)); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
				took[kind] += time.Since(start)
			}
			c := r.NewClient("bench")
			defer c.Close()
			plain, err := lua.New(f, c)
			if err != nil {
				b.Fatal(err)
			}
			seen, err := lua.NewWitnessed(f, c)
			if err != nil {
				b.Fatal(err)
			}
			turns := 0
			for b.Loop() {
				turn(0, plain)
				turn(1, seen)
				turns++
			}
			per := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(turns*callers*50) }
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(per(took[0]), "µs/plain")
			b.ReportMetric(per(took[1]), "µs/witnessed")
			b.ReportMetric(per(took[1])/per(took[0]), "ratio")
		})
	}
}
