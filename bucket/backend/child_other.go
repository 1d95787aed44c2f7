//go:build !unix

package backend

import (
	"errors"
	"os"
	"syscall"
)

func childAttributes() *syscall.SysProcAttr { return nil }

func killGroup(p *os.Process) { _ = p.Kill() }

func suspendGroup(*os.Process) error { return errors.ErrUnsupported }
func resumeGroup(*os.Process) error  { return errors.ErrUnsupported }
