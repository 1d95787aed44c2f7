package backend

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Patience of a start. A loaded machine needs some of it.
const (
	startTimeout = 20 * time.Second
	startPoll    = 10 * time.Millisecond
	portAttempts = 8 // between choosing a free port and listening somebody else may take it
)

// errPortTaken means that another port has to be tried.
var errPortTaken = errors.New("port is taken")

// process is a server program in a temporary folder.
type process struct {
	program string
	dir     string
	port    int       // fixed by the first start
	clock   *ownClock // nil: the machine's
	cluster bool      // a node of one

	mu    sync.Mutex
	child *logged // nil: stopped
}

// openProcess starts redis-server or valkey-server, whichever is on PATH.
func openProcess(ctx context.Context, o Options) (*Redis, error) {
	program, err := findProgram()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.Dir, "bucketproof-redis-")
	if err != nil {
		return nil, fmt.Errorf("start %s: make its folder: %w", program, err)
	}
	p := &process{program: program, dir: dir, cluster: o.cluster}
	if o.OwnClock {
		if p.clock, err = newOwnClock(ctx, dir); err != nil {
			return nil, cleanedUp(err, p.close())
		}
	}
	if err := p.start(ctx); err != nil {
		return nil, cleanedUp(err, p.close())
	}
	address := p.address()
	r, err := attach(ctx, Info{Kind: Process, Address: address}, redis.Options{Addr: address}, p)
	if err != nil {
		return nil, cleanedUp(err, p.close())
	}
	if err := r.obeys(ctx, p.clock); err != nil {
		return nil, cleanedUp(err, r.Close())
	}
	o.logf("redis: started %s: %s", program, r.info)
	return r, nil
}

// findProgram looks for a server on PATH.
func findProgram() (string, error) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		path, err := exec.LookPath(name)
		if err == nil {
			return filepath.Abs(path)
		}
	}
	return "", errors.New("neither redis-server nor valkey-server is on PATH: " +
		"install one (Debian: apt-get install redis-server), or use --redis embedded")
}

func (p *process) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port)) }

// start runs the program and waits until it answers: on a free port at first,
// later on the same one again.
func (p *process) start(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.child != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var err error
	for range portAttempts {
		port := p.port
		if port == 0 {
			if port, err = p.freePort(); err != nil {
				return fmt.Errorf("start %s: %w", p.program, err)
			}
		}
		var c *logged
		c, err = p.launch(ctx, port)
		if err == nil {
			p.port, p.child = port, c
			return nil
		}
		if !errors.Is(err, errPortTaken) || pause(ctx, 5*startPoll) != nil {
			break
		}
	}
	return fmt.Errorf("start %s: %w", p.program, err)
}

// launch starts the program on port and waits for it.
func (p *process) launch(ctx context.Context, port int) (*logged, error) {
	c, err := startLogged(p.command(port), filepath.Join(p.dir, "server.log"))
	if err != nil {
		return nil, err
	}
	for {
		err := answers(ctx, port, c.PID())
		if err == nil {
			return c, nil
		}
		if c.Exited() {
			return nil, c.obituary()
		}
		if errors.Is(err, errPortTaken) || pause(ctx, startPoll) != nil {
			c.Kill()
			return nil, fmt.Errorf("it does not answer on port %d: %w", port, err)
		}
	}
}

// command is the program with everything that would outlive it or be reachable
// from elsewhere switched off.
func (p *process) command(port int) *exec.Cmd {
	cmd := exec.Command(p.program,
		"--port", strconv.Itoa(port),
		"--bind", "127.0.0.1",
		"--protected-mode", "yes",
		"--save", "",
		"--appendonly", "no",
		"--daemonize", "no",
		"--dir", p.dir,
	)
	if p.cluster {
		cmd.Args = append(cmd.Args, "--cluster-enabled", "yes")
	}
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C") // it refuses to start in a locale that is not installed
	if p.clock != nil {
		cmd.Env = append(cmd.Env, p.clock.environment()...)
	}
	return cmd
}

// answers reports whether the server on port answers and is the process pid;
// errPortTaken when it is another one.
func answers(ctx context.Context, port, pid int) error {
	silence()
	o := clientSettings(redis.Options{Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), DialTimeout: time.Second, ReadTimeout: time.Second})
	c := redis.NewClient(&o)
	defer c.Close()
	text, err := c.Info(ctx, "server").Result()
	if err != nil {
		return err
	}
	if parseInfo(text)["process_id"] != strconv.Itoa(pid) {
		return errPortTaken
	}
	return nil
}

// stop kills the server. It keeps nothing on disk, so a tidy shutdown would
// save nothing more than a crash does.
func (p *process) stop(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.child != nil {
		p.child.Kill()
		p.child = nil
	}
	return nil
}

// alive says whether and how the server ended.
func (p *process) alive() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.child == nil:
		return errStopped
	case p.child.Exited():
		return p.child.obituary()
	}
	return nil
}

// suspend holds the server up; nobody stops or starts it meanwhile.
func (p *process) suspend(ctx context.Context, d time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.child == nil || p.child.Exited() {
		return errStopped
	}
	if err := p.child.Suspend(); err != nil {
		return err
	}
	_ = pause(ctx, d)
	return p.child.Resume()
}

func (p *process) close() error {
	_ = p.stop(context.Background())
	var err error
	if p.clock != nil {
		err = p.clock.close()
	}
	return cleanedUp(err, os.RemoveAll(p.dir))
}

// freePort asks the system for a port nobody listens on.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// freePort is one for the server, also for a node of a cluster, which talks to the
// others on a port that is 10,000 higher.
func (p *process) freePort() (int, error) {
	for range busAttempts {
		port, err := freePort()
		if err != nil || !p.cluster || port <= math.MaxUint16-busOffset {
			return port, err
		}
	}
	return 0, errors.New("find a free port: none is low enough for a node of a cluster")
}

// The port of a cluster's bus, and how many ports are tried for one: of those that a
// system hands out, a sixth is too high as a rule.
const (
	busOffset   = 10_000
	busAttempts = 100
)

// pause waits for d, or less when ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// isPortTaken reads the reason from a log or a message: Redis, its older
// versions and Docker word it differently.
func isPortTaken(text string) bool {
	text = strings.ToLower(text)
	for _, words := range []string{"address already in use", "port already in use", "port is already allocated"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}
