package lua

import (
	"context"

	"bucketproof/bucket"
)

// Ask sends keys and words and returns the raw reply.
func (l *Limiter) Ask(ctx context.Context, keys, words []string) (any, bucket.Witness, error) {
	return l.ask(ctx, keys, words)
}

// SequenceKey names the key that counts the decisions on key.
func SequenceKey(key string) string { return sequenceKey(key) }

// SlotOf is the hash slot of a key.
func SlotOf(key string) uint16 { return slot(key) }
