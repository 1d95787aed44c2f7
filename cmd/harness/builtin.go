package main

import (
	"fmt"

	"github.com/redis/go-redis/v9"

	"bucketproof/bucket"
	"bucketproof/bucket/control"
	"bucketproof/bucket/thirdparty"
	"bucketproof/scenarios"
)

// fromLibrary makes a published limiter.
func (t *limiters) fromLibrary(l thirdparty.Library) *limiter {
	on := func(c redis.UniversalClient, _ bool) (bucket.Limiter, error) { return l.Open(c) }
	open := withClient(on)
	return &limiter{
		needsRedis: true,
		openOn:     open,
		over:       on,
		about:      fmt.Sprintf("%s: %s, %s's clock", l.Source(), l.Algorithm, l.Time),
		Subject: &scenarios.Subject{
			Name: l.Name, Source: l.Source(), Contract: l.Contract, Time: l.Time, Granularity: l.Granularity,
			Limit: l.Limit, Fits: l.Fits, Costs: l.Costs, WholeCosts: true,
			Expect: expectations(l.Expect()), Shows: l.Shows(), Known: l.Known(), Stored: true,
			Open: t.open(open),
		},
	}
}

// fromControl makes a negative control.
func (t *limiters) fromControl(c control.Control) *limiter {
	on := func(client redis.UniversalClient, witness bool) (bucket.Limiter, error) {
		if witness {
			return c.OpenWitnessed(client)
		}
		return c.Open(client)
	}
	open := withClient(on)
	return &limiter{
		needsRedis: true,
		openOn:     open,
		over:       on,
		about:      "must fail " + c.Check + ": " + c.StandsFor,
		Subject: &scenarios.Subject{
			Name: c.Name, Time: c.Time, Granularity: c.Granularity, Costs: c.UsesCost,
			Expect: expectations(c.Expect), Tokens: tokensField(c.State),
			Stored: true, Witnessed: c.Script(), Model: c.Model,
			Open: t.open(open), OpenShifted: t.openShifted(c.Script(), on),
		},
	}
}

// expand puts the members of a group in the place of its name.
func expand(names []string) []string {
	var all []string
	for _, name := range names {
		if name != thirdparty.Group {
			all = append(all, name)
			continue
		}
		for _, l := range thirdparty.All() {
			all = append(all, l.Name)
		}
	}
	return all
}
