package thirdparty

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"bucketproof/bucket"

	"github.com/redis/go-redis/v9"
)

// ask calls a library once, with a context that every command it sends must
// carry. An error wraps [bucket.ErrUnsent] only when surely not one byte of any
// of them was written.
func ask(ctx context.Context, call func(context.Context) (bucket.Decision, error)) (bucket.Decision, error) {
	if err := ctx.Err(); err != nil {
		return bucket.Untold(false), fmt.Errorf("%w: %w", bucket.ErrUnsent, err)
	}
	seen := new(trail)
	d, err := call(context.WithValue(ctx, trailKey{}, seen))
	switch {
	case err == nil:
		return d, nil
	case !seen.written.Load():
		err = fmt.Errorf("%w: %w", bucket.ErrUnsent, err)
	}
	return bucket.Untold(false), err
}

// trail is what was seen of the commands that one call of a library made.
type trail struct{ written atomic.Bool } // some may have been

type trailKey struct{}

// watch is a client's hook that follows the trails of the calls on it.
type watch struct{}

var _ redis.Hook = watch{}

// DialHook changes nothing.
func (watch) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook notes a command that may have been written.
func (watch) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		note(ctx, err)
		return err
	}
}

// ProcessPipelineHook notes commands that may have been written together.
func (watch) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		note(ctx, err)
		return err
	}
}

func note(ctx context.Context, err error) {
	if seen, ok := ctx.Value(trailKey{}).(*trail); ok && !neverWritten(err) {
		seen.written.Store(true)
	}
}

// neverWritten reports whether a command's error arises before there is a
// connection to write to.
func neverWritten(err error) bool {
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return true
	}
	return errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrPoolExhausted) || errors.Is(err, redis.ErrClosed)
}

// prefixed names the one Redis key of a bucket: what the library puts before the
// bucket's own.
type prefixed string

// Keys returns the one key that holds r's bucket.
func (p prefixed) Keys(_ bucket.Limit, r bucket.Request) ([]string, error) {
	return []string{string(p) + r.Key}, nil
}
