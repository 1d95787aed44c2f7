package lua

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"bucketproof/bucket"

	"github.com/redis/go-redis/v9"
)

// Client is what a limiter needs of a Redis client; every
// [redis.UniversalClient] has it.
type Client interface {
	Process(ctx context.Context, cmd redis.Cmder) error
}

// Send sends one command, once, and returns its reply: int64, string, []any,
// nil, bool, float64 or a map. keyAt is the index of the routing key in args,
// 0 when the client should find it. An error wraps [bucket.ErrUnsent] only when
// surely not one byte of the command was written.
func Send(ctx context.Context, c Client, keyAt int, args ...any) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", bucket.ErrUnsent, err)
	}
	cmd := newOnce(ctx, keyAt, args)
	if err := c.Process(ctx, cmd); err != nil {
		return nil, cmd.failure(err)
	}
	return cmd.Val(), nil
}

// once is a command that the client does not retry, and that knows whether it
// was handed out to be written and what it was first told.
type once struct {
	*redis.Cmd
	handed *atomic.Bool // own, or that of the command this is a copy of
	own    atomic.Bool
	first  error // the first that SetErr was given; of a command in a block what came in place of QUEUED
}

func newOnce(ctx context.Context, keyAt int, args []any) *once {
	cmd := &once{Cmd: redis.NewCmd(ctx, args...)}
	cmd.handed = &cmd.own
	if keyAt > 0 && keyAt < 128 {
		cmd.SetFirstKeyPos(int8(keyAt))
	}
	return cmd
}

// NoRetry forbids a second attempt, which could charge a second time.
func (o *once) NoRetry() bool { return true }

// Args is what the client writes. It is asked for them only when it holds a
// connection, and on a cluster also to find the node.
func (o *once) Args() []any {
	o.handed.Store(true)
	return o.Cmd.Args()
}

// SetErr keeps the first error beside the last one.
func (o *once) SetErr(err error) {
	if o.first == nil {
		o.first = err
	}
	o.Cmd.SetErr(err)
}

// Clone keeps the copy from being retried as well.
func (o *once) Clone() redis.Cmder {
	return &once{Cmd: o.Cmd.Clone().(*redis.Cmd), handed: o.handed}
}

// failure is what sending the command failed with: nothing when the reply is
// nil, and unsent when that is sure.
func (o *once) failure(err error) error {
	switch {
	case errors.Is(err, redis.Nil):
		return nil
	case o.unsent(err):
		return fmt.Errorf("%w: %w", bucket.ErrUnsent, err)
	}
	return err
}

// unsent reports whether err proves that nothing was written: the command was
// never handed out, or the error arises before there is a connection.
func (o *once) unsent(err error) bool {
	if !o.handed.Load() {
		return true
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return true
	}
	return errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrPoolExhausted) || errors.Is(err, redis.ErrClosed)
}
