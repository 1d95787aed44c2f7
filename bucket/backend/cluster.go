package backend

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// clusterSlots is how many slots a cluster's keys are spread over.
const clusterSlots = 16384

// clusterTimeout is how long the nodes of a cluster may take to agree.
const clusterTimeout = 30 * time.Second

// Cluster is a Redis Cluster of masters without replicas, in processes that were
// started here. It is safe for concurrent use, except that nothing may be called
// after Close.
type Cluster struct {
	nodes []*Redis
}

// OpenCluster starts a cluster of n nodes, each with the same number of slots, 1 to
// a few. It needs a server program on PATH. An error is one line.
func OpenCluster(ctx context.Context, n int, o Options) (*Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	o.cluster = true
	c := new(Cluster)
	for range n {
		r, err := openProcess(ctx, o)
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.nodes = append(c.nodes, r)
	}
	if err := c.form(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("form a cluster: %w", err), c.Close())
	}
	return c, nil
}

// form gives each node its slots, introduces them and waits until all agree.
func (c *Cluster) form(ctx context.Context) error {
	n := len(c.nodes)
	for i, r := range c.nodes {
		if err := r.admin.ClusterAddSlotsRange(ctx, i*clusterSlots/n, (i+1)*clusterSlots/n-1).Err(); err != nil {
			return fmt.Errorf("give slots to %s: %w", r.info.Address, err)
		}
		host, port, err := net.SplitHostPort(c.nodes[0].info.Address)
		if err == nil && i > 0 {
			err = r.admin.ClusterMeet(ctx, host, port).Err()
		}
		if err != nil {
			return fmt.Errorf("introduce %s: %w", r.info.Address, err)
		}
	}
	for _, r := range c.nodes {
		for {
			text, err := r.admin.ClusterInfo(ctx).Result()
			if err != nil {
				return err
			}
			if seen := parseInfo(text); seen["cluster_state"] == "ok" && seen["cluster_known_nodes"] == strconv.Itoa(n) {
				break
			}
			if err := pause(ctx, 10*time.Millisecond); err != nil {
				return fmt.Errorf("wait until %s agrees: %w", r.info.Address, err)
			}
		}
	}
	return nil
}

// Nodes are the cluster's servers, in order of their slots.
func (c *Cluster) Nodes() []*Redis { return c.nodes }

// NewClient returns the client of one simulated instance, which sends each command
// to the node that its key belongs to. The caller closes it.
func (c *Cluster) NewClient(instance string) redis.UniversalClient {
	silence()
	o := c.nodes[0].settings
	var addresses []string
	for _, r := range c.nodes {
		addresses = append(addresses, r.info.Address)
	}
	return redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: addresses, ClientName: clientName(instance), Protocol: o.Protocol,
		MaxRedirects: -1, MaxRetries: o.MaxRetries, DialerRetries: o.DialerRetries,
		DialTimeout: o.DialTimeout, ReadTimeout: o.ReadTimeout, ContextTimeoutEnabled: true,
		PoolSize: o.PoolSize, ReadBufferSize: o.ReadBufferSize, WriteBufferSize: o.WriteBufferSize,
		DisableIdentity: true, MaintNotificationsConfig: o.MaintNotificationsConfig,
	})
}

// Owner is the node that a key belongs to, by the cluster's own word.
func (c *Cluster) Owner(ctx context.Context, key string) (*Redis, error) {
	slot, err := c.nodes[0].admin.ClusterKeySlot(ctx, key).Result()
	if err != nil {
		return nil, fmt.Errorf("ask for the slot of %s: %w", key, err)
	}
	n := len(c.nodes)
	for i, r := range c.nodes {
		if int(slot) < (i+1)*clusterSlots/n {
			return r, nil
		}
	}
	return nil, fmt.Errorf("slot %d of %s belongs to no node", slot, key)
}

// Close ends all nodes.
func (c *Cluster) Close() error {
	var all error
	for _, r := range c.nodes {
		all = errors.Join(all, r.Close())
	}
	return all
}
