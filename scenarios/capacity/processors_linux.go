package capacity

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// available reports whether this process could use a processor when it began. Later
// it may keep off one for the server's sake, which is to be seen all the same.
var available = func() func(processor int) bool {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return func(int) bool { return true }
	}
	return set.IsSet
}()

// readProcessors is the time that the processors available to this process were
// idle, and all of their time, since the machine was started, in ticks: their lines
// of /proc/stat. Waiting for a disk is idle, what a hypervisor took is not.
func readProcessors() (processorTime, error) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return processorTime{}, fmt.Errorf("read how busy the processors are: %w", err)
	}
	t, err := parseProcessors(string(data), available)
	t.own = ownTime()
	return t, err
}

// parseProcessors adds up the lines "cpuN user nice system idle iowait irq softirq
// steal …" of the processors that may be used; what follows is in user and nice
// already.
func parseProcessors(stat string, may func(processor int) bool) (processorTime, error) {
	var t processorTime
	for line := range strings.Lines(stat) {
		fields := strings.Fields(line)
		if len(fields) < 9 {
			continue
		}
		digits, ok := strings.CutPrefix(fields[0], "cpu")
		n, err := strconv.Atoi(digits)
		if !ok || err != nil || !may(n) {
			continue
		}
		for i, f := range fields[1:9] {
			v, err := strconv.ParseFloat(f, 64)
			if err != nil {
				return t, fmt.Errorf("read how busy the processors are: %q in /proc/stat", f)
			}
			t.all += v
			if i == 3 || i == 4 {
				t.idle += v
			}
		}
	}
	if t.all == 0 {
		return t, fmt.Errorf("read how busy the processors are: /proc/stat tells of none of them")
	}
	return t, nil
}
