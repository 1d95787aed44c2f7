//go:build !unix

package child

import (
	"errors"
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

func killGroup(p *os.Process) { _ = p.Kill() }

func suspendGroup(*os.Process) error { return errors.ErrUnsupported }
func resumeGroup(*os.Process) error  { return errors.ErrUnsupported }
