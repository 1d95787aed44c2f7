package backend

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// What a time to live says beside a duration. Redis answers -1 and -2; no real
// time to live is negative.
const (
	NoExpiry time.Duration = -1 // the key lives for ever
	NoKey    time.Duration = -2 // there is no such key
)

// inspectBatch is how many keys share a transaction, so that an audit of a
// million keys neither blocks the server nor fills the memory.
const inspectBatch = 500

// Probe names what to read of one key.
type Probe struct {
	Key    string
	Fields []string // fields of a hash; "" stands for the key's value as a string
}

// Value is one thing read.
type Value struct {
	Text string
	OK   bool // false: no such key or field, or the key is of another type
}

// Seen is what was read of one key.
type Seen struct {
	TTL    time.Duration // NoExpiry and NoKey where there is none; whole milliseconds
	Exists bool
	Values []Value // one per Probe.Fields
}

// Inspect reads time to live and fields of many keys, in the order of probes.
// What it says of one key was true at one instant: between two plain commands
// the key could expire, and would be seen alive without its fields. Where the
// server refuses MULTI, plain commands must do.
func (r *Redis) Inspect(ctx context.Context, probes []Probe) ([]Seen, error) {
	seen := make([]Seen, 0, len(probes))
	for len(probes) > 0 {
		n := min(len(probes), inspectBatch)
		batch, err := r.inspect(ctx, probes[:n])
		if err != nil {
			return nil, fmt.Errorf("inspect %d keys on redis at %s: %w", n, r.info.Address, err)
		}
		seen, probes = append(seen, batch...), probes[n:]
	}
	return seen, nil
}

// inspection is one key's replies to come.
type inspection struct {
	ttl    *redis.Cmd
	values []*redis.Cmd
}

func (r *Redis) inspect(ctx context.Context, probes []Probe) ([]Seen, error) {
	pipe := r.admin.TxPipeline()
	if r.noBlocks.Load() {
		pipe = r.admin.Pipeline()
	}
	pending := make([]inspection, len(probes))
	for i, p := range probes {
		pending[i].ttl = pipe.Do(ctx, "PTTL", p.Key)
		for _, field := range p.Fields {
			pending[i].values = append(pending[i].values, pipe.Do(ctx, read(p.Key, field)...))
		}
	}
	// Exec reports the first error of any command; a missing field is one.
	// Those that say that nothing was read show in every reply.
	if _, err := pipe.Exec(ctx); refusesBlocks(err) && r.noBlocks.CompareAndSwap(false, true) {
		return r.inspect(ctx, probes)
	}
	seen := make([]Seen, len(probes))
	for i, p := range pending {
		var err error
		if seen[i], err = p.collect(); err != nil {
			return nil, err
		}
	}
	return seen, nil
}

// refusesBlocks reports whether the server knows no MULTI, or forbids it to this
// user.
func refusesBlocks(err error) bool {
	var refused redis.Error
	if !errors.As(err, &refused) {
		return false
	}
	text := strings.ToLower(refused.Error())
	return strings.Contains(text, "multi") || strings.Contains(text, "exec")
}

// collect reads the replies once they are there.
func (p inspection) collect() (Seen, error) {
	ms, err := p.ttl.Int64()
	if err != nil {
		return Seen{}, err
	}
	s := Seen{TTL: lifetime(ms)}
	s.Exists = s.TTL != NoKey
	for _, cmd := range p.values {
		v, err := value(cmd)
		if err != nil {
			return Seen{}, err
		}
		s.Values = append(s.Values, v)
	}
	return s, nil
}

// read is the command for one field, or for the string value where field is "".
func read(key, field string) []any {
	if field == "" {
		return []any{"GET", key}
	}
	return []any{"HGET", key, field}
}

// value tells "there is none" from an error.
func value(cmd *redis.Cmd) (Value, error) {
	text, err := cmd.Text()
	switch {
	case err == nil:
		return Value{Text: text, OK: true}, nil
	case errors.Is(err, redis.Nil) || redis.HasErrorPrefix(err, "WRONGTYPE"):
		return Value{}, nil
	}
	return Value{}, err
}

// lifetime converts an answer to PTTL.
func lifetime(ms int64) time.Duration {
	if ms < 0 {
		return time.Duration(ms)
	}
	if ms > math.MaxInt64/int64(time.Millisecond) {
		return math.MaxInt64
	}
	return time.Duration(ms) * time.Millisecond
}

// TTL is how long each key has to live, NoExpiry or NoKey; in whole
// milliseconds, in the order of keys.
func (r *Redis) TTL(ctx context.Context, keys []string) ([]time.Duration, error) {
	probes := make([]Probe, len(keys))
	for i, key := range keys {
		probes[i].Key = key
	}
	seen, err := r.Inspect(ctx, probes)
	if err != nil {
		return nil, err
	}
	ttls := make([]time.Duration, len(seen))
	for i, s := range seen {
		ttls[i] = s.TTL
	}
	return ttls, nil
}

// Read returns a field of a hash, or the value of a string where field is "";
// ok is false when there is none.
func (r *Redis) Read(ctx context.Context, key, field string) (text string, ok bool, err error) {
	v, err := value(r.admin.Do(ctx, read(key, field)...))
	if err != nil {
		return "", false, fmt.Errorf("read %q of key %q on redis at %s: %w", field, key, r.info.Address, err)
	}
	return v.Text, v.OK, nil
}
