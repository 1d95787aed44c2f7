//go:build unix && !linux

package child

import "syscall"

// attributes: Ctrl-C on the terminal reaches the harness only, which
// may still need the child to clean up.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
