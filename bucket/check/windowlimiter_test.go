package check

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// counting is a limiter that counts in windows, simulated: it decides one
// request on one key by what its clock reads, in ns.
type counting interface {
	decide(now, cost float64) bool
}

// maker makes one with limit n and window w, for one key.
type maker func(n, w float64) counting

// exactLog lets go of a grant that is W old, or, closed, only of an older one.
type exactLog struct {
	n, w   float64
	closed bool
	at     []float64
	costs  []float64
}

func (l *exactLog) decide(now, cost float64) bool {
	var sum float64
	for i, t := range l.at {
		if t > now-l.w || l.closed && t == now-l.w {
			sum += l.costs[i]
		}
	}
	if sum+cost > l.n {
		return false
	}
	l.at, l.costs = append(l.at, now), append(l.costs, cost)
	return true
}

// weightedCounter keeps a count a window, in step with its clock. round is what
// it does to the part of the window before.
type weightedCounter struct {
	n, w   float64
	round  func(float64) float64
	counts map[float64]float64
	refuse bool // counts what it denies, too
	lost   bool // the window before is gone when its own window ends
	more   float64
}

func (c *weightedCounter) decide(now, cost float64) bool {
	k := math.Floor(now / c.w)
	part := 1 - (now-k*c.w)/c.w
	before := c.round(c.counts[k-1] * part)
	if c.lost {
		before = 0
	}
	ok := before+c.counts[k]+cost <= c.n+c.more
	if ok || c.refuse {
		c.counts[k] += cost
	}
	return ok
}

// alignedWindow counts in windows in step with its clock.
type alignedWindow struct {
	n, w    float64
	counts  map[float64]float64
	charges bool // counts what it denies, too
}

func (a *alignedWindow) decide(now, cost float64) bool {
	k := math.Floor(now / a.w)
	ok := a.counts[k]+cost <= a.n
	if ok || a.charges {
		a.counts[k] += cost
	}
	return ok
}

// firstRequest is a window that begins with a request and lasts life; extended
// by a denial, or never ending, it is broken.
type firstRequest struct {
	n, life  float64
	start    float64
	sum      float64
	begun    bool
	extended bool
	counts   float64 // of its windows; the one numbered forever never ends
	forever  float64
}

func (f *firstRequest) decide(now, cost float64) bool {
	if f.forever > 0 && f.counts >= f.forever {
		return false
	}
	if !f.begun || now >= f.start+f.life {
		f.begun, f.start, f.sum = true, now, 0
		f.counts++
	}
	ok := f.sum+cost <= f.n
	if ok {
		f.sum += cost
	} else if f.extended {
		f.start = now
	}
	return ok
}

func unrounded(x float64) float64 { return x }

// rightMakers are limiters that keep a contract.
func rightMakers(c bucket.Contract) map[string]maker {
	if c == bucket.FixedWindow {
		return map[string]maker{
			"aligned": func(n, w float64) counting { return &alignedWindow{n: n, w: w, counts: map[float64]float64{}} },
			"first":   func(n, w float64) counting { return &firstRequest{n: n, life: w} },
		}
	}
	weighted := func(round func(float64) float64) maker {
		return func(n, w float64) counting {
			return &weightedCounter{n: n, w: w, round: round, counts: map[float64]float64{}}
		}
	}
	return map[string]maker{
		"log":           func(n, w float64) counting { return &exactLog{n: n, w: w} },
		"log-closed":    func(n, w float64) counting { return &exactLog{n: n, w: w, closed: true} },
		"counter":       weighted(unrounded),
		"counter-floor": weighted(math.Floor),
		"counter-ceil":  weighted(math.Ceil),
		"counter-round": weighted(math.Round),
	}
}

// simulate decides a history by a limiter a key that reads its clock and decides
// at instants in [call, return], the reading first if it is a caller's.
func simulate(rng *rand.Rand, s *shape, make maker) []history.Operation {
	return decideAll(rng, s, s.history(rng), make)
}

func decideAll(rng *rand.Rand, s *shape, ops []history.Operation, make maker) []history.Operation {
	window := s.spec.Limit.Capacity / s.spec.Limit.Rate * 1e9
	ahead := rng.Float64() * 10 * window // of the limiter's clock
	speed := 1 + (2*rng.Float64()-1)*s.spec.RateTolerance
	read := func(at int64) float64 {
		t := ahead + float64(at-s.origin)*speed
		if g := float64(s.spec.Granularity); g > 0 {
			t = math.Floor(t/g) * g
		}
		return t
	}
	type decision struct {
		read, at int64
		op       int
		silent   bool
	}
	var todo []decision
	add := func(i int, from, to int64, silent bool) {
		d := decision{op: i, at: within(rng, from, to), silent: silent}
		if d.read = d.at; s.spec.Time == bucket.CallerTime {
			d.read = within(rng, from, d.at)
		}
		todo = append(todo, d)
	}
	for i, o := range ops {
		switch o.Outcome {
		case history.Unsent:
		case history.Unknown:
			for range rng.IntN(2 + s.spec.Retries) {
				add(i, o.Call, o.Call+rng.Int64N(20)*tick/2, true)
			}
		default:
			add(i, o.Call, o.Return, false)
		}
	}
	rng.Shuffle(len(todo), func(i, j int) { todo[i], todo[j] = todo[j], todo[i] })
	slices.SortStableFunc(todo, func(a, b decision) int { return cmp.Compare(a.at, b.at) })
	limiters := map[string]counting{}
	for _, k := range keysOf(ops) {
		l := make(s.spec.Limit.Capacity, window)
		limiters[k] = l
		if s.spec.EmptyStart {
			for range rng.IntN(20) {
				l.decide(read(s.origin)-rng.Float64()*2*window, 1)
			}
		}
	}
	for _, d := range todo {
		allowed := limiters[ops[d.op].Key].decide(read(d.read), ops[d.op].Cost)
		if d.silent {
			continue
		}
		ops[d.op].Outcome = history.Denied
		if allowed {
			ops[d.op].Outcome = history.Allowed
		}
	}
	return ops
}

// windowShape draws a shape for a contract that counts in windows.
func windowShape(rng *rand.Rand, c bucket.Contract) shape {
	s := randomShape(rng)
	s.spec.Contract = c
	s.n *= 1 + rng.IntN(10)
	s.span *= 1 + rng.Int64N(6)
	s.latency = min(s.latency, rng.Int64N(4))
	s.spec.Limit.Capacity = math.Ceil(s.spec.Limit.Capacity) * float64(1+rng.IntN(4))
	s.fine = rng.IntN(2) == 0
	s.spec.Time = []bucket.TimeSource{bucket.CallerTime, bucket.ServerTime, bucket.ProcessTime, ""}[rng.IntN(4)]
	return s
}
