package backend

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Pipelined is a client that sends what is asked at the same time in one
// pipeline: two pipelines are under way at most, each on a connection of its
// own, and what is asked meanwhile is the next one. It is safe for concurrent
// use, and as deep as it has callers: with n of them a pipeline carries up to n
// commands. A command that is on its way is never sent again.
type Pipelined struct {
	client *redis.Client
	queue  *redis.AutoPipeliner
}

// pipelining is how commands are gathered. Two pipelines, so that the server
// works on one while we read the answers to the other; a third would only take
// commands from the two. With no delay at all the client would wait for callers
// that it expects to come again, which an open loop's never do.
var pipelining = redis.AutoPipelineOptions{
	MaxConcurrentBatches: 2,
	Unordered:            true, // callers wait for their answers, so only strangers overtake each other
	MaxFlushDelay:        time.Nanosecond,
}

// NewPipelinedClient is [Redis.NewClient] for commands in pipelines. The caller
// closes it.
func (r *Redis) NewPipelinedClient(instance string) (*Pipelined, error) {
	return r.NewPipelinedClientVia(instance, nil)
}

// NewPipelinedClientVia is [Redis.NewPipelinedClient] over connections that
// dial makes; nil: those of [Redis.Dialer].
func (r *Redis) NewPipelinedClientVia(instance string, dial DialFunc) (*Pipelined, error) {
	c := r.newClient(instance, dial)
	queue, err := c.AsyncAutoPipelineWithOptions(&pipelining)
	if err != nil {
		return nil, cleanedUp(fmt.Errorf("pipelined client %s: %w", instance, err), c.Close())
	}
	return &Pipelined{client: c, queue: queue}, nil
}

// Process queues cmd and waits for its answer until ctx ends. A command whose
// caller has given up is sent all the same, so its outcome is unknown and cmd
// must not be read.
func (p *Pipelined) Process(ctx context.Context, cmd redis.Cmder) error {
	_ = cmd.Args() // handed out: from here on it can be written at any time
	return p.queue.Submit(ctx, cmd).WaitContext(ctx)
}

// Close sends what is queued, waits for the answers and closes the connections.
func (p *Pipelined) Close() error {
	return errors.Join(p.queue.Close(), p.client.Close())
}
