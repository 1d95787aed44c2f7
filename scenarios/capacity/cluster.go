package capacity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"bucketproof/scenarios/load"
)

// clustered compares one server with a cluster, and sees where its decisions were
// made: spread keys on all nodes, those of a hot key on one.
func (m *Measurement) clustered(ctx context.Context) (c Contrast, err error) {
	c = Contrast{What: "one server against a cluster", A: "1 server", B: "3 nodes"}
	_, n := m.result.peak(false)
	switch {
	case !m.Pace.cluster:
		c.Skipped = "not measured: --quick leaves it out"
	case m.subject.Cluster == nil:
		c.Skipped = "not measured: a cluster is started only beside a Redis that was started here"
	case n == 0:
		c.Skipped = "not measured: no plain caller was answered"
	}
	if c.Skipped != "" {
		return c, nil
	}
	m.progress.now("a cluster beside one server")
	fleet, err := m.subject.Cluster(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return c, ctx.Err()
		}
		c.Skipped = "not measured: " + err.Error()
		return c, nil
	}
	defer func() { err = errors.Join(err, fleet.Close()) }()
	c.B = fmt.Sprintf("%d nodes", len(fleet.Nodes))
	l, err := m.subject.Open(ctx, "cluster", Plain)
	if err != nil {
		return c, fmt.Errorf("open it beside a cluster: %w", err)
	}
	defer closeLimiter(l)
	many := func() load.KeyPicker { return load.UniformKeys(m.rig.keys(m.Pace.many), m.Seed) }
	before, err := decisions(ctx, fleet.Nodes)
	if err != nil {
		return c, err
	}
	c.APerS, c.BPerS, err = inTurn(ctx, turn{m.rig, l, many}, turn{m.rig, fleet.Limiter, many}, n, m.Pace.contrast, m.progress)
	if err != nil {
		return c, err
	}
	between, err := decisions(ctx, fleet.Nodes)
	if err != nil {
		return c, err
	}
	if _, err = m.rig.closed(ctx, fleet.Limiter, load.OneKey(m.rig.keys(1)[0]), n, m.Pace.contrast); err != nil {
		return c, err
	}
	after, err := decisions(ctx, fleet.Nodes)
	if err != nil {
		return c, err
	}
	c.Detail = fmt.Sprintf("%s, from %d plain callers; %s; all of them, and the generator, share this machine's processors", ratio(c), n, routing(before, between, after))
	return c, nil
}

// decisions are how many calls each node decided so far.
func decisions(ctx context.Context, nodes []Server) ([]float64, error) {
	calls := make([]float64, len(nodes))
	for i, n := range nodes {
		fields, err := n.Statistics(ctx)
		if err != nil {
			return nil, err
		}
		for name, c := range readStatistics(fields).commands {
			if slices.Contains(scriptCommands, name) {
				calls[i] += c.calls
			}
		}
	}
	return calls, nil
}

// routing says where decisions were made: of many keys between the first two
// counts, and of a hot one between the last two.
func routing(before, between, after []float64) string {
	spread, _ := shares(before, between)
	hot, most := shares(between, after)
	pinned := "all decisions of a hot key were made on one node"
	if most < 1 {
		pinned = "a hot key's decisions were not all made on one node (" + hot + ")"
	}
	return "of many keys' decisions the nodes made " + spread + "; " + pinned
}

// shares are the nodes' shares of what was decided between two counts, in words,
// and the largest, 0..1.
func shares(before, after []float64) (text string, most float64) {
	all := 0.0
	for i := range before {
		all += after[i] - before[i]
	}
	if all == 0 {
		return "none", 0
	}
	var parts []string
	for i := range before {
		s := (after[i] - before[i]) / all
		most = max(most, s)
		parts = append(parts, fmt.Sprintf("%.0f %%", 100*s))
	}
	return strings.Join(parts, ", "), most
}
