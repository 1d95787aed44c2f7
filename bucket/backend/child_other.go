//go:build !unix

package backend

import "syscall"

func childAttributes() *syscall.SysProcAttr { return nil }
