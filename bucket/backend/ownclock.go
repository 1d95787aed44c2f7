package backend

import (
	"context"
	_ "embed" // ownclock/clock.c
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// ErrOwnClock means that a server cannot have a wall clock of its own here.
var ErrOwnClock = errors.New("no wall clock of its own")

// ownClockSource is a library that, preloaded, adds to the wall clock of a
// process what the start of a shared file says, in ns. It is compiled where it
// is used, since whose C library it meets is not known before.
//
//go:embed ownclock/clock.c
var ownClockSource []byte

// compileTimeout is far more than a compiler takes for so little.
const compileTimeout = 30 * time.Second

// ownClock is a wall clock that a process reads in place of the machine's.
type ownClock struct {
	library string
	file    string

	mu    sync.Mutex
	ahead *atomic.Int64 // of the machine's clock, ns; in memory shared with the process; nil: closed
	unmap func() error
}

// newOwnClock compiles the library and makes the shared file, both in dir.
func newOwnClock(ctx context.Context, dir string) (*ownClock, error) {
	c := &ownClock{library: filepath.Join(dir, "clock.so"), file: filepath.Join(dir, "clock")}
	if err := compileOwnClock(ctx, filepath.Join(dir, "clock.c"), c.library); err != nil {
		return nil, err
	}
	if err := os.WriteFile(c.file, make([]byte, 8), 0o600); err != nil {
		return nil, fmt.Errorf("make the file of its clock: %w", err)
	}
	var err error
	if c.ahead, c.unmap, err = shareInt64(c.file); err != nil {
		return nil, fmt.Errorf("share the file of its clock: %w", err)
	}
	return c, nil
}

func compileOwnClock(ctx context.Context, source, library string) error {
	compiler, err := findCompiler()
	if err != nil {
		return err
	}
	if err := os.WriteFile(source, ownClockSource, 0o600); err != nil {
		return fmt.Errorf("write the source of its clock: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, compileTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, compiler, "-shared", "-fPIC", "-O2", "-o", library, source).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s: %w%s", ErrOwnClock, compiler, err, lastLines(string(out), 3))
	}
	return nil
}

// findCompiler looks for a C compiler on PATH.
func findCompiler() (string, error) {
	for _, name := range []string{"cc", "gcc", "clang"} {
		if path, err := exec.LookPath(name); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", fmt.Errorf("%w: neither cc, gcc nor clang is on PATH to compile it (Debian: apt-get install gcc libc6-dev)", ErrOwnClock)
}

// CanOwnClock is why [Open] with spec and Options.OwnClock would fail, as far as
// that can be told beforehand: [ErrOwnClock], or no server program; nil: it would
// not.
func CanOwnClock(spec string) error {
	if spec != "" && spec != "auto" && spec != string(Process) {
		return fmt.Errorf("%w: only a process that is started here can have one", ErrOwnClock)
	}
	if runtime.GOOS != "linux" {
		return fmt.Errorf("%w: that needs Linux, this is %s", ErrOwnClock, runtime.GOOS)
	}
	if _, err := findProgram(); err != nil {
		return err
	}
	_, err := findCompiler()
	return err
}

// environment is what makes a program read the clock.
func (c *ownClock) environment() []string {
	return []string{"LD_PRELOAD=" + c.library, "BUCKETPROOF_CLOCK=" + c.file}
}

// shift moves the clock by d from now on.
func (c *ownClock) shift(d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ahead == nil {
		return errStopped
	}
	c.ahead.Add(int64(d))
	return nil
}

func (c *ownClock) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ahead == nil {
		return nil
	}
	c.ahead = nil
	return c.unmap()
}

// trial is how far a new clock is moved and back to see whether the server
// reads it: far more than it takes to ask.
const trial = time.Hour

// obeys fails when the server does not read its own clock: a program without a C
// library preloads nothing.
func (r *Redis) obeys(ctx context.Context, c *ownClock) error {
	if c == nil {
		return nil
	}
	before, err := r.Time(ctx)
	if err != nil {
		return err
	}
	if err := c.shift(trial); err != nil {
		return err
	}
	moved, err := r.Time(ctx)
	if err := errors.Join(err, c.shift(-trial)); err != nil {
		return err
	}
	if moved.Sub(before) < trial {
		return fmt.Errorf("%w: %s does not read it, it may be linked statically", ErrOwnClock, r.info)
	}
	return nil
}

// ShiftClock moves the server's wall clock by d, ahead or (below 0) back, from
// now on: TIME and the expiry of keys go by it, while what the server counts on
// the machine's monotonic clock goes on as before. Shifts add up, and last over a
// restart. It returns at once; commands that begin afterwards see it. The server
// must have been opened with Options.OwnClock, else the error is [ErrOwnClock].
func (r *Redis) ShiftClock(d time.Duration) error {
	p, ok := r.server.(*process)
	if !ok || p.clock == nil {
		return fmt.Errorf("shift the clock of redis at %s: %w", r.info.Address, ErrOwnClock)
	}
	if err := p.clock.shift(d); err != nil {
		return fmt.Errorf("shift the clock of redis at %s by %v: %w", r.info.Address, d, err)
	}
	return nil
}
