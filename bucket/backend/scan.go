package backend

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// scanCount is how many keys the server looks at in one step.
const scanCount = 1000

// globEscaper quotes what SCAN reads as a wildcard.
var globEscaper = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`)

// Escape quotes text so that it stands for itself in a pattern of
// [Redis.Scan] and [Redis.Remove].
func Escape(text string) string { return globEscaper.Replace(text) }

// Contains is the pattern of the keys that contain text.
func Contains(text string) string { return "*" + Escape(text) + "*" }

// Scan returns the keys that match a pattern, each once, in no order. Keys that
// come or go meanwhile may or may not be among them.
func (r *Redis) Scan(ctx context.Context, pattern string) ([]string, error) {
	var keys []string
	seen := make(map[string]bool)
	for cursor := uint64(0); ; {
		page, next, err := r.admin.Scan(ctx, cursor, pattern, scanCount).Result()
		if err != nil {
			return nil, fmt.Errorf("scan redis at %s for %q: %w", r.info.Address, pattern, err)
		}
		for _, key := range page {
			if !seen[key] {
				seen[key] = true
				keys = append(keys, key)
			}
		}
		if cursor = next; cursor == 0 {
			return keys, nil
		}
	}
}

// Remove deletes the keys that match a pattern and returns how many were there
// to delete. It touches nothing else, for it may be somebody's server.
func (r *Redis) Remove(ctx context.Context, pattern string) (int, error) {
	keys, err := r.Scan(ctx, pattern)
	if err != nil {
		return 0, err
	}
	removed := 0
	for len(keys) > 0 {
		n := min(len(keys), inspectBatch)
		gone, err := r.unlink(ctx, keys[:n])
		removed += gone
		if err != nil {
			return removed, fmt.Errorf("remove keys like %q on redis at %s: %w", pattern, r.info.Address, err)
		}
		keys = keys[n:]
	}
	return removed, nil
}

// unlink deletes keys in the background where the server can (since 4.0) and
// may, at once elsewhere.
func (r *Redis) unlink(ctx context.Context, keys []string) (int, error) {
	n, err := r.admin.Unlink(ctx, keys...).Result()
	var refused redis.Error
	if errors.As(err, &refused) {
		n, err = r.admin.Del(ctx, keys...).Result()
	}
	return int(n), err
}

// MemoryUsage is how many bytes a key takes on the server, its name and
// overhead included (MEMORY USAGE); 0 when there is no such key. The embedded
// server counts Go's memory instead.
func (r *Redis) MemoryUsage(ctx context.Context, key string) (int64, error) {
	n, err := r.admin.MemoryUsage(ctx, key).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("measure key %q on redis at %s: %w", key, r.info.Address, err)
	}
	return n, nil
}
