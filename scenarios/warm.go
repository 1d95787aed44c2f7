package scenarios

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// warmUp is the most requests an instance sends, at once and on a key of their
// own, before the run begins: connections are then open and scripts loaded, so
// that a burst meets the limiter and not the dialling.
const warmUp = 64

// warmTries is how often the first requests are made before the limiter counts
// as one that does not answer.
const warmTries = 3

// warm sends each instance's first requests, all at once, to a bucket that is
// not judged. It fails when not one of them is answered, and not again on a
// second and a third try: a machine may stand still for some seconds. A mistake of
// the limiter's own, which it may make under this limit alone, is an answer, too:
// the run tells it, and the runs beside it have nothing to do with it.
func (r *run) warm(ctx context.Context) error {
	var err error
	for range warmTries {
		if err = r.warmOnce(ctx); err == nil || ctx.Err() != nil {
			return nil
		}
	}
	return err
}

func (r *run) warmOnce(ctx context.Context) error {
	s := &r.plan.Scenario
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	each := min(warmUp, (widest(s.Phases)+len(r.driver.Instances)-1)/len(r.driver.Instances))
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	answered := false
	for _, in := range r.driver.Instances {
		for i := range max(each, 1) {
			wg.Go(func() {
				_, err := in.Limiter.Take(ctx, s.Limit, bucket.Request{
					ID: fmt.Sprintf("warm-%s-%d", in.Name, i), Key: r.prefix + "warm", Instance: in.Name,
					Cost: s.cost(), Now: time.Now(),
				})
				var mistake *limiterfile.Error
				mu.Lock()
				defer mu.Unlock()
				if err != nil && !errors.As(err, &mistake) {
					failed = err
				} else {
					answered = true
				}
			})
		}
	}
	wg.Wait()
	if !answered {
		return fmt.Errorf("no answer to the first requests: %w", failed)
	}
	return nil
}

// widest is the most requests that the phases have in flight by design.
func widest(phases []Phase) int {
	n := 1
	eachPhase(phases, func(p *Phase) {
		n = max(n, p.Burst)
		if p.Closed != nil {
			n = max(n, p.Closed.Workers)
		}
	})
	return n
}
