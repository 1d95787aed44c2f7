package capacity

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// readProcessors is the time that the processors this process may use were idle,
// and all of their time, since the machine was started, in ticks: their lines of
// /proc/stat. Waiting for a disk is idle, what a hypervisor took is not.
func readProcessors() (processorTime, error) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return processorTime{}, fmt.Errorf("read how busy the processors are: %w", err)
	}
	may := func(int) bool { return true }
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) == nil {
		may = set.IsSet
	}
	t, err := parseProcessors(string(data), may)
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
