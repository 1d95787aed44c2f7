package main

import (
	"context"
	"fmt"
	"io"

	"bucketproof/bucket"
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
	return &limiter{
		needsRedis: stored || !gateway,
		remote:     true,
		about:      fmt.Sprintf("%s, %s's clock, %s", f.Contract, f.Time, about),
		file:       f,
		Subject: &scenarios.Subject{
			Name: f.Name, Time: f.Time, Granularity: f.Granularity, Limit: f.Limit, Costs: f.UsesCost,
			Expect: expectations(f.Expect), Tokens: tokensField(f.State),
			Stored: stored, OwnClock: gateway, Model: modelOf(f), ModelName: f.Model,
			Open: func(_ context.Context, instance string, _ bool) (bucket.Limiter, error) {
				return t.openRemote(f, instance)
			},
		},
	}
}

// openRemote gives each instance connections or a process of its own.
func (t *limiters) openRemote(f *limiterfile.File, instance string) (bucket.Limiter, error) {
	var l interface {
		bucket.Limiter
		io.Closer
	}
	var err error
	if f.Kind == limiterfile.HTTP {
		l, err = remote.NewGateway(f)
	} else {
		l, err = remote.NewProgram(f, remote.Environment{RedisURL: t.redis.URL(), Instance: instance})
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
