package backend

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// replicaPoll is how often a replica is asked how far it has come.
const replicaPoll = 2 * time.Millisecond

// Follow makes r, which must hold nothing worth keeping, a replica of primary and
// returns when the two are in step. Both must have been started here.
func (r *Redis) Follow(ctx context.Context, primary *Redis) error {
	if err := r.follow(ctx, primary); err != nil {
		return fmt.Errorf("make redis at %s a replica of %s: %w", r.info.Address, primary.info.Address, err)
	}
	return nil
}

func (r *Redis) follow(ctx context.Context, primary *Redis) error {
	if !r.Owned() || !primary.Owned() {
		return fmt.Errorf("%w: only servers that were started here are changed", ErrUsage)
	}
	host, port, err := net.SplitHostPort(primary.info.Address)
	if err != nil {
		return err
	}
	// It would wait some seconds for more replicas to come.
	if err := primary.admin.ConfigSet(ctx, "repl-diskless-sync-delay", "0").Err(); err != nil {
		return err
	}
	if err := r.admin.Do(ctx, "REPLICAOF", host, port).Err(); err != nil {
		return err
	}
	return r.awaitReplica(ctx, primary)
}

// Promote makes r, a replica of primary that nobody writes to any more, a primary
// of its own, once it has all that primary had.
func (r *Redis) Promote(ctx context.Context, primary *Redis) error {
	err := r.awaitReplica(ctx, primary)
	if err == nil {
		err = r.admin.Do(ctx, "REPLICAOF", "NO", "ONE").Err()
	}
	if err != nil {
		return fmt.Errorf("promote the replica at %s: %w", r.info.Address, err)
	}
	return nil
}

// awaitReplica waits until r is connected to primary and has read all that it
// wrote.
func (r *Redis) awaitReplica(ctx context.Context, primary *Redis) error {
	for {
		wrote, err := replication(ctx, primary.admin)
		if err != nil {
			return err
		}
		read, err := replication(ctx, r.admin)
		if err != nil {
			return err
		}
		if read["master_link_status"] == "up" && number(read["slave_repl_offset"]) >= number(wrote["master_repl_offset"]) {
			return nil
		}
		if err := pause(ctx, replicaPoll); err != nil {
			return fmt.Errorf("wait until it has caught up: %w", err)
		}
	}
}

func replication(ctx context.Context, c *redis.Client) (map[string]string, error) {
	text, err := c.Info(ctx, "replication").Result()
	return parseInfo(text), err
}

// number is a whole number that a server tells; 0 where it is none.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
