package backend

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// identify checks that the server answers and fills in what it is.
func (r *Redis) identify(ctx context.Context) error {
	if err := r.admin.Ping(ctx).Err(); err != nil {
		return r.unreachable(err)
	}
	if r.info.Kind == Embedded {
		return nil // miniredis has no INFO about itself
	}
	r.info.Engine, r.info.Version = "redis", "unknown"
	text, err := r.admin.Info(ctx).Result()
	var refused redis.Error
	switch {
	case errors.As(err, &refused):
		return nil // an access rule: the server may keep it to itself
	case err != nil:
		return fmt.Errorf("ask %s for INFO: %w", r.info.Address, err)
	}
	return r.describe(parseInfo(text))
}

// unreachable is the error of a first command.
func (r *Redis) unreachable(err error) error {
	return &connectError{address: r.info.Address, secure: r.settings.TLSConfig != nil, err: err}
}

// describe reads the answer to INFO.
func (r *Redis) describe(fields map[string]string) error {
	if v := fields["redis_version"]; v != "" {
		r.info.Version = v
	}
	if fields["server_name"] == "valkey" {
		r.info.Engine, r.info.Version = "valkey", fields["valkey_version"]
	}
	ours, _ := r.server.(*process)
	switch {
	case fields["redis_mode"] == "cluster" && (ours == nil || !ours.cluster):
		return usagef("redis at %s is a node of a cluster, which is not supported yet: name a single server", r.info.Address)
	case fields["redis_mode"] == "sentinel":
		return usagef("redis at %s is a sentinel, which is not supported yet: name the primary itself", r.info.Address)
	case fields["role"] == "slave":
		return usagef("redis at %s is a replica, which takes no writes: name its primary", r.info.Address)
	}
	return nil
}

// parseInfo reads the lines "name:value" of INFO.
func parseInfo(text string) map[string]string {
	fields := make(map[string]string)
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		if name, value, ok := strings.Cut(strings.TrimSpace(lines.Text()), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}
