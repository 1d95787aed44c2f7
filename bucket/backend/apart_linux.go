package backend

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Apart gives the main thread of a server that was started here as a process one of
// the processors that this process may use, and this process the others, until
// together is called. Where both may use all of them the kernel moves them onto the
// same one for tenths of a second, and a third less is carried meanwhile. It is an
// error where there is nothing to part. Nothing else may be started in between, as
// it would be kept to this process's part.
func (r *Redis) Apart() (together func(), err error) {
	p, ok := r.server.(*process)
	if !ok {
		return nil, errors.New("keep the server apart: it is no process that was started here")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.child == nil {
		return nil, errors.New("keep the server apart: it does not run")
	}
	var all, rest, last unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return nil, fmt.Errorf("keep the server apart: %w", os.NewSyscallError("sched_getaffinity", err))
	}
	if all.Count() < 2 {
		return nil, errors.New("keep the server apart: this process may use one processor only")
	}
	rest = all
	for cpu := range len(all) * strconv.IntSize {
		if all.IsSet(cpu) {
			last.Zero()
			last.Set(cpu)
		}
	}
	for i := range rest {
		rest[i] &^= last[i]
	}
	server := p.child.PID()
	together = func() {
		_ = unix.SchedSetaffinity(server, &all) // it may have ended
		_ = confine(&all)                       // wider than it is
	}
	if err := unix.SchedSetaffinity(server, &last); err != nil {
		return nil, fmt.Errorf("keep the server apart: %w", os.NewSyscallError("sched_setaffinity", err))
	}
	if err := confine(&rest); err != nil {
		together()
		return nil, fmt.Errorf("keep the server apart: %w", err)
	}
	return together, nil
}

// confine keeps all threads of this process to a set of processors, and with them
// those that they will start.
func confine(to *unix.CPUSet) error {
	seen := map[string]bool{}
	for {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		more := false
		for _, t := range threads {
			if seen[t.Name()] {
				continue
			}
			seen[t.Name()], more = true, true
			tid, err := strconv.Atoi(t.Name())
			if err != nil {
				return err
			}
			if err := unix.SchedSetaffinity(tid, to); err != nil && err != unix.ESRCH {
				return os.NewSyscallError("sched_setaffinity", err)
			}
		}
		if !more {
			return nil
		}
	}
}
