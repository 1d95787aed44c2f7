//go:build unix

package backend

import (
	"os"
	"syscall"
)

// killGroup ends a child and its own children.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
