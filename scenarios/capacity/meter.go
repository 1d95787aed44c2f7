package capacity

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Server is asked how it fares.
type Server interface {
	// Statistics are the fields of INFO by their names, all sections of it.
	Statistics(ctx context.Context) (map[string]string, error)
}

// processorTime is how long the processors were idle since some instant and all
// of their time, in one unit; and what of it this process took, s.
type processorTime struct{ idle, all, own float64 }

// reading is what the meters say at one instant.
type reading struct {
	at         time.Duration // on the run's clock
	cpu        float64       // s, of the server's main thread
	allCPU     float64       // s, of the server's process
	cpuTold    bool
	commands   map[string]commandCost
	bytes      float64 // in and out of the server
	used       float64 // bytes, used memory
	processors processorTime
}

// commandCost is a command's line of INFO commandstats.
type commandCost struct{ calls, us float64 }

// meters are the two that are read: the server and this machine.
type meters struct {
	server     Server // nil: there is none, or it does not tell
	local      bool   // it has this machine's processors
	processors func() (processorTime, error)
	elapsed    func() time.Duration
}

func (m meters) read(ctx context.Context) (reading, error) {
	var r reading
	if m.server != nil {
		fields, err := m.server.Statistics(ctx)
		if err != nil {
			return r, err
		}
		r = readStatistics(fields)
	}
	if t, err := m.processors(); err == nil { // where it is not told it counts as not idle
		r.processors = t
	}
	r.at = m.elapsed()
	return r, nil
}

// readStatistics reads the fields of INFO. Redis before 6.2 knows no thread of
// its own: then the process's time is the nearest there is.
func readStatistics(fields map[string]string) reading {
	r := reading{commands: map[string]commandCost{}}
	number := func(name string) (float64, bool) {
		v, err := strconv.ParseFloat(fields[name], 64)
		return v, err == nil
	}
	for _, suffix := range []string{"", "_main_thread"} {
		system, ok1 := number("used_cpu_sys" + suffix)
		user, ok2 := number("used_cpu_user" + suffix)
		if !ok1 || !ok2 {
			continue
		}
		r.cpu, r.cpuTold = system+user, true
		if suffix == "" {
			r.allCPU = r.cpu
		}
	}
	in, _ := number("total_net_input_bytes")
	out, _ := number("total_net_output_bytes")
	r.bytes = in + out
	r.used, _ = number("used_memory")
	for name, value := range fields {
		if command, ok := strings.CutPrefix(name, "cmdstat_"); ok {
			r.commands[command] = readCommand(value)
		}
	}
	return r
}

// readCommand reads "calls=3,usec=12,usec_per_call=4.00,…".
func readCommand(value string) commandCost {
	var c commandCost
	for part := range strings.SplitSeq(value, ",") {
		name, text, _ := strings.Cut(part, "=")
		v, _ := strconv.ParseFloat(text, 64)
		switch name {
		case "calls":
			c.calls = v
		case "usec":
			c.us = v
		}
	}
	return c
}

// usage is what happened between two readings.
type usage struct {
	seconds  float64
	redisCPU float64 // of one processor, 0..1; 0 where it is not told
	told     bool    // redisCPU is
	idle     float64 // of the processors that the generator may use, 0..1
	others   float64 // processors that neither it nor a local server took; 0 where that is not known
	cpuUS    float64 // of the server's main thread
	ownUS    float64 // processor time of this process
	scriptUS float64 // inside the calls that decide
	bytes    float64
}

func (m meters) between(before, r reading) usage {
	u := usage{
		seconds: (r.at - before.at).Seconds(), told: r.cpuTold && before.cpuTold,
		cpuUS: (r.cpu - before.cpu) * 1e6, bytes: r.bytes - before.bytes,
		ownUS:    (r.processors.own - before.processors.own) * 1e6,
		scriptUS: decisionTime(before.commands, r.commands),
	}
	if u.told && u.seconds > 0 {
		u.redisCPU = min(max(u.cpuUS/1e6/u.seconds, 0), 1)
	}
	if all := r.processors.all - before.processors.all; all > 0 && u.seconds > 0 {
		idle := (r.processors.idle - before.processors.idle) / all
		own := (r.processors.own - before.processors.own) / u.seconds / float64(runtime.GOMAXPROCS(0))
		u.idle = min(max(min(idle, 1-own), 0), 1)
		if m.local || m.server == nil {
			took := (r.processors.own - before.processors.own + r.allCPU - before.allCPU) / u.seconds
			u.others = max((1-idle)*float64(runtime.NumCPU())-took, 0)
		}
	}
	return u
}

// scriptCommands run a script. What it calls has lines of its own in INFO, but
// its time is in the script's already.
var scriptCommands = []string{"eval", "evalsha", "eval_ro", "evalsha_ro", "fcall", "fcall_ro"}

// harnessCommands are ours and no limiter's.
var harnessCommands = map[string]bool{"info": true, "ping": true, "hello": true, "client|setname": true, "client|setinfo": true, "script|load": true}

// decisionTime is the time inside the commands that decide, µs: of scripts where
// any was called, else of all commands.
func decisionTime(before, after map[string]commandCost) float64 {
	scripts, us := 0.0, 0.0
	for _, name := range scriptCommands {
		scripts += after[name].calls - before[name].calls
		us += after[name].us - before[name].us
	}
	if scripts > 0 {
		return us
	}
	for name, c := range after {
		if !harnessCommands[name] {
			us += c.us - before[name].us
		}
	}
	return us
}

// whoIsBusy says how busy both sides were.
func (s *Step) whoIsBusy() string {
	text := fmt.Sprintf("Redis' main thread was busy for %.0f %% of the time and the generator's processors were idle for %.0f %%", 100*s.RedisCPU, 100*s.Idle)
	if s.Others > mostOthers {
		text += fmt.Sprintf(" (other programs took %.1f of them)", s.Others)
	}
	return text
}
