package limitertest

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"bucketproof/bucket"
)

// startsFull: a fresh key grants a whole bucket at once, and no more than that
// and what time earned.
func (s *suite) startsFull() {
	straight, granted, took := s.burst("a", s.whole()+5)
	if straight < s.whole() {
		s.Errorf("a fresh key granted %d in a row, want %d", straight, s.whole())
	}
	if most := s.bound(took); float64(granted) > most {
		s.Errorf("a fresh key granted %d within %v, at most %.2f are right", granted, took, most)
	}
}

// drain takes tokens until the first denial, and returns it. A machine on
// which calls take as long as tokens do is too slow to judge.
func (s *suite) drain(bucketName string) bucket.Decision {
	s.Helper()
	start := time.Now()
	for granted := range 100 * s.whole() {
		if d := s.take(bucketName, 1); !d.Allowed {
			return d
		}
		if took := time.Since(start); float64(granted+1) > s.bound(took) {
			s.Fatalf("granted %d within %v, at most %.2f are right", granted+1, took, s.bound(took))
		}
	}
	s.Skip("the bucket refills faster than calls are answered")
	return bucket.Decision{}
}

// refills: a denial tells at most how long a token takes, and a token is there
// after that time.
func (s *suite) refills() {
	token := time.Duration(math.Ceil(float64(time.Second) / s.options.Limit.Rate))
	for range 3 {
		denial := s.drain("a")
		wait := token
		if denial.RetryAfter >= 0 {
			wait = denial.RetryAfter
			if most := token + s.options.Granularity + time.Millisecond; wait > most {
				s.Errorf("a denial tells to wait %v, a token takes %v", wait, token)
			}
		}
		s.sleep(wait + s.aLittle())
		if d := s.take("a", 1); !d.Allowed {
			s.Errorf("denied again %v after a denial that told to wait %v; a token takes %v", wait, denial.RetryAfter, token)
		}
	}
}

// fillsUp: after more than the fill time the bucket is full, and only full.
func (s *suite) fillsUp() {
	s.drain("a")
	fill := s.options.Limit.FillTime()
	s.sleep(fill + fill/10 + s.aLittle())
	straight, granted, took := s.burst("a", s.whole()+5)
	if straight < s.whole() {
		s.Errorf("granted %d in a row after the fill time, want %d", straight, s.whole())
	}
	if most := s.bound(took); float64(granted) > most {
		s.Errorf("granted %d within %v after the fill time, at most %.2f are right", granted, took, most)
	}
}

func (s *suite) keysAreIndependent() {
	s.drain("a")
	if straight, _, _ := s.burst("b", s.whole()); straight < s.whole() {
		s.Errorf("granted %d of a fresh bucket after another was drained, want %d", straight, s.whole())
	}
}

// listsKeys: keys in Redis are named, the same every time, and not shared.
func (s *suite) listsKeys() {
	lister, ok := s.limiter.(bucket.KeyLister)
	if !ok {
		s.Skip("it is no bucket.KeyLister")
	}
	keys := func(bucketName string) []string {
		keys, err := lister.Keys(s.options.Limit, s.request(bucketName, 1))
		if err != nil {
			s.Fatalf("keys of %s: %v", bucketName, err)
		}
		return keys
	}
	a, again, b := keys("a"), keys("a"), keys("b")
	switch {
	case len(a) == 0:
		s.Error("it names no key")
	case !slices.Equal(a, again):
		s.Errorf("it names %q, then %q for the same bucket", a, again)
	case slices.Contains(b, a[0]):
		s.Errorf("two buckets share the key %q", a[0])
	case !strings.Contains(a[0], s.key):
		s.Errorf("key %q does not hold the request's key %q, so it would not be cleaned up", a[0], s.key)
	}
}

// costs: a request takes its cost, and one that is denied takes nothing.
func (s *suite) costs() {
	whole, start := float64(s.whole()), time.Now()
	if d := s.take("a", whole); !d.Allowed {
		s.Errorf("a fresh bucket of %v denied a cost of %v", s.options.Limit.Capacity, whole)
	}
	second := s.take("a", whole)
	if most := s.bound(time.Since(start)); second.Allowed && 2*whole > most {
		s.Errorf("two costs of %v granted at once, at most %.2f are right", whole, most)
	}
	d, err := s.limiter.Take(s.Context(), s.options.Limit, s.request("b", s.options.Limit.Capacity+1))
	if err == nil && d.Allowed {
		s.Errorf("a cost of %v granted of a bucket of %v", s.options.Limit.Capacity+1, s.options.Limit.Capacity)
	}
	if straight, _, _ := s.burst("b", s.whole()); straight < s.whole() {
		s.Errorf("granted %d after a denied cost that exceeds the bucket, want %d: a denial was charged", straight, s.whole())
	}
}

// cancelled: a caller that has given up gets an error, or a grant, but never a
// denial, and what was not sent is not charged.
func (s *suite) cancelled() {
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	charged, certain := 0, true
	for range 3 {
		d, err := s.limiter.Take(ctx, s.options.Limit, s.request("a", 1))
		switch {
		case err == nil && !d.Allowed:
			s.Error("a full bucket denied a request whose context was cancelled")
		case err == nil:
			charged++
		case d.Allowed:
			s.Errorf("an error came with a grant: %v", err)
		case !errors.Is(err, bucket.ErrUnsent):
			certain = false
		}
	}
	left := s.whole() - charged
	if straight, _, _ := s.burst("a", max(left, 0)); certain && straight < left {
		s.Errorf("granted %d after 3 cancelled requests, want %d: unsent ones were charged", straight, left)
	}
}

// concurrent: callers at the same time get no more than one bucket, and what
// each of them gave the other to lose by its age.
func (s *suite) concurrent() {
	const callers = 8
	var wg sync.WaitGroup
	granted := make([]int, callers)
	start := time.Now()
	for i := range callers {
		wg.Go(func() {
			for range 2 * s.whole() {
				d, err := s.limiter.Take(s.Context(), s.options.Limit, s.request("a", 1))
				if err != nil {
					s.Errorf("caller %d: %v", i, err)
					return
				}
				if d.Allowed {
					granted[i]++
				}
			}
		})
	}
	wg.Wait()
	took, sum := time.Since(start), 0
	for _, n := range granted {
		sum += n
	}
	if most := s.bound(took); float64(sum) > most {
		s.Errorf("%d callers were granted %d within %v, at most %.2f are right", callers, sum, took, most)
	}
	lost := s.options.Limit.Rate * (took + s.options.Granularity).Seconds()
	if least := math.Floor(s.options.Limit.Capacity - lost); float64(sum) < least {
		s.Errorf("%d callers were granted %d within %v, at least %v are right", callers, sum, took, least)
	}
}
