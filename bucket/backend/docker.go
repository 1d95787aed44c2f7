package backend

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
)

// DefaultImage is what a container runs unless told otherwise.
const DefaultImage = "redis:8-alpine"

// dockerPatience is how long the engine may take to say that it is there.
const dockerPatience = 10 * time.Second

// docker is the container engine.
type docker struct{ *testcontainers.DockerProvider }

// findDocker connects to the engine, wherever the environment says it is.
func findDocker(ctx context.Context) (*docker, error) {
	prepareTestcontainers()
	type found struct {
		provider *testcontainers.DockerProvider
		err      error
	}
	done := make(chan found, 1)
	go func() { // it takes no context
		p, err := testcontainers.NewDockerProvider()
		done <- found{p, err}
	}()
	limit := time.NewTimer(dockerPatience)
	defer limit.Stop()
	select {
	case f := <-done:
		if f.err != nil {
			return nil, fmt.Errorf("no Docker engine answers (%w): start one, or use --redis process or embedded", oneLine(f.err))
		}
		return &docker{f.provider}, nil
	case <-limit.C:
		return nil, fmt.Errorf("no Docker engine answers within %v: start one, or use --redis process or embedded", dockerPatience)
	case <-ctx.Done():
		return nil, fmt.Errorf("look for a Docker engine: %w", ctx.Err())
	}
}

// has reports whether an image is there without a download.
func (e *docker) has(ctx context.Context, image string) bool {
	_, err := e.Client().ImageInspect(ctx, image)
	return err == nil
}

// host is where the engine's ports are. A name for this machine becomes
// 127.0.0.1, since that is where they are published.
func (e *docker) host(ctx context.Context) (string, error) {
	host, err := e.DaemonHost(ctx)
	if err != nil {
		return "", oneLine(err)
	}
	if isLoopback(host) {
		return "127.0.0.1", nil
	}
	return host, nil
}

// isLoopback reports whether host is this machine by its loopback interface.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// prepareTestcontainers silences its global logger and, unless the environment
// says something, switches off its reaper: a second container that wants an
// image of its own, the engine's socket, and a port on every interface.
var prepareTestcontainers = sync.OnceFunc(func() {
	log.SetDefault(noLog{})
	const reaper = "TESTCONTAINERS_RYUK_DISABLED"
	if os.Getenv(reaper) == "" {
		_ = os.Setenv(reaper, "true") // it is read once, when the first provider is made
	}
})

// noLog is a logger that nobody hears.
type noLog struct{}

func (noLog) Printf(string, ...any) {}
