package lua

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"

	"github.com/redis/go-redis/v9"
)

// BlockClient is a [Client] that can also send commands in one MULTI … EXEC;
// every [redis.UniversalClient] has it.
type BlockClient interface {
	Client
	TxPipeline() redis.Pipeliner
}

// NewWitnessed is [New] for a limiter that is asked inside a block, on one
// connection and in one round trip:
//
//	MULTI · state · TIME · the limiter's command · TIME · state · INCR sequence · PEXPIRE sequence · EXEC
//
// so that each decision comes with a [bucket.Witness], for an error of the
// limiter too. What runs is the unmodified script or command, and what it
// answers is judged as without the block. The script is sent in full (EVAL):
// with EVALSHA a server that does not know the script would count a decision
// that it did not make.
//
// A sequence number stands for one run of the limiter's command. It may start
// again from 1 (FLUSHALL, eviction, failover), and numbers are missing where a
// reply was lost. A block that the server refuses as a whole (EXECABORT: no
// memory left, no right to one of the commands) has run nothing; the limiter
// is then asked without it, and that decision has no witness.
//
// Before Redis 7.2 a key whose time to live ends in the millisecond of the
// block may still be in Before and be gone for the script.
func NewWitnessed(f *limiterfile.File, c BlockClient) (*Limiter, error) {
	l, err := New(f, c)
	if err != nil {
		return nil, err
	}
	l.witness = &witness{client: c, state: newStateRead(f.State)}
	return l, nil
}

// CanWitness reports, as nil, that blocks work on c, or else why not: a proxy
// may not know MULTI, a user may have no right to it. It leaves nothing behind.
func CanWitness(ctx context.Context, c BlockClient) error {
	pipe := c.TxPipeline()
	pipe.Time(ctx)
	answer := pipe.Eval(ctx, "return 1", nil)
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("send MULTI: %w", err)
	}
	if got := answer.Val(); got != int64(1) {
		return fmt.Errorf("send MULTI: a script that returns 1 answers %v", got)
	}
	return nil
}

// sequenceLife is how long a sequence key outlives its last decision, so that
// a harness that is killed leaves nothing for ever.
const sequenceLife = time.Hour

// witness sends blocks.
type witness struct {
	client BlockClient
	state  stateRead
}

// errAborted says that the server refused a block as a whole and ran nothing.
var errAborted = errors.New("the block was refused")

// ask sends call in a block. key is its first key. The error is the one that
// call alone would have, or errAborted.
func (w *witness) ask(ctx context.Context, key string, call *once) (any, bucket.Witness, error) {
	var seen bucket.Witness
	if err := ctx.Err(); err != nil {
		return nil, seen, fmt.Errorf("%w: %w", bucket.ErrUnsent, err)
	}
	pipe := w.client.TxPipeline()
	before := w.state.queue(ctx, pipe, key)
	began := pipe.Time(ctx)
	_ = pipe.Process(ctx, call) // only queued: its error is the block's
	ended := pipe.Time(ctx)
	after := w.state.queue(ctx, pipe, key)
	number := sequenceKey(key)
	counted := pipe.Incr(ctx, number)
	pipe.PExpire(ctx, number, sequenceLife)
	_, err := pipe.Exec(ctx)
	nothing := began.Val().IsZero() // no result of the block came
	switch {
	case nothing && (redis.IsExecAbortError(err) || redis.IsExecAbortError(began.Err())), call.refused():
		return nil, seen, errAborted
	case nothing:
		return nil, seen, call.failure(err)
	}
	own := call.Err()
	if isBroken(err) {
		if own == nil || errors.Is(own, redis.Nil) {
			own = err // an answer without its number would look like a charge of nobody's
		}
		return nil, seen, call.failure(own)
	}
	seen = bucket.Witness{
		Sequence:     counted.Val(), // 0 with an error
		BeforeMicros: began.Val().UnixMicro(),
		AfterMicros:  ended.Val().UnixMicro(),
		Before:       w.state.of(before),
		After:        w.state.of(after),
	}
	if own != nil {
		return nil, seen, call.failure(own)
	}
	return call.Val(), seen, nil
}

// refused reports that the server would not queue the command, and yet ran the
// rest of the block, as the embedded one does with a command that it does not
// know. All results are then shifted by one.
func (o *once) refused() bool {
	var reply redis.Error
	return errors.As(o.first, &reply) && !errors.Is(o.Err(), o.first)
}

// isBroken reports whether the results ended early. The client then gives the
// error to every command that has none of its own, also where its result came.
func isBroken(err error) bool {
	var reply redis.Error
	return err != nil && !errors.As(err, &reply)
}
