//go:build unix

package child

import (
	"os"
	"syscall"
)

// killGroup ends a child and its own children.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// suspendGroup stops a child and its own children in their tracks; resumeGroup
// lets them go on.
func suspendGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGSTOP) }
func resumeGroup(p *os.Process) error  { return syscall.Kill(-p.Pid, syscall.SIGCONT) }
