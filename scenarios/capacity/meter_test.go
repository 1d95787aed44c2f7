package capacity

import (
	"math"
	"testing"
	"time"
)

func TestReadStatistics(t *testing.T) {
	before := readStatistics(map[string]string{
		"used_cpu_sys": "10", "used_cpu_user": "20", "used_cpu_sys_main_thread": "1.5", "used_cpu_user_main_thread": "2.25",
		"total_net_input_bytes": "100", "total_net_output_bytes": "50",
		"cmdstat_evalsha": "calls=10,usec=100,usec_per_call=10.00", "cmdstat_hset": "calls=10,usec=30",
	})
	after := readStatistics(map[string]string{
		"used_cpu_sys": "11", "used_cpu_user": "22", "used_cpu_sys_main_thread": "2.0", "used_cpu_user_main_thread": "3.25",
		"total_net_input_bytes": "300", "total_net_output_bytes": "250",
		"cmdstat_evalsha": "calls=30,usec=400,usec_per_call=13.33", "cmdstat_hset": "calls=30,usec=90", "cmdstat_info": "calls=2,usec=900",
	})
	before.at, after.at = time.Second, 3*time.Second
	before.processors, after.processors = processorTime{idle: 100, all: 200, own: 1}, processorTime{idle: 150, all: 300, own: 1.5}
	u := meters{server: told{}, local: true}.between(before, after)
	if u.redisCPU != 0.75 || !u.told || u.cpuUS != 1.5e6 || u.scriptUS != 300 || u.bytes != 400 || u.idle > 0.5 {
		t.Errorf("%+v", u)
	}
}

// told is a server that is there.
type told struct{ Server }

func TestOldServersTellTheProcess(t *testing.T) {
	r := readStatistics(map[string]string{"used_cpu_sys": "10", "used_cpu_user": "20"})
	if !r.cpuTold || r.cpu != 30 {
		t.Errorf("%+v", r)
	}
	if r := readStatistics(map[string]string{}); r.cpuTold {
		t.Error("a server that tells nothing tells its processor time")
	}
}

// TestDecisionTime: of a command that is no script all commands count but the
// harness's own.
func TestDecisionTime(t *testing.T) {
	before := map[string]commandCost{"set": {5, 50}}
	after := map[string]commandCost{"set": {10, 80}, "get": {5, 7}, "info": {2, 500}}
	if us := decisionTime(before, after); us != 37 {
		t.Errorf("%v µs, want 37", us)
	}
}

func TestReadProcessors(t *testing.T) {
	first, err := readProcessors()
	if err != nil {
		t.Skip(err)
	}
	for began := time.Now(); time.Since(began) < 50*time.Millisecond; {
		_ = math.Sqrt(float64(time.Now().UnixNano()))
	}
	second, err := readProcessors()
	if err != nil {
		t.Fatal(err)
	}
	if second.own <= first.own || second.all < first.all || second.idle < first.idle {
		t.Errorf("%+v after %+v", second, first)
	}
}
