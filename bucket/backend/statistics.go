package backend

import (
	"context"
	"fmt"
)

// Statistics are the fields of INFO by their names ("used_memory",
// "cmdstat_evalsha", "db0"), of all sections. The embedded server has next to
// none.
func (r *Redis) Statistics(ctx context.Context) (map[string]string, error) {
	text, err := r.admin.Info(ctx, "all").Result()
	if err != nil {
		return nil, fmt.Errorf("ask redis at %s for INFO: %w", r.info.Address, err)
	}
	return parseInfo(text), nil
}

// Empty removes every key of a server that was started here; on somebody else's
// it is refused.
func (r *Redis) Empty(ctx context.Context) error {
	if !r.Owned() {
		return fmt.Errorf("empty redis at %s: it was not started here", r.info.Address)
	}
	if err := r.admin.FlushAll(ctx).Err(); err != nil {
		return fmt.Errorf("empty redis at %s: %w", r.info.Address, err)
	}
	return nil
}
