package capacity

import (
	"context"
	"errors"
	"io"
	"time"

	"bucketproof/bucket"
	"bucketproof/scenarios/load"
)

// Mode is how a caller's requests travel.
type Mode string

// The two modes.
const (
	Plain     Mode = "plain"     // a connection and a round trip a request
	Pipelined Mode = "pipelined" // requests under way together share a write and a read
)

// Subject is a limiter whose capacity is to be found.
type Subject struct {
	Name        string
	Contract    bucket.Contract // what it promises; "": a token bucket
	Time        bucket.TimeSource
	Granularity time.Duration            // of its clock
	Retries     int                      // how often the client may send a request again
	Limit       *bucket.Limit            // the only one it can have; nil: any
	Fits        func(bucket.Limit) error // says that it cannot express a limit; nil: it can express any
	Stored      bool                     // its buckets are keys of the server
	Remote      bool                     // a program or a gateway stands between its callers and the server

	// Open makes the limiter as one instance of a service holds it. It is closed
	// after its last call if it is an io.Closer. It fails with [ErrMode] where
	// callers cannot be of that mode.
	Open func(ctx context.Context, instance string, mode Mode) (bucket.Limiter, error)

	// Cluster starts a cluster with the limiter on it; nil: there is none to be had.
	Cluster func(ctx context.Context) (*Cluster, error)
}

// Cluster is a limiter on several servers that share its buckets.
type Cluster struct {
	Limiter bucket.Limiter // of plain callers
	Nodes   []Server
	Close   func() error // ends all of it
}

// ErrMode is what an error of [Subject.Open] wraps when the limiter cannot be
// asked in that mode.
var ErrMode = errors.New("its requests cannot travel in pipelines")

// DefaultLimit is asked where the limiter can have any: high enough that a
// bucket among thousands grants everything, and low enough that a busy one
// denies nearly everything.
var DefaultLimit = bucket.Limit{Rate: 100, Capacity: 100}

func (s *Subject) limit() bucket.Limit {
	if s.Limit != nil {
		return *s.Limit
	}
	return DefaultLimit
}

func closeLimiter(l bucket.Limiter) {
	if c, ok := l.(io.Closer); ok {
		_ = c.Close() // nothing was written that could be lost
	}
}

// busyEvery is how often the mixed load asks its one busy bucket: each tenth
// request. It is denied as a rule and the others are granted, whatever the rate,
// so that the share of denials, and with it the work, is the same on all levels.
const busyEvery = 10

// mixedKeys gives each tenth request the first of keys, and the others any of the
// rest with the same probability.
func mixedKeys(keys []string, seed uint64) load.KeyPicker {
	rest := load.UniformKeys(keys[1:], seed)
	return func(n uint64) string {
		if n%busyEvery == 0 {
			return keys[0]
		}
		return rest(n)
	}
}
