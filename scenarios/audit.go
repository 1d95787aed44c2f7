package scenarios

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/bucket/check"
	"bucketproof/bucket/lua"
)

// Store is what the audit sees of Redis.
type Store interface {
	Inspect(ctx context.Context, probes []backend.Probe) ([]backend.Seen, error)
	Scan(ctx context.Context, pattern string) ([]string, error)
}

// auditEvery is how often the keys are looked at while the load runs.
const auditEvery = 100 * time.Millisecond

// auditKeys is the most buckets that are followed during a run; at the end all
// are looked at.
const auditKeys = 16

// auditor looks at the Redis keys behind a run's buckets. It is used by one
// goroutine at a time.
type auditor struct {
	store   Store
	elapsed func() time.Duration
	base    time.Time // true time at elapsed 0
	prefix  string    // of all bucket keys of the run
	buckets []string  // all bucket keys
	lister  bucket.KeyLister
	limit   bucket.Limit
	cost    float64
	tokens  *string
	samples []check.Sample
}

// watch takes samples until ctx is done. It names the keys as the limiter
// does, so it is silent for a limiter that cannot.
func (a *auditor) watch(ctx context.Context) error {
	if a.lister == nil {
		return nil
	}
	tick := time.NewTicker(auditEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := a.look(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// look samples the first few buckets under the names the limiter gives.
func (a *auditor) look(ctx context.Context) error {
	var found []place
	for _, b := range a.buckets[:min(len(a.buckets), auditKeys)] {
		names, err := a.names(b)
		if err != nil {
			return fmt.Errorf("name the keys of %s: %w", b, err)
		}
		for i, name := range names {
			found = append(found, place{bucket: b, name: name, first: i == 0})
		}
	}
	return a.inspect(ctx, found)
}

// names are the Redis keys of a bucket as the limiter names them now; none
// when it cannot.
func (a *auditor) names(b string) ([]string, error) {
	if a.lister == nil {
		return nil, nil
	}
	return a.lister.Keys(a.limit, bucket.Request{
		ID: "audit", Key: b, Instance: "audit", Cost: a.cost, Now: a.base.Add(a.elapsed()),
	})
}

// final searches the whole server for the run's keys, whatever their names,
// and samples every bucket.
func (a *auditor) final(ctx context.Context) error {
	call := int64(a.elapsed())
	names, err := a.store.Scan(ctx, backend.Contains(a.prefix))
	if err != nil {
		return err
	}
	ret := int64(a.elapsed())
	slices.Sort(names)
	var found []place
	absent := make(map[string]bool, len(a.buckets))
	for _, b := range a.buckets {
		absent[b] = true
	}
	for _, name := range names {
		b := a.owner(name)
		if lua.IsSequenceKey(name) {
			continue // the witness's own
		}
		if _, ours := absent[b]; ours {
			absent[b] = false
			own, err := a.names(b)
			first := err == nil && len(own) > 0 && own[0] == name
			found = append(found, place{bucket: b, name: name, first: first})
		}
	}
	for _, b := range a.buckets {
		if absent[b] {
			a.samples = append(a.samples, check.Sample{Call: call, Return: ret, Key: b, Complete: true})
		}
	}
	slices.SortStableFunc(found, func(x, y place) int { return strings.Compare(x.bucket, y.bucket) })
	return a.inspect(ctx, found)
}

// owner is the bucket whose key stands in a Redis key's name: the run's prefix
// with the number after it.
func (a *auditor) owner(name string) string {
	_, rest, ok := strings.Cut(name, a.prefix)
	if !ok {
		return ""
	}
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	return a.prefix + rest[:n]
}

// place is a Redis key and the bucket it belongs to. The level is kept under
// the first of the limiter's keys; another may hold a time in a like field.
type place struct {
	bucket, name string
	first        bool
}

// inspect reads the keys, which stand bucket by bucket, and files what they
// show under their buckets.
func (a *auditor) inspect(ctx context.Context, found []place) error {
	if len(found) == 0 {
		return nil
	}
	probes := make([]backend.Probe, len(found))
	for i, f := range found {
		probes[i].Key = f.name
		if a.tokens != nil && f.first {
			probes[i].Fields = []string{*a.tokens}
		}
	}
	call := int64(a.elapsed())
	seen, err := a.store.Inspect(ctx, probes)
	if err != nil {
		return err
	}
	ret := int64(a.elapsed())
	for i := 0; i < len(found); {
		sample := check.Sample{Call: call, Return: ret, Key: found[i].bucket}
		for ; i < len(found) && found[i].bucket == sample.Key; i++ {
			if seen[i].Exists {
				sample.Keys = append(sample.Keys, keyState(found[i].name, seen[i]))
			}
		}
		a.samples = append(a.samples, sample)
	}
	return nil
}

func keyState(name string, s backend.Seen) check.KeyState {
	k := check.KeyState{Name: name, TTL: s.TTL, Tokens: math.NaN()}
	if s.TTL == backend.NoExpiry {
		k.TTL = check.NoExpiry
	}
	if len(s.Values) > 0 && s.Values[0].OK {
		if v, err := strconv.ParseFloat(s.Values[0].Text, 64); err == nil {
			k.Tokens = v
		}
	}
	return k
}
