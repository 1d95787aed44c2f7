package check_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
	"bucketproof/bucket/check"
	"bucketproof/bucket/history"
	"bucketproof/bucket/lua"
)

// live drives a built-in limiter on a server with clients in a closed loop, each
// with a clock of its own, and records what happens.
func live(t *testing.T, r *backend.Redis, name string, limit bucket.Limit, length time.Duration) (check.Spec, []history.Operation) {
	t.Helper()
	f, err := lua.Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	recorder, start := history.NewRecorder(), time.Now()
	var wg sync.WaitGroup
	for i := range 12 {
		c := r.NewClient("test")
		t.Cleanup(func() { _ = c.Close() })
		l, err := lua.NewWitnessed(f, c)
		if err != nil {
			t.Fatal(err)
		}
		log, rng := recorder.Worker(), rand.New(rand.NewPCG(uint64(i), 1))
		instance, skew := fmt.Sprint("i", i%3), time.Duration(i%3)*20*time.Millisecond
		wg.Go(func() {
			for {
				call := time.Since(start)
				if call > length {
					return
				}
				op := history.Operation{
					Due: int64(call), Call: int64(call), Key: fmt.Sprint(name, rng.IntN(2)), Instance: instance, Cost: 1, Outcome: history.Denied,
				}
				now := start.Round(0).Add(call + skew)
				op.Clock = now.UnixNano()
				d, err := l.Take(t.Context(), limit, bucket.Request{Key: op.Key, Instance: instance, Cost: 1, Now: now})
				op.Return = int64(time.Since(start))
				op.Remaining, op.RetryAfter, op.Witness = d.Remaining, d.RetryAfter, d.Witness
				switch {
				case err != nil:
					op.Outcome = history.Unknown
				case d.Allowed:
					op.Outcome = history.Allowed
				}
				log.Append(op)
				time.Sleep(time.Duration(rng.ExpFloat64() * float64(time.Millisecond)))
			}
		})
	}
	wg.Wait()
	rule, _ := f.Rule()
	return check.Spec{
		Limit: limit, Granularity: f.Granularity, RateTolerance: check.DefaultRateTolerance, Time: f.Time, Model: &rule, Witnessed: true,
	}, recorder.Operations()
}

// The reference on a real server is what its model says, to the bit.
func TestReplayOfARealServer(t *testing.T) {
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		for _, name := range lua.Family() {
			t.Run(name, func(t *testing.T) {
				spec, ops := live(t, r, name, bucket.Limit{Rate: 300, Capacity: 40}, 250*time.Millisecond)
				report, err := check.Judge(spec, history.All(ops), nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, res := range report.Results {
					wrong := res.Verdict == check.Fail
					switch res.Name {
					case check.Replay, check.Accounting:
						wrong = res.Verdict != check.Pass
					case check.OverAdmission, check.SpuriousDenial:
						wrong = wrong && spec.Time == bucket.ServerTime // the clocks disagree on purpose
					case check.AcceptRate:
						wrong = false
					}
					if wrong {
						t.Errorf("%s: %s: %s\n%+v", res.Name, res.Verdict, res.Detail, res.Evidence)
					}
				}
			})
		}
	})
}
