package lua_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
	"bucketproof/bucket/lua"

	"github.com/redis/go-redis/v9"
)

// timeless shows a script the time that stands last in ARGV, and makes SET store
// without the life that it is given, which it keeps beside the key. Nothing then
// depends on when a step runs.
const timeless = `local redis = (function(real, clock) return setmetatable({
  call = function(name, key, value, _, life)
    if name == "TIME" then return {clock:match("(%d+) (%d+)")} end
    if name ~= "SET" then return real.call(name, key) end
    real.call("SET", key .. ":life", life)
    return real.call("SET", key, value)
  end,
}, {__index = real}) end)(redis, table.remove(ARGV)) `

// arrival is an exact bucket as gcra keeps one: so many microseconds until it
// is full.
type arrival struct {
	debt, token, most *big.Rat // µs: now, what a token is worth, of an empty bucket
	now               int64    // µs since the Unix epoch
}

func newArrival(l bucket.Limit, now int64) *arrival {
	token := new(big.Rat).Quo(big.NewRat(1_000_000, 1), rational(l.Rate))
	return &arrival{debt: new(big.Rat), token: token, most: new(big.Rat).Mul(token, rational(l.Capacity)), now: now}
}

func rational(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }

func double(r *big.Rat) float64 {
	v, _ := r.Float64()
	return v
}

// wait lets time pass.
func (a *arrival) wait(micros int64) {
	a.now += micros
	if a.debt.Sub(a.debt, big.NewRat(micros, 1)).Sign() < 0 {
		a.debt.SetInt64(0)
	}
}

// TestGCRAIsABucket holds gcra against exact arithmetic, with a microsecond that
// earns from a millionth of a millionth of a token to a million. What double
// precision costs is a part in 10¹³ of a full bucket, and never grows.
func TestGCRAIsABucket(t *testing.T) {
	f, err := lua.Builtin("gcra")
	if err != nil {
		t.Fatal(err)
	}
	script := redis.NewScript(timeless + f.Script)
	limits := []bucket.Limit{
		{Rate: 100, Capacity: 50}, {Rate: 3, Capacity: 3}, {Rate: 33.3, Capacity: 7.5}, {Rate: 0.5, Capacity: 3.5},
		{Rate: 2e8, Capacity: 2e8}, {Rate: 2e8, Capacity: 10}, {Rate: 1e12, Capacity: 5}, {Rate: 1 << 31, Capacity: 1 << 31},
		{Rate: 1e-6, Capacity: 5}, {Rate: 1e-6, Capacity: 1e9}, {Rate: 1e6, Capacity: 1 << 53}, {Rate: 1e-3, Capacity: 0.1},
	}
	backendtest.Each(t, func(t *testing.T, r *backend.Redis) {
		for i, l := range limits {
			if l.Capacity/l.Rate > 9e12 && r.Info().Kind == backend.Embedded {
				continue // it reads no integer of 2⁶³
			}
			random := rand.New(rand.NewPCG(3, uint64(i)))
			key := fmt.Sprint("k", i)
			a := newArrival(l, 1_764_000_000_000_000+random.Int64N(1_000_000))
			granted, denied := 0, 0
			for step := range 400 {
				a.wait(a.pause(random))
				cost := []float64{1, 1, 1, l.Capacity / 7, l.Capacity * random.Float64(), l.Capacity, l.Capacity + 1, 0}[random.IntN(8)]
				words := []any{plain(l.Rate), plain(l.Capacity), plain(cost), fmt.Sprintf("%d %d", a.now/1_000_000, a.now%1_000_000)}
				reply, err := script.Run(t.Context(), r.Client(), []string{key}, words...).Result()
				if err != nil {
					t.Fatalf("%v: step %d: %v", l, step, err)
				}
				d, err := f.Decide(l, bucket.Request{Cost: cost}, reply)
				if err != nil {
					t.Fatalf("%v: step %d: %v", l, step, err)
				}
				if d.Allowed {
					granted++
				} else {
					denied++
				}
				if err := a.judge(l, cost, d); err != nil {
					t.Fatalf("%v: step %d, cost %v, answer %v: %v", l, step, cost, reply, err)
				}
				if err := a.life(r.Client().Get(t.Context(), key+":life").Val()); d.Allowed && cost > 0 && err != nil {
					t.Fatalf("%v: step %d, cost %v: %v", l, step, cost, err)
				}
			}
			if granted == 0 || denied == 0 {
				t.Errorf("%v: %d granted, %d denied: the steps miss a case", l, granted, denied)
			}
		}
	})
}

// pause draws a time to pass: none, a few tokens' worth, or a part of a refill.
func (a *arrival) pause(random *rand.Rand) int64 {
	span := [...]float64{0, 1, 3 * double(a.token), 0.3 * double(a.most), double(a.most)}[random.IntN(5)]
	return int64(math.Min(span, 1e14) * random.Float64() * 1.3) // 1e14 µs are three years
}

// judge compares a decision with the exact one and takes what it took.
func (a *arrival) judge(l bucket.Limit, cost float64, d bucket.Decision) error {
	after := new(big.Rat).Mul(a.token, rational(cost))
	after.Add(after, a.debt)
	over := double(new(big.Rat).Sub(after, a.most)) // µs: above 0 it is to be denied
	unsure := 1e-13 * double(a.most)
	if d.Allowed != (over <= 0) && math.Abs(over) > unsure {
		return fmt.Errorf("allowed %v, though the debt would exceed its bound by %v µs", d.Allowed, over)
	}
	if d.Allowed {
		a.debt.Set(after)
	}
	left := l.Capacity - double(new(big.Rat).Quo(a.debt, a.token))
	if math.Abs(d.Remaining-left) > 1e-13*l.Capacity+1e-9 || d.Remaining < 0 || d.Remaining > l.Capacity {
		return fmt.Errorf("%v remain, want %v", d.Remaining, left)
	}
	wait := d.RetryAfter.Seconds() * 1e6
	switch {
	case d.Allowed && wait != 0, !d.Allowed && cost > l.Capacity && d.RetryAfter >= 0:
		return fmt.Errorf("told to wait %v", d.RetryAfter)
	case !d.Allowed && cost <= l.Capacity && (wait < math.Min(over, math.MaxInt64/1e3)-unsure || wait > math.Max(over, 0)+1+unsure):
		return fmt.Errorf("told to wait %v µs, want %v", wait, over)
	}
	return nil
}

// life holds the life in milliseconds that the key was given: until the bucket is
// full, or longer by two at most, wherever in its millisecond it was written.
func (a *arrival) life(text string) error {
	ms, err := strconv.ParseFloat(text, 64)
	full := double(a.debt) / 1e3
	if err != nil || ms < math.Min(full, 1<<53)*(1-1e-13)+float64(a.now%1000)/1e3 || ms > full*(1+1e-13)+2 {
		return fmt.Errorf("lives %s ms, the bucket is full in %v", text, full)
	}
	return nil
}

// plain writes v as limiter files send numbers.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
