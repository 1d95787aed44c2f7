package limitertest_test

import (
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limitertest"
)

func TestMemory(t *testing.T) {
	open := func(*testing.T) bucket.Limiter {
		start := time.Now()
		return bucket.NewMemory(func() time.Duration { return time.Since(start) })
	}
	limitertest.Run(t, open, limitertest.Options{Costs: true, Granularity: time.Microsecond})
	t.Run("fractions", func(t *testing.T) {
		limitertest.Run(t, open, limitertest.Options{Costs: true, Limit: bucket.Limit{Rate: 33.3, Capacity: 7.5}})
	})
}
