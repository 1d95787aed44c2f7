//go:build unix

package check

import (
	"syscall"
	"time"
)

// processor is the processor time that this process has used, without what it
// waited for others.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
