package main

import (
	"fmt"
	"io"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/bucket/limiterfile"
	"bucketproof/bucket/remote"
	"bucketproof/scenarios"
)

// fromRemote is fromFile for a limiter behind HTTP or in a process of its own. What
// it stores is looked at where its file names keys in Redis. A program is told the
// address of a Redis in any case; a gateway needs one only for those keys.
func (t *limiters) fromRemote(f *limiterfile.File) *limiter {
	stored, gateway := len(f.Keys) > 0, f.Kind == limiterfile.HTTP
	about := "in a process of its own"
	if gateway {
		about = "behind HTTP"
	}
	open := func(r *backend.Redis, instance string, _ bool) (bucket.Limiter, error) {
		return openRemote(f, r, instance)
	}
	return &limiter{
		needsRedis: stored || !gateway,
		remote:     true,
		openOn:     open,
		about:      fmt.Sprintf("%s, %s's clock, %s", f.Contract, f.Time, about),
		file:       f,
		Subject: &scenarios.Subject{
			Name: f.Name, Contract: f.Contract, Time: f.Time, Granularity: f.Granularity, Limit: f.Limit, Costs: f.UsesCost,
			Expect: expectations(f.Expect), Tokens: tokensField(f.State),
			Stored: stored, OwnClock: gateway, Model: modelOf(f), ModelName: f.Model,
			Open: t.open(open),
		},
	}
}

// openRemote gives each instance connections or a process of its own. A program is
// told of the server r.
func openRemote(f *limiterfile.File, r *backend.Redis, instance string) (bucket.Limiter, error) {
	var l interface {
		bucket.Limiter
		io.Closer
	}
	var err error
	if f.Kind == limiterfile.HTTP {
		l, err = remote.NewGateway(f)
	} else {
		l, err = remote.NewProgram(f, remote.Environment{RedisURL: r.URL(), Instance: instance})
	}
	if err != nil || len(f.Keys) == 0 {
		return l, err
	}
	return listing{closing{l, l}, fileKeys{f}}, nil
}

// fileKeys names the keys that a limiter file tells of.
type fileKeys struct{ file *limiterfile.File }

// Keys implements bucket.KeyLister.
func (k fileKeys) Keys(limit bucket.Limit, r bucket.Request) ([]string, error) {
	return k.file.KeysOf(limit, r)
}
