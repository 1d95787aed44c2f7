package control

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/check"
	"bucketproof/bucket/history"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// rig drives a control on an embedded server in virtual time: nothing moves
// until it is moved, so a story gives the same history every time.
type rig struct {
	t       *testing.T
	control Control
	limit   bucket.Limit

	server    *miniredis.Miniredis
	client    *redis.Client
	now       time.Duration // since the start of the story
	skew      time.Duration // by how much the callers' clocks are ahead
	instances map[string]bucket.Limiter
	ops       []history.Operation
	samples   []check.Sample
	last      bucket.Decision
}

// epoch is true time at the start of a story: no whole second, so that nothing
// depends on beginning at an edge.
var epoch = time.UnixMicro(1_700_000_000_300_417)

const rigKey = "k"

func newRig(t *testing.T, c Control, l bucket.Limit) *rig {
	t.Helper()
	r := &rig{t: t, control: c, limit: l, server: miniredis.RunT(t), instances: map[string]bucket.Limiter{}}
	r.client = redis.NewClient(&redis.Options{Addr: r.server.Addr(), MaxRetries: -1})
	t.Cleanup(func() { _ = r.client.Close() })
	r.server.SetTime(epoch)
	return r
}

// wait lets time pass, for the server's clock and for the keys.
func (r *rig) wait(d time.Duration) {
	r.now += d
	r.server.SetTime(epoch.Add(r.now))
	r.server.FastForward(d)
}

// ask sends n requests at this instant.
func (r *rig) ask(instance string, n int) {
	r.t.Helper()
	for range n {
		r.askLate(instance, 0)
	}
}

// askLate sends a request that read its clock some time ago.
func (r *rig) askLate(instance string, age time.Duration) {
	r.t.Helper()
	l, ok := r.instances[instance]
	if !ok {
		var err error
		if l, err = r.control.Open(r.client); err != nil {
			r.t.Fatal(err)
		}
		r.instances[instance] = l
	}
	clock := epoch.Add(r.now - age + r.skew)
	req := bucket.Request{ID: strconv.Itoa(len(r.ops)), Key: rigKey, Instance: instance, Cost: 1, Now: clock}
	d, err := l.Take(r.t.Context(), r.limit, req)
	if err != nil {
		r.t.Fatal(err)
	}
	r.last = d
	op := history.Operation{
		Due: int64(r.now - age), Call: int64(r.now - age), Return: int64(r.now), Clock: clock.UnixNano(),
		Key: rigKey, Instance: instance, Cost: 1, Outcome: history.Denied,
		Remaining: d.Remaining, RetryAfter: d.RetryAfter,
	}
	if d.Allowed {
		op.Outcome = history.Allowed
	}
	r.ops = append(r.ops, op)
	r.look(l, req)
}

// look samples what the server holds.
func (r *rig) look(l bucket.Limiter, req bucket.Request) {
	r.t.Helper()
	names, err := l.(bucket.KeyLister).Keys(r.limit, req)
	if err != nil {
		r.t.Fatal(err)
	}
	s := check.Sample{Call: int64(r.now), Return: int64(r.now), Key: rigKey, Complete: true}
	for i, name := range names {
		if !r.server.Exists(name) {
			continue
		}
		k := check.KeyState{Name: name, TTL: r.server.TTL(name), Tokens: math.NaN()}
		if k.TTL == 0 {
			k.TTL = check.NoExpiry
		}
		if i == 0 {
			k.Tokens = r.level(name)
		}
		s.Keys = append(s.Keys, k)
	}
	r.samples = append(r.samples, s)
}

// level is the stored level, NaN where the control does not tell it.
func (r *rig) level(key string) float64 {
	field := r.control.State.Tokens
	text := r.server.HGet
	switch {
	case field.String:
		text = func(key, _ string) string { v, _ := r.server.Get(key); return v }
	case field.Hash == "":
		return math.NaN()
	}
	v, err := strconv.ParseFloat(text(key, field.Hash), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// judge returns the verdicts on everything so far.
func (r *rig) judge() map[string]check.Result {
	r.t.Helper()
	slices.SortStableFunc(r.ops, func(a, b history.Operation) int { return cmp.Compare(a.Call, b.Call) })
	report, err := check.Judge(check.Spec{
		Limit: r.limit, Granularity: r.control.Granularity, RateTolerance: check.DefaultRateTolerance,
		Time: r.control.Time, Offered: int64(len(r.ops)),
	}, history.All(r.ops), r.samples)
	if err != nil {
		r.t.Fatal(err)
	}
	results := map[string]check.Result{}
	for _, res := range report.Results {
		results[res.Name] = res
	}
	return results
}

// granted is how many requests were granted so far.
func (r *rig) granted() string {
	n := 0
	for i := range r.ops {
		if r.ops[i].Outcome == history.Allowed {
			n++
		}
	}
	return fmt.Sprintf("%d of %d", n, len(r.ops))
}
