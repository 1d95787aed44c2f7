package lua

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"

	"github.com/redis/go-redis/v9"
)

// stateRead is how the state under a limiter's first key is read: HMGET or GET
// of the fields that the limiter tells, EXISTS when it tells none.
type stateRead struct {
	command string
	fields  []string // of HMGET
	tokens  int      // which value is the level; -1: none
	time    int      // which value is the time; -1: none
}

func newStateRead(told *limiterfile.StateFields) stateRead {
	s := stateRead{command: "exists", tokens: -1, time: -1}
	switch {
	case told == nil || !told.Tokens.Defined() && !told.Time.Defined():
	case told.Tokens.String || told.Time.String: // then a hash field under the same key cannot be
		s.command = "get"
		if told.Tokens.String {
			s.tokens = 0
		}
		if told.Time.String {
			s.time = 0
		}
	default:
		s.command = "hmget"
		for _, f := range []struct {
			name string
			to   *int
		}{{told.Tokens.Hash, &s.tokens}, {told.Time.Hash, &s.time}} {
			if f.name != "" {
				*f.to = len(s.fields)
				s.fields = append(s.fields, f.name)
			}
		}
	}
	return s
}

// queue appends the read of key to pipe.
func (s *stateRead) queue(ctx context.Context, pipe redis.Pipeliner, key string) *redis.Cmd {
	args := make([]any, 0, 2+len(s.fields))
	args = append(args, s.command, key)
	cmd := redis.NewCmd(ctx, boxed(args, s.fields)...)
	_ = pipe.Process(ctx, cmd) // only queued
	return cmd
}

// of is the state that was read. A key of another type is there, and nothing
// is known of it.
func (s *stateRead) of(cmd *redis.Cmd) bucket.State {
	reply := cmd.Val()
	state := bucket.Unseen()
	switch {
	case errors.Is(cmd.Err(), redis.Nil):
		return bucket.State{}
	case reply == nil:
		return state
	}
	var values []any
	switch reply := reply.(type) {
	case int64: // EXISTS
		state.Exists = reply != 0
	case []any:
		values, state.Exists = reply, false
		for _, v := range reply {
			state.Exists = state.Exists || v != nil
		}
	default:
		values = []any{reply}
	}
	if !state.Exists {
		return bucket.State{}
	}
	state.Tokens, state.Time = number(values, s.tokens), number(values, s.time)
	return state
}

// number is the value at i as a number: what strtod makes of it, as far as a
// limiter can have stored it. C prints NaN with a sign, which Go does not read.
func number(values []any, i int) float64 {
	if i < 0 || i >= len(values) {
		return math.NaN()
	}
	text, ok := values[i].(string)
	if !ok {
		return math.NaN()
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return math.NaN()
	}
	return v
}
