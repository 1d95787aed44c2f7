package capacity

import (
	"context"
	"fmt"
	"math"
	"time"

	"bucketproof/bucket"
	"bucketproof/scenarios/load"
)

func duration(ns int64) time.Duration { return time.Duration(ns) }

// contrasts compares workloads of one limiter on one server: one hot key with many,
// and plain callers with pipelined ones.
func (m *Measurement) contrasts(ctx context.Context) error {
	hot, err := m.hotKey(ctx)
	if err == nil {
		m.result.Compare = append(m.result.Compare, hot, m.pipelining())
	}
	return err
}

// scaleOut compares one server with a cluster.
func (m *Measurement) scaleOut(ctx context.Context) error {
	c, err := m.clustered(ctx)
	m.result.Compare = append(m.result.Compare, c)
	return err
}

// hotKey asks one bucket and many, in turn.
func (m *Measurement) hotKey(ctx context.Context) (Contrast, error) {
	_, n := m.result.peak(false)
	c := Contrast{What: "one hot key against many", A: "1 key", B: thousands(float64(m.Pace.many)) + " keys"}
	if n == 0 {
		c.Skipped = "not measured: no plain caller was answered"
		return c, nil
	}
	l, err := m.subject.Open(ctx, "contrast", Plain)
	if err != nil {
		return c, fmt.Errorf("open it for a contrast: %w", err)
	}
	defer closeLimiter(l)
	m.progress.now(c.What)
	a := turn{m.rig, l, func() load.KeyPicker { return load.OneKey(m.rig.keys(1)[0]) }}
	b := turn{m.rig, l, func() load.KeyPicker { return load.UniformKeys(m.rig.keys(m.Pace.many), m.Seed) }}
	c.APerS, c.BPerS, err = inTurn(ctx, a, b, n, m.Pace.contrast, m.progress)
	c.Detail = fmt.Sprintf("%s, from %d plain callers; a hot key is denied nearly always", ratio(c), n)
	return c, err
}

// pipelining compares the sweep's best levels.
func (m *Measurement) pipelining() Contrast {
	c := Contrast{What: "plain against pipelined callers"}
	var n, k int
	c.APerS, n = m.result.peak(false)
	c.BPerS, k = m.result.peak(true)
	c.A, c.B = fmt.Sprintf("%d plain callers", n), fmt.Sprintf("%d pipelined callers", k)
	c.Detail = ratio(c) + ", each at its best level"
	return c
}

// ratio says which of the two is faster, and by how much.
func ratio(c Contrast) string {
	if c.APerS == 0 || c.BPerS == 0 {
		return "one of the two was not answered"
	}
	q := c.BPerS / c.APerS
	switch {
	case math.Abs(q-1) < 0.05:
		return "the same within 5 %"
	case q > 1:
		return fmt.Sprintf("%.2f times as fast with %s", q, c.B)
	}
	return fmt.Sprintf("%.2f times as fast with %s", 1/q, c.A)
}

// turn is one side of a contrast.
type turn struct {
	rig  *rig
	l    bucket.Limiter
	keys func() load.KeyPicker
}

// inTurn measures two sides as a, b, b, a: what drifts evenly falls on both.
func inTurn(ctx context.Context, a, b turn, n int, s stretch, p *progress) (aPS, bPS float64, err error) {
	var rates [turns]float64
	for i, t := range [turns]turn{a, b, b, a} {
		out, err := t.rig.closed(ctx, t.l, t.keys(), n, s)
		if err != nil {
			return 0, 0, err
		}
		rates[i] = out.decided
		p.done(s.length())
	}
	return (rates[0] + rates[3]) / 2, (rates[1] + rates[2]) / 2, nil
}

// Between measures two limiters side by side once both were measured, with as
// many plain callers as the better of their best levels had, and adds what it
// finds to both results.
func Between(ctx context.Context, a, b *Measurement) error {
	c := Contrast{What: "two limiters side by side", A: a.subject.Name, B: b.subject.Name}
	pa, n := a.result.peak(false)
	if pb, k := b.result.peak(false); pb > pa {
		n = k
	}
	if n == 0 {
		return nil
	}
	a.progress.now(c.A + " beside " + c.B)
	var sides [2]turn
	for i, m := range []*Measurement{a, b} {
		l, err := m.subject.Open(ctx, "side", Plain)
		if err != nil {
			return fmt.Errorf("open %s for a contrast: %w", m.subject.Name, err)
		}
		defer closeLimiter(l)
		sides[i] = turn{m.rig, l, func() load.KeyPicker { return mixedKeys(m.rig.keys(m.Pace.keys), m.Seed) }}
	}
	defer a.apart()()
	var err error
	if c.APerS, c.BPerS, err = inTurn(ctx, sides[0], sides[1], n, a.Pace.contrast, a.progress); err != nil {
		return fmt.Errorf("measure %s beside %s: %w", c.A, c.B, err)
	}
	c.Detail = fmt.Sprintf("%s, from %d plain callers", ratio(c), n)
	a.result.Compare, b.result.Compare = append(a.result.Compare, c), append(b.result.Compare, c)
	return nil
}
