package child

import "syscall"

// attributes: the child goes when the harness goes, even by a kill, and
// Ctrl-C on the terminal reaches the harness only, which may still need the child
// to clean up.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
