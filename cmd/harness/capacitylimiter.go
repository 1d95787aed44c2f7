package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/bucket/lua"
	"bucketproof/scenarios/capacity"
)

// subject is a limiter as its capacity is measured.
func (j *capacityJob) subject(l *limiter) *capacity.Subject {
	s := &capacity.Subject{
		Name: l.Name, Contract: l.Contract, Time: l.Time, Granularity: l.Granularity, Retries: l.Retries, Limit: l.Limit, Fits: l.Fits, Stored: l.Stored, Remote: l.remote,
		Open: func(ctx context.Context, instance string, mode capacity.Mode) (bucket.Limiter, error) {
			if mode == capacity.Plain || l.openOn == nil {
				return l.Open(ctx, instance, false)
			}
			return l.pipelined(j.redis, instance)
		},
	}
	if l.over != nil && j.redis != nil && j.redis.Info().Kind == backend.Process {
		s.Cluster = l.cluster
	}
	return s
}

// clusterNodes is the least that Redis calls a cluster.
const clusterNodes = 3

// cluster starts a cluster with the limiter on it.
func (l *limiter) cluster(ctx context.Context) (*capacity.Cluster, error) {
	c, err := backend.OpenCluster(ctx, clusterNodes, backend.Options{})
	if err != nil {
		return nil, err
	}
	client := c.NewClient("cluster")
	made, err := l.over(client, false)
	if err != nil {
		return nil, errors.Join(err, client.Close(), c.Close())
	}
	found := &capacity.Cluster{Limiter: made, Close: func() error { return errors.Join(client.Close(), c.Close()) }}
	for _, node := range c.Nodes() {
		found.Nodes = append(found.Nodes, node)
	}
	return found, nil
}

// pipelined opens a limiter whose callers share pipelines. A script or command
// takes the harness's own client; what wants a whole client of go-redis gets
// that one's.
func (l *limiter) pipelined(r *backend.Redis, instance string) (bucket.Limiter, error) {
	switch {
	case l.over == nil:
		return nil, fmt.Errorf("%s has a client of its own: %w", l.Name, capacity.ErrMode)
	case l.file != nil:
		client := r.NewPipelinedClient(instance)
		made, err := lua.New(l.file, client)
		if err != nil {
			return nil, errors.Join(err, client.Close())
		}
		return listing{closing{made, client}, made}, nil
	}
	return withClient(func(client redis.UniversalClient, witness bool) (bucket.Limiter, error) {
		single, ok := client.(*redis.Client)
		if !ok {
			return nil, fmt.Errorf("a %T sends no pipelines: %w", client, capacity.ErrMode)
		}
		queue, err := single.AutoPipeline()
		if err != nil {
			return nil, err
		}
		return l.over(queue, witness)
	})(r, instance, false)
}
