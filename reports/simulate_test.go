package reports

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// caller is a simulated instance: its clock is ahead by offset seconds, from
// the second stepAt on by offset + stepBy.
type caller struct {
	name           string
	offset         float64
	stepAt, stepBy float64
}

func (c caller) at(t float64) float64 {
	if c.stepBy != 0 && t >= c.stepAt {
		return t + c.offset + c.stepBy
	}
	return t + c.offset
}

// load is one stretch of a simulated run, in seconds.
type load struct {
	from     []string // names of callers
	at, last float64
	burst    int     // at once
	rate     float64 // or Poisson, in total
	keys     int     // 0: one key
}

// simulation makes a history in virtual time, through a rule of the reference
// family or through one of its faults.
type simulation struct {
	limit   bucket.Limit
	rule    bucket.Rule
	server  bool // the server's clock decides
	callers []caller
	loads   []load
	delay   float64                  // median of the service time, seconds
	stale   float64                  // get-set: a decision sees no charge younger than this many seconds
	reborn  float64                  // the key expires after this many seconds of silence
	lost    func(at float64) bool    // requests without a usable reply
	queue   func(at float64) float64 // lateness of the schedule at a time
	seed    uint64
}

// run makes the history, in order of calls.
func (s simulation) run() []history.Operation {
	random := rand.New(rand.NewPCG(s.seed, 7))
	ops := s.arrivals(random)
	order := make([]int, len(ops))
	effect := make([]int64, len(ops))
	for i, op := range ops {
		order[i] = i
		effect[i] = op.Call + (op.Return-op.Call)/2
	}
	sort.SliceStable(order, func(i, j int) bool { return effect[order[i]] < effect[order[j]] })
	keys := make(map[string]*bucketSim)
	for _, i := range order {
		op := &ops[i]
		k := keys[op.Key]
		if k == nil {
			k = &bucketSim{}
			keys[op.Key] = k
		}
		op.Outcome = history.Denied
		if k.take(s, float64(effect[i])/1e9, s.clock(*op)) {
			op.Outcome = history.Allowed
		}
		if s.lost != nil && s.lost(float64(op.Call)/1e9) {
			op.Outcome, op.Return = history.Unknown, history.Forever
		}
	}
	return ops
}

// clock is the reading that a decision uses, in ticks.
func (s simulation) clock(op history.Operation) float64 {
	t := float64(op.Call) / 1e9
	if s.server {
		return math.Floor((t + 1e6) * s.rule.TicksPerSecond)
	}
	for _, c := range s.callers {
		if c.name == op.Instance {
			t = c.at(t)
		}
	}
	return math.Floor((t + 1e6) * s.rule.TicksPerSecond)
}

// arrivals are requests without outcomes.
func (s simulation) arrivals(random *rand.Rand) []history.Operation {
	var ops []history.Operation
	add := func(l load, t float64) {
		service := s.delay * math.Exp(0.5*random.NormFloat64())
		if random.Float64() < 0.01 {
			service *= 12
		}
		late := 0.00002 * random.ExpFloat64()
		if s.queue != nil {
			late += s.queue(t)
		}
		key := "key-0"
		if l.keys > 1 {
			key = "key-" + string(rune('a'+int(float64(l.keys)*math.Pow(random.Float64(), 3))))
		}
		ops = append(ops, history.Operation{
			Due: ns(t), Call: ns(t + late), Return: ns(t + late + service),
			Key: key, Instance: l.from[random.IntN(len(l.from))], Cost: 1,
			Clock: history.NoClock, Remaining: math.NaN(), RetryAfter: -1,
		})
	}
	for _, l := range s.loads {
		for i := range l.burst {
			add(l, l.at+0.00003*float64(i))
		}
		if l.rate > 0 {
			for t := l.at + random.ExpFloat64()/l.rate; t < l.last; t += random.ExpFloat64() / l.rate {
				add(l, t)
			}
		}
	}
	slices.SortStableFunc(ops, func(a, b history.Operation) int { return int(a.Call - b.Call) })
	return ops
}

func ns(s float64) int64 { return int64(math.Round(s * 1e9)) }

// bucketSim is one key of the simulated server.
type bucketSim struct {
	state   bucket.State
	last    float64 // of a request, seconds
	charges []float64
}

func (k *bucketSim) take(s simulation, t, now float64) bool {
	if s.reborn > 0 && k.state.Exists && t-k.last > s.reborn {
		k.state = bucket.State{}
	}
	if !s.server && k.state.Exists && t-k.last > s.limit.TTLMillis()/1000 {
		k.state = bucket.State{}
	}
	k.last = t
	state, allowed := s.rule.Take(k.state, s.limit, now, 1)
	k.state = state
	if s.stale > 0 && !allowed {
		young := 0
		for _, c := range k.charges {
			if t-c < s.stale {
				young++
			}
		}
		allowed = state.Tokens+float64(young) >= 1
	}
	if allowed {
		k.charges = append(k.charges, t)
		if len(k.charges) > 64 {
			k.charges = k.charges[1:]
		}
	}
	return allowed
}

var infinity = math.Inf(1)

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}
