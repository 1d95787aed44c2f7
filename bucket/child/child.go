// Package child runs programs that must not outlive the harness: the servers of
// package backend and the limiters of package remote that are programs of their
// own. Each leads a process group, so that what it starts ends with it.
package child

import (
	"os/exec"
	"runtime"
)

// Child is a running program. It is safe for concurrent use.
type Child struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it ended
	err  error         // how it ended; valid after done
}

// Start starts cmd, whose streams must be files or nothing: a stream that is
// copied would keep the child's end from being seen until whoever inherited it
// has closed it too. On systems that can, the kernel ends the child when this
// process ends, however that happens: the promise hangs on the thread that started
// it, so that thread is kept for as long as the child lives.
func Start(cmd *exec.Cmd) (*Child, error) {
	cmd.SysProcAttr = attributes()
	c := &Child{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			c.err = cmd.Wait()
			killGroup(cmd.Process) // what a script left running
			close(c.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

// PID is the process's number.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Done is closed when the child has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Exited reports whether the child has ended.
func (c *Child) Exited() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// End says how the child ended: "exit status 1", "signal: killed". It waits until
// it has.
func (c *Child) End() string {
	<-c.done
	if c.err != nil {
		return c.err.Error()
	}
	return "exit status 0"
}

// Kill ends the child and what it may have started (the program on PATH can be
// a script around the real one), and waits until it is gone.
func (c *Child) Kill() {
	if !c.Exited() {
		killGroup(c.cmd.Process)
	}
	<-c.done
}

// Suspend stops the child and its own children in their tracks; Resume lets them
// go on. Where the system cannot, it is errors.ErrUnsupported.
func (c *Child) Suspend() error { return suspendGroup(c.cmd.Process) }

// Resume undoes Suspend.
func (c *Child) Resume() error { return resumeGroup(c.cmd.Process) }
