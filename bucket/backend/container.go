package backend

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/redis/go-redis/v9"
	"github.com/testcontainers/testcontainers-go"
)

// containerPort is where the server listens inside; outside it is any port,
// the same one after a restart.
const containerPort = "6379/tcp"

// containerLabel marks what was started here. A harness that is killed leaves
// its container behind:
//
//	docker rm -f $(docker ps -aq --filter label=org.bucketproof)
const containerLabel = "org.bucketproof"

// boxed is a server in a container.
type boxed struct {
	image string
	ctr   testcontainers.Container

	mu      sync.Mutex
	stopped bool // on purpose
}

// openContainer starts a server in a container; its image is downloaded if it
// is not there.
func openContainer(ctx context.Context, o Options) (*Redis, error) {
	e, err := findDocker(ctx)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	image := o.image()
	if !e.has(ctx, image) {
		o.logf("redis: downloading image %s", image)
	}
	return e.open(ctx, image, o)
}

// openLocalContainer is openContainer where nothing may be downloaded.
func openLocalContainer(ctx context.Context, o Options) (*Redis, error) {
	e, err := findDocker(ctx)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	image := o.image()
	if !e.has(ctx, image) {
		return nil, fmt.Errorf("image %s is not there and is not downloaded unasked: docker pull %s, or use --redis container", image, image)
	}
	return e.open(ctx, image, o)
}

// open starts a server in a container of image.
func (e *docker) open(ctx context.Context, image string, o Options) (*Redis, error) {
	host, err := e.host(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the host of Docker's ports: %w", err)
	}
	base := redis.Options{}
	if !isLoopback(host) {
		base.Password = rand.Text() // the port is open to others
	}
	b := &boxed{image: image}
	port, err := b.create(ctx, host, base.Password)
	if err != nil {
		return nil, cleanedUp(err, b.close())
	}
	base.Addr = net.JoinHostPort(host, strconv.Itoa(port))
	if err := b.await(ctx, base); err != nil {
		return nil, cleanedUp(err, b.close())
	}
	r, err := attach(ctx, Info{Kind: Container, Address: base.Addr}, base, b)
	if err != nil {
		return nil, cleanedUp(err, b.close())
	}
	o.logf("redis: started a container of %s: %s", image, r.info)
	return r, nil
}

// create makes and starts the container and returns its port outside. The port
// is chosen here, since one that Docker chooses changes with every restart.
func (b *boxed) create(ctx context.Context, host, password string) (port int, err error) {
	for range portAttempts {
		if port, err = freePort(); err != nil {
			break
		}
		b.ctr, err = testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{
			ContainerRequest: containerRequest(b.image, host, port, password),
			Started:          true,
			Logger:           noLog{},
		})
		if err == nil {
			return port, nil
		}
		if !isPortTaken(err.Error()) {
			break
		}
		_ = b.close() // made, but not started
	}
	return 0, fmt.Errorf("start a container of %s: %w", b.image, oneLine(err))
}

// containerRequest is a server that keeps nothing. On this machine its port is
// published on the loopback interface only.
func containerRequest(image, host string, port int, password string) testcontainers.ContainerRequest {
	cmd := []string{"redis-server", "--save", "", "--appendonly", "no", "--protected-mode", "no"}
	if password != "" {
		cmd = append(cmd, "--requirepass", password)
	}
	binding := network.PortBinding{HostPort: strconv.Itoa(port)}
	if isLoopback(host) {
		binding.HostIP = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return testcontainers.ContainerRequest{
		Image:        image,
		Cmd:          cmd,
		ExposedPorts: []string{containerPort},
		Labels:       map[string]string{containerLabel: "redis"},
		HostConfigModifier: func(h *container.HostConfig) {
			h.PortBindings = network.PortMap{network.MustParsePort(containerPort): {binding}}
		},
	}
}

// await waits until the server answers, or says why it does not.
func (b *boxed) await(ctx context.Context, base redis.Options) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	silence()
	o := clientSettings(base)
	c := redis.NewClient(&o)
	defer c.Close()
	for {
		err := c.Ping(ctx).Err()
		if err == nil {
			return nil
		}
		if ended := b.alive(); ended != nil {
			return fmt.Errorf("start a container of %s: %w", b.image, ended)
		}
		if pause(ctx, startPoll) != nil {
			return fmt.Errorf("start a container of %s: it does not answer at %s: %s%s", b.image, base.Addr, reason(err, false), b.lastWords())
		}
	}
}

// alive says whether and how the container ended.
func (b *boxed) alive() error {
	b.mu.Lock()
	stopped := b.stopped
	b.mu.Unlock()
	if stopped {
		return errStopped
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	state, err := b.ctr.State(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("its container is gone: %w", oneLine(err))
	case state.OOMKilled:
		return fmt.Errorf("its container ran out of memory (exit status %d)", state.ExitCode)
	case !state.Running:
		return fmt.Errorf("its container ended (exit status %d)%s", state.ExitCode, b.lastWords())
	}
	return nil
}

// lastWords are the last lines the server wrote.
func (b *boxed) lastWords() string {
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	logs, err := b.ctr.Logs(ctx)
	if err != nil {
		return ""
	}
	defer logs.Close()
	text, _ := io.ReadAll(logs)
	return lastLines(string(text), 3)
}

func (b *boxed) stop(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopped {
		return nil
	}
	now := time.Duration(0) // no time to say goodbye
	if err := b.ctr.Stop(ctx, &now); err != nil {
		return oneLine(err)
	}
	b.stopped = true
	return nil
}

func (b *boxed) start(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.ctr.Start(ctx); err != nil {
		return oneLine(err)
	}
	b.stopped = false
	return nil
}

// close removes the container and its volumes; it may not have come into being.
func (b *boxed) close() error {
	if err := testcontainers.TerminateContainer(b.ctr, testcontainers.StopTimeout(0)); err != nil {
		return fmt.Errorf("remove the container: %w", oneLine(err))
	}
	return nil
}

// image is what a container runs.
func (o Options) image() string {
	for _, name := range []string{o.Image, os.Getenv("HARNESS_REDIS_IMAGE")} {
		if name != "" {
			return name
		}
	}
	return DefaultImage
}
