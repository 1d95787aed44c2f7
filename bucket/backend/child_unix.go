//go:build unix && !linux

package backend

import "syscall"

// childAttributes: Ctrl-C on the terminal reaches the harness only, which
// still needs the server to clean up.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
