package capacity

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
	"bucketproof/scenarios/load"
)

// Settings is how a capacity is measured.
type Settings struct {
	Pace  Pace
	SLO   SLO
	Wish  Wish
	Seed  uint64              // of everything random
	ID    string              // in every key; another one for each subject
	Sleep func(time.Duration) // the open loop's last wait before a send; nil: time.Sleep

	Server   Server   // nil: there is none, or it does not tell
	Local    bool     // it has this machine's processors
	Shared   bool     // it is somebody else's: fewer buckets are written to it
	Keyspace Keyspace // nil: no memory is measured

	// Apart keeps the server and this process on processors of their own until together
	// is called; nil: there is nothing to part.
	Apart func() (together func(), err error)

	// Clear removes the server's keys that contain a text; nil: nothing to clear.
	Clear func(ctx context.Context, text string) error

	// Keep gets every step's operations, in the order of their calls; nil: they are
	// checked only.
	Keep func(ops []history.Operation) error

	// Progress hears what is measured and how far that is; nil: nobody listens.
	Progress func(what string, done, all time.Duration)
}

// sharedKeys is the most buckets that are written to somebody else's server.
const sharedKeys = 100_000

// Measurement is that of one subject. It is used by one goroutine.
type Measurement struct {
	Settings
	subject  *Subject
	rig      *rig
	verifier *verifier
	progress *progress
	result   *Result
	tallies  []*tally      // of the sweep's levels
	tables   perBucket     // of the buckets that were weighed
	strayed  time.Duration // the wall clock, from the monotonic one, when last looked at
}

// New is the measurement of a subject, not begun yet.
func New(s *Subject, set Settings) *Measurement {
	m := &Measurement{
		Settings: set, subject: s, verifier: newVerifier(s),
		progress: &progress{tell: set.Progress, all: set.Pace.length(s.Stored && set.Keyspace != nil)},
		result: &Result{
			Limiter: s.Name, Limit: Limit(s.limit()), Connections: []Level{}, USL: fit(nil),
			Knee: noKnee(set.SLO, "not searched yet"), Memory: noMemory("not measured yet"),
		},
	}
	m.rig = newRig(s, set, m.taken)
	return m
}

// newRig begins a clock. taken gets every step's operations.
func newRig(s *Subject, set Settings, taken func([]history.Operation, int64) error) *rig {
	start := time.Now()
	elapsed := func() time.Duration { return time.Since(start) }
	return &rig{
		meters:  meters{server: set.Server, local: set.Local, processors: readProcessors, elapsed: elapsed},
		subject: s, limit: s.limit(), prefix: set.ID + ":c:", base: start.Round(0), seed: set.Seed, sleep: set.Sleep,
		taken: taken, lags: load.NewDistribution(),
	}
}

// taken judges and keeps the operations of a step.
func (m *Measurement) taken(ops []history.Operation, offered int64) error {
	strayed := time.Now().Round(0).Sub(m.rig.base.Add(m.rig.elapsed()))
	err := m.verifier.add(ops, offered, (strayed - m.strayed).Abs())
	m.strayed = strayed
	if m.Keep != nil {
		err = errors.Join(err, m.Keep(ops))
	}
	runtime.GC() // a step does not pay for the one before it
	return err
}

// Run measures. Where ctx ends or the server is lost it returns with the error,
// and what was found until then is in the result.
func (m *Measurement) Run(ctx context.Context) error {
	ceiling, err := m.ceiling(ctx)
	if err != nil {
		return err
	}
	m.result.Generator = &Generator{CeilingPS: ceiling}
	together := m.apart()
	err = inOrder(ctx, m.sweep, m.knees, m.contrasts)
	together()
	if err == nil { // a cluster's servers would be kept to the generator's processors
		err = inOrder(ctx, m.scaleOut, m.weight)
	}
	if err != nil {
		return fmt.Errorf("measure %s: %w", m.subject.Name, err)
	}
	return nil
}

func inOrder(ctx context.Context, parts ...func(context.Context) error) error {
	for _, part := range parts {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// apart keeps the server and this process apart, where that can be done.
func (m *Measurement) apart() (together func()) {
	if m.Apart == nil {
		return func() {}
	}
	together, err := m.Apart()
	if err != nil {
		m.note("the server and the generator share processors: %v", err)
		return func() {}
	}
	return together
}

// Result is what was found so far, with what follows from it.
func (m *Measurement) Result() *Result {
	r := m.result
	if r.Generator == nil {
		r.Generator = &Generator{}
	}
	r.Generator.OnTime = m.rig.onTime.share()
	r.Generator.LagP99US = m.rig.lags.Summary().P99
	r.Verified = m.verifier.verified()
	r.Plan = newPlan(r, m.tables, m.Wish)
	if !m.subject.Stored {
		r.Plan = &Plan{
			TargetPS: m.Wish.TargetPS, Keys: m.Wish.Keys, Headroom: m.Wish.Headroom, Formulas: []Formula{}, Unmeasured: []string{},
			Refused: "the limiter keeps nothing in Redis: there are no shards to plan",
		}
	}
	return r
}

// ceiling is what the generator does against a bucket in this process. Nothing
// of it is kept.
func (m *Measurement) ceiling(ctx context.Context) (float64, error) {
	m.progress.now("the generator against a bucket in this process")
	set := m.Settings
	set.Server = nil
	r := newRig(m.subject, set, func([]history.Operation, int64) error { return nil })
	out, err := r.closed(ctx, bucket.NewMemory(r.elapsed), mixedKeys(r.keys(m.Pace.keys), m.Seed), 2*runtime.GOMAXPROCS(0), m.Pace.Brief().level)
	runtime.GC()
	return out.decided, err
}

// weight measures the memory and removes what was written for it.
func (m *Measurement) weight(ctx context.Context) error {
	counts := m.Pace.buckets
	if m.Shared {
		var fewer []int
		for _, n := range counts {
			if n <= sharedKeys {
				fewer = append(fewer, n)
			}
		}
		if len(fewer) < len(counts) {
			m.note("memory was measured with at most %s buckets, for the server is somebody else's", thousands(sharedKeys))
		}
		counts = fewer
	}
	m.progress.now(fmt.Sprintf("memory of up to %s buckets", thousands(float64(counts[len(counts)-1]))))
	var found Memory
	err := m.clear(ctx, m.rig.prefix) // what the load left would expire meanwhile
	if err == nil {
		found, err = m.memory(ctx, counts)
	}
	err = errors.Join(err, m.clear(ctx, m.rig.prefix+"m:"))
	if err != nil && found.Why == "" {
		found.Why = "not measured: " + err.Error()
	}
	m.result.Memory = found
	if err == nil && found.Why == "" {
		m.weightNotes(&found)
	}
	return err
}

// clear removes the keys that contain a text, also when ctx has ended.
func (m *Measurement) clear(ctx context.Context, text string) error {
	if m.Clear == nil || m.cannotWeigh() != "" {
		return nil
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer stop()
	return m.Clear(ctx, text)
}

func (m *Measurement) weightNotes(found *Memory) {
	m.note("the memory was measured with %s", limitText(m.memoryLimit()))
	for _, p := range found.Points {
		if off := p.Predicted/p.UsedBytes - 1; p.Predicted > 0 && math.Abs(off) > predictedWithin {
			m.note("the memory of %s buckets was predicted %+.1f %% off: buckets are not all alike, or this server's hash tables are not Redis' own", thousands(float64(p.Keys)), 100*off)
		}
	}
}

// predictedWithin is how well the first two fillings predict a later one.
const predictedWithin = 0.03

// memoryLimit is the limit that buckets are weighed with.
func (m *Measurement) memoryLimit() bucket.Limit {
	if m.subject.Limit == nil {
		for _, l := range memoryLimits {
			if m.subject.Fits == nil || m.subject.Fits(l) == nil {
				return l
			}
		}
	}
	return m.subject.limit()
}

func limitText(l bucket.Limit) string {
	return fmt.Sprintf("a limit of %.4g tokens a second and a capacity of %.4g", l.Rate, l.Capacity)
}

func (m *Measurement) note(format string, args ...any) {
	m.result.Notes = append(m.result.Notes, fmt.Sprintf(format, args...))
}

// progress tells how far a measurement is.
type progress struct {
	tell      func(what string, done, all time.Duration)
	what      string
	past, all time.Duration
}

func (p *progress) now(what string) {
	p.what = what
	p.say()
}

func (p *progress) done(d time.Duration) {
	p.past = min(p.past+d, p.all)
	p.say()
}

func (p *progress) say() {
	if p.tell != nil {
		p.tell(p.what, p.past, p.all)
	}
}
