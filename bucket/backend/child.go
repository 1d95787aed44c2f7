package backend

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// child is a running program whose output goes to a file.
type child struct {
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when it ended
	err  error         // how it ended; valid after done
}

// startChild starts cmd. On systems that can, the kernel ends it when this
// process ends, however that happens: the promise hangs on the thread that
// started it, so that thread is kept for as long as the child lives.
func startChild(cmd *exec.Cmd, log string) (*child, error) {
	out, err := os.Create(log)
	if err != nil {
		return nil, fmt.Errorf("make its log: %w", err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = childAttributes()
	c := &child{cmd: cmd, log: log, done: make(chan struct{})}
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

func (c *child) pid() int { return c.cmd.Process.Pid }

func (c *child) exited() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// kill ends the child and what it may have started (the program on PATH can be
// a script around the real one), and waits until it is gone.
func (c *child) kill() {
	if !c.exited() {
		killGroup(c.cmd.Process)
	}
	<-c.done
}

// obituary says how the child ended, with the last lines of its log.
func (c *child) obituary() error {
	end := "exit status 0"
	if c.err != nil {
		end = c.err.Error()
	}
	data, _ := os.ReadFile(c.log)
	text := fmt.Sprintf("it ended (pid %d, %s)%s", c.pid(), end, lastLines(string(data), 3))
	if isPortTaken(string(data)) {
		return fmt.Errorf("%s: %w", text, errPortTaken)
	}
	return errors.New(text)
}

// lastLines puts the last n lines of a log into one, "" when there is none.
// Warnings, which a server gives as it starts, are long and say nothing of its end.
func lastLines(log string, n int) string {
	var lines []string
	for line := range strings.Lines(log) {
		if line = strings.TrimSpace(line); line != "" && !strings.Contains(line, "WARNING") {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return ": " + strings.Join(lines[max(0, len(lines)-n):], " | ")
}
