//go:build unix

package capacity

import "golang.org/x/sys/unix"

// ownTime is the processor time that this process took, s.
func ownTime() float64 {
	var own unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &own); err != nil {
		return 0
	}
	return float64(own.Utime.Nano()+own.Stime.Nano()) / 1e9
}
