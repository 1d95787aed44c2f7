package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/check"
	"bucketproof/reports"
	"bucketproof/reports/quantity"
	"bucketproof/scenarios"
)

// serverClock is the Redis server's own clock against this machine's over a
// whole command. It is used by one goroutine.
type serverClock struct {
	server      scenarios.ServerClock
	local       func() time.Time // this machine's wall clock at the start, and no step of it afterwards
	first, last clockReading
}

// clockReading is how far the server's clock was ahead, give or take. The zero
// clockReading is none.
type clockReading struct {
	offset      time.Duration
	uncertainty time.Duration // above 0
	at          time.Time     // by the local clock,
	within      time.Duration // give or take
}

func (c clockReading) taken() bool { return c.uncertainty > 0 }

func newServerClock(server scenarios.ServerClock) *serverClock {
	base := time.Now()
	wall := base.Round(0)
	return &serverClock{server: server, local: func() time.Time { return wall.Add(time.Since(base)) }}
}

// read measures once more.
func (c *serverClock) read(ctx context.Context) error {
	began := c.local()
	offset, uncertainty, err := c.server.Offset(ctx, c.local)
	if err != nil {
		return err
	}
	half := c.local().Sub(began) / 2
	c.last = clockReading{offset, uncertainty, began.Add(half), half}
	if !c.first.taken() {
		c.first = c.last
	}
	return nil
}

// allowedDrift is ρ, ppm: what the bounds allow any clock.
const allowedDrift = check.DefaultRateTolerance * 1e6

// drift is what the server's clock gained on the local one from the first
// reading to the last, in ppm, on average, a step included, and how far that may
// be off. The gain Δ is known to the uncertainties u of both readings, and the time
// L that it took to the halves h of what both readings took:
//
//	|true − Δ/L| ≤ (u + |Δ/L|·h) / (L − h)
//
// ok is false while that is more than allowedDrift, which after milliseconds it is.
func (c *serverClock) drift() (ppm, uncertainty float64, ok bool) {
	length, blur := c.last.at.Sub(c.first.at).Seconds(), (c.first.within + c.last.within).Seconds()
	if length <= blur {
		return 0, 0, false
	}
	gained, unsure := (c.last.offset-c.first.offset).Seconds()/length, (c.first.uncertainty + c.last.uncertainty).Seconds()
	uncertainty = (unsure + math.Abs(gained)*blur) / (length - blur) * 1e6
	return gained * 1e6, uncertainty, uncertainty <= allowedDrift
}

// tell fills in what is known by now.
func (c *serverClock) tell(r *reports.Redis) {
	if !c.first.taken() {
		return
	}
	offset, uncertainty := c.first.offset.Seconds(), c.first.uncertainty.Seconds()
	r.ClockOffsetS, r.ClockUncertaintyS = &offset, &uncertainty
	if ppm, unsure, ok := c.drift(); ok {
		r.ClockDriftPPM, r.ClockDriftUncertaintyPPM = &ppm, &unsure
	}
}

// offsetWarning says to whom the offset is worth a token; "" when to nobody. Not
// to the checks: a limiter on the server's clock is judged by how much time passes
// and one on its callers' by how these differ among themselves, and a key's life
// is a length of time, too. What is left are limiters that mix the two clocks. None
// that is built in does; of a foreign one we cannot tell.
func (c *serverClock) offsetWarning(plans []scenarios.Plan, foreign func(*scenarios.Subject) bool) string {
	sure := (c.first.offset.Abs() - c.first.uncertainty).Seconds()
	var worst *scenarios.Plan
	for i := range plans {
		p := &plans[i]
		if foreign(p.Subject) && !p.Subject.OwnClock && sure*p.Scenario.Limit.Rate >= 1 && (worst == nil || p.Scenario.Limit.Rate > worst.Scenario.Limit.Rate) {
			worst = p
		}
	}
	if worst == nil {
		return ""
	}
	away := c.first.offset.Abs().Seconds()
	return fmt.Sprintf("the server's clock and this machine's are %s apart: no check depends on that, but a limiter that mixes the two "+
		"(EXPIREAT with its caller's time, or that beside TIME) is off by as much, which would be worth %s to %s in %s",
		quantity.Seconds(away), quantity.Tokens(away*worst.Scenario.Limit.Rate), worst.Subject.Name, worst.Scenario.Name)
}

// driftWarning says what a drift beyond what the bounds allow for did; "" when
// there surely was none.
func (c *serverClock) driftWarning(plans []scenarios.Plan) string {
	ppm, unsure, ok := c.drift()
	if !ok || math.Abs(ppm)-unsure <= allowedDrift {
		return ""
	}
	gained, earned, expired := "gained", "too fast", "too soon"
	if ppm < 0 {
		gained, earned, expired = "lost", "too slowly", "too late"
	}
	var effects []string
	if anyoneBy(plans, bucket.ServerTime) {
		effects = append(effects, fmt.Sprintf("limiters that go by it earned as much %s, and runs without a witness take what they see of it for slack", earned))
	}
	if anyoneBy(plans, bucket.CallerTime) {
		effects = append(effects, fmt.Sprintf("keys of limiters that go by their callers' clocks expired as much %s", expired))
	}
	if len(effects) == 0 {
		return ""
	}
	return fmt.Sprintf("the server's clock %s %s ppm on this machine's, ± %s ppm, where the bounds allow for %s: %s",
		gained, quantity.Number(math.Abs(ppm)), quantity.Number(unsure), quantity.Number(allowedDrift), strings.Join(effects, "; "))
}

// anyoneBy reports whether some run's limiter goes by such a clock, and keeps its
// buckets where the server's clock matters.
func anyoneBy(plans []scenarios.Plan, source bucket.TimeSource) bool {
	return slices.ContainsFunc(plans, func(p scenarios.Plan) bool { return p.Subject.Time == source && !p.Subject.OwnClock })
}
