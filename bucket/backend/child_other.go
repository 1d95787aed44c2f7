//go:build !unix

package backend

import (
	"os"
	"syscall"
)

func childAttributes() *syscall.SysProcAttr { return nil }

func killGroup(p *os.Process) { _ = p.Kill() }
