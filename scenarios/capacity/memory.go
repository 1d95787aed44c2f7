package capacity

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"bucketproof/bucket"

	"gonum.org/v1/gonum/stat"
)

// Keyspace is where single keys can be looked at.
type Keyspace interface {
	MemoryUsage(ctx context.Context, key string) (int64, error)
	TTL(ctx context.Context, keys []string) ([]time.Duration, error)
}

// memoryLimits are what buckets are weighed with, the first that the limiter can
// express. The first keeps a bucket for an hour after its last request, and earns
// so little that however long passes between two requests, the level is a
// fraction, with as many digits as a double has: a full bucket's is a whole number,
// and Redis stores that in a quarter of the bytes. 601 is prime, so that
// milliseconds over it end after a few digits only once in 601 times.
var memoryLimits = []bucket.Limit{{Rate: 1.0 / 601, Capacity: 6}, {Rate: 1.0 / 60, Capacity: 60}, {Rate: 1, Capacity: 3600}}

// How the memory is measured.
const (
	fillers     = 256 // requests under way at once
	asksEach    = 2   // requests a bucket: after the second it holds a fraction
	sampled     = 100 // keys looked at with MEMORY USAGE
	settleTries = 100
	settlePause = 50 * time.Millisecond
	settled     = 3    // readings in a row that agree
	mostLeft    = 0.99 // of the buckets written; fewer and they expire too soon to be weighed
)

// heap is what a server's memory holds at one instant.
type heap struct {
	used float64 // bytes, without what connections take
	keys keyCount
}

func readHeap(fields map[string]string) heap {
	used, _ := strconv.ParseFloat(fields["used_memory"], 64)
	clients, _ := strconv.ParseFloat(fields["mem_clients_normal"], 64)
	return heap{used: used - clients, keys: countKeys(fields)}
}

// filling is a number of buckets and what the memory held with them.
type filling struct {
	buckets int
	heap    heap
}

// memory writes buckets through the limiter, counts of them one after another,
// and reads the server's memory at each.
func (m *Measurement) memory(ctx context.Context, counts []int) (Memory, error) {
	none := noMemory("")
	if why := m.cannotWeigh(); why != "" {
		return noMemory(why), nil
	}
	l, err := m.subject.Open(ctx, "memory", Pipelined)
	if errors.Is(err, ErrMode) {
		l, err = m.subject.Open(ctx, "memory", Plain)
	}
	if err != nil {
		return none, fmt.Errorf("open %s: %w", m.subject.Name, err)
	}
	defer closeLimiter(l)
	limit := m.memoryLimit()
	prefix := m.rig.prefix + "m:"
	name := func(i int) string { return fmt.Sprintf("%s%08d", prefix, i) } // of one length: the allocator's sizes are in steps
	if err := fill(ctx, l, limit, func(i int) string { return fmt.Sprint(prefix, "warm:", i) }, 0, 1); err != nil {
		return none, err
	}
	empty, err := m.settle(ctx)
	if err != nil {
		return none, err
	}
	var fillings []filling
	began := m.rig.elapsed()
	for at, n := 0, 0; n < len(counts); n++ {
		if err := fill(ctx, l, limit, name, at, counts[n]); err != nil {
			return none, err
		}
		at = counts[n]
		h, err := m.settle(ctx)
		if err != nil {
			return none, err
		}
		if h.keys.less(empty.keys).keys < mostLeft*float64(at) {
			return noMemory(fmt.Sprintf("not measured: of %d buckets %.0f keys were left after %v, they expire too soon",
				at, h.keys.less(empty.keys).keys, (m.rig.elapsed() - began).Round(time.Millisecond))), nil
		}
		fillings = append(fillings, filling{at, h})
		m.progress.done(m.Pace.fillTime(at))
	}
	var out Memory
	out, m.tables = weigh(empty, fillings)
	if err := m.lookAt(ctx, l, limit, name, counts[len(counts)-1], &out); err != nil {
		return none, err
	}
	return out, nil
}

// noMemory is that of a limiter whose memory was not measured.
func noMemory(why string) Memory { return Memory{Points: []MemoryPoint{}, Why: why} }

// cannotWeigh says why the memory cannot be measured; "" is nothing.
func (m *Measurement) cannotWeigh() string {
	switch {
	case !m.subject.Stored:
		return "not measured: the limiter keeps no keys in Redis"
	case m.Keyspace == nil || m.rig.server == nil:
		return "not measured: the server does not tell its memory"
	}
	return ""
}

// fill asks the limiter for the buckets from to to, each as often as it takes.
func fill(ctx context.Context, l bucket.Limiter, limit bucket.Limit, name func(int) string, from, to int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for range asksEach {
		var next atomic.Int64
		next.Store(int64(from))
		var wg sync.WaitGroup
		for range min(fillers, to-from) {
			wg.Go(func() {
				for ctx.Err() == nil {
					i := int(next.Add(1) - 1)
					if i >= to {
						return
					}
					r := bucket.Request{ID: name(i), Key: name(i), Instance: "memory", Cost: 1, Now: time.Now()}
					if _, err := l.Take(ctx, limit, r); err != nil {
						cancel(fmt.Errorf("write bucket %d of %d: %w", i, to, err))
					}
				}
			})
		}
		wg.Wait()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// settle waits until the server's memory no longer changes: tables are moved and
// buffers given back in the background. One that never settles is read as it is.
func (m *Measurement) settle(ctx context.Context) (heap, error) {
	var last heap
	same := 0
	for range settleTries {
		fields, err := m.rig.server.Statistics(ctx)
		if err != nil {
			return last, err
		}
		h := readHeap(fields)
		if same++; math.Abs(h.used-last.used) > 1e-4*h.used {
			same = 1
		}
		if last = h; same >= settled {
			return last, nil
		}
		if err := m.rig.wait(ctx, m.rig.elapsed()+settlePause); err != nil {
			return last, err
		}
	}
	return last, nil
}

// weigh is what buckets cost, from what the memory held with several numbers of
// them. The hash tables' slots are computed, since they jump; the rest is a line,
// whose slope is the entry:
//
//	used(n) = base + n·entry + tables(n)
//
// The first two fillings predict the others.
func weigh(empty heap, fillings []filling) (m Memory, t perBucket) {
	m = noMemory("")
	var ns, rests []float64
	for _, f := range fillings {
		used := f.heap.used - empty.used
		rest := used - (f.heap.keys.tables() - empty.keys.tables())
		p := MemoryPoint{Keys: f.buckets, UsedBytes: used}
		if len(ns) >= 2 {
			base, entry := stat.LinearRegression(ns[:2], rests[:2], nil, false)
			p.Predicted = base + entry*float64(f.buckets) + f.heap.keys.tables() - empty.keys.tables()
		}
		m.Points = append(m.Points, p)
		ns, rests = append(ns, float64(f.buckets)), append(rests, rest)
	}
	switch len(ns) {
	case 0:
		return m, t
	case 1:
		m.EntryBytes = rests[0] / ns[0]
	default:
		_, m.EntryBytes = stat.LinearRegression(ns, rests, nil, false)
	}
	last := fillings[len(fillings)-1]
	m.BytesPerKey = m.EntryBytes + (last.heap.keys.tables()-empty.keys.tables())/float64(last.buckets)
	return m, tablesOf(last.heap.keys.less(empty.keys), last.buckets)
}

// perBucket is how many entries a bucket has in each of the server's tables.
type perBucket keyCount

func tablesOf(k keyCount, buckets int) perBucket {
	return perBucket{k.keys / float64(buckets), k.expires / float64(buckets)}
}

// lookAt adds what single keys tell: MEMORY USAGE, the name's length, and how
// long a bucket of the sweep's limit stays.
func (m *Measurement) lookAt(ctx context.Context, l bucket.Limiter, limit bucket.Limit, name func(int) string, n int, out *Memory) error {
	lister, ok := l.(bucket.KeyLister)
	if !ok {
		return nil
	}
	looked := min(sampled, n)
	for i := range looked {
		keys, err := lister.Keys(limit, bucket.Request{Key: name(i * (n / looked)), Cost: 1})
		if err != nil {
			return err
		}
		for _, key := range keys {
			b, err := m.Keyspace.MemoryUsage(ctx, key)
			if err != nil {
				return err
			}
			out.UsageBytes += float64(b) / float64(looked)
			out.KeyBytes += float64(len(key)) / float64(looked)
		}
	}
	r := bucket.Request{ID: "idle", Key: m.rig.prefix + "idle", Instance: "memory", Cost: 1, Now: time.Now()}
	if _, err := l.Take(ctx, m.rig.limit, r); err != nil {
		return fmt.Errorf("ask a bucket and leave it alone: %w", err)
	}
	keys, err := lister.Keys(m.rig.limit, r)
	if err != nil {
		return err
	}
	ttls, err := m.Keyspace.TTL(ctx, keys)
	if err != nil {
		return err
	}
	longest := slices.Max(ttls)
	out.IdleKeyS = max(longest.Seconds(), 0)
	if slices.Contains(ttls, noExpiry) {
		out.IdleKeyS = -1
	}
	return nil
}

// noExpiry is the time to live of a key that has none, as Redis tells it.
const noExpiry time.Duration = -1
