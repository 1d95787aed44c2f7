package capacity

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// readProcessors is the time that this machine's processors were idle, and all
// of their time, since it was started, in ticks: the first line of /proc/stat.
// Waiting for a disk is idle, what a hypervisor took is not.
func readProcessors() (processorTime, error) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return processorTime{}, fmt.Errorf("read how busy the processors are: %w", err)
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	t, err := parseProcessors(string(line))
	t.own = ownTime()
	return t, err
}

// parseProcessors reads "cpu user nice system idle iowait irq softirq steal …";
// what follows is in user and nice already.
func parseProcessors(line string) (processorTime, error) {
	fields := bytes.Fields([]byte(line))
	var t processorTime
	if len(fields) < 9 || string(fields[0]) != "cpu" {
		return t, fmt.Errorf("read how busy the processors are: /proc/stat begins with %q", line)
	}
	for i, f := range fields[1:9] {
		v, err := strconv.ParseFloat(string(f), 64)
		if err != nil {
			return t, fmt.Errorf("read how busy the processors are: %q in /proc/stat", f)
		}
		t.all += v
		if i == 3 || i == 4 {
			t.idle += v
		}
	}
	return t, nil
}
