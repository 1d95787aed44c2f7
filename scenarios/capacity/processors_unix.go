//go:build unix && !linux

package capacity

import (
	"runtime"
	"time"
)

var processorsFrom = time.Now()

// readProcessors is what this process left of the processors' time: what others
// took is not seen here.
func readProcessors() (processorTime, error) {
	own, all := ownTime(), time.Since(processorsFrom).Seconds()*float64(runtime.NumCPU())
	return processorTime{idle: all - own, all: all, own: own}, nil
}
