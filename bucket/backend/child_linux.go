package backend

import "syscall"

// childAttributes: the server goes when the harness goes, even by a kill, and
// Ctrl-C on the terminal reaches the harness only, which still needs the server
// to clean up.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
