package lua

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"bucketproof/bucket/limiterfile"
)

// ServerClock is the clock of a simulated server: the server's own TIME, set
// off and stepped. The zero ServerClock is the server's own.
type ServerClock struct {
	Offset time.Duration // ahead of the server's own clock; to the microsecond
	Steps  []ClockStep
}

// ClockStep moves a clock, from an instant on. Because the instant is one of
// the server's own clock, the step is one for all who ask, in whatever order
// their requests arrive.
type ClockStep struct {
	At time.Time     // when the server's own clock says so
	By time.Duration // ahead; below 0: back
}

// word is the clock as the script takes it: microseconds, the offset first,
// then the two numbers of each step.
func (c ServerClock) word() string {
	b := strconv.AppendInt(nil, c.Offset.Microseconds(), 10)
	for _, s := range c.Steps {
		b = strconv.AppendInt(append(b, ' '), s.At.UnixMicro(), 10)
		b = strconv.AppendInt(append(b, ' '), s.By.Microseconds(), 10)
	}
	return string(b)
}

// WithClock returns a limiter like l whose script takes another clock for the
// server's TIME. It asks clock before every request, concurrently; a clock that
// is to step tells so ahead of the step. A command has no script to tell it to.
//
// The script's text is changed for it: one statement in front of its first
// line shadows the table `redis`, whose call and pcall then answer TIME, in
// letters of any case, and pass everything else on. Line numbers stay, KEYS and
// ARGV are as they were. What remains to be seen:
//
//   - `_G.redis`, and Valkey's `server`, are the server's own and tell its time;
//   - keys expire by the server's own clock, and a [bucket.Witness] tells that
//     one;
//   - an error of a call whose result is returned at once (`return
//     redis.call(…)`) has no line: Lua forgets the caller;
//   - the shadow's fields can be assigned, where the server's own cannot;
//   - a chunk that has 200 local variables has one too many.
func (l *Limiter) WithClock(clock func() ServerClock) (*Limiter, error) {
	if l.sha == "" {
		return nil, l.file.Mistake(string(limiterfile.Command), fmt.Sprintf("the server's clock cannot be changed for `%s`: only a script can be shown another one", limiterfile.Command))
	}
	shown := *l
	shown.clock = clock
	shown.setScript(shadowed(l.file.Script))
	return &shown, nil
}

//go:embed clock.lua
var clockLua string

// clockPrelude is the shadowing statement on one line. It takes the clock off
// the end of ARGV, and its own names are not seen by the script.
var clockPrelude = strings.Join(strings.Fields(clockLua), " ")

// shadowed puts the prelude in front of a script's first line, which is the
// second one of a script that names its engine and flags in the first
// ("#!lua flags=no-writes").
func shadowed(script string) string {
	if !strings.HasPrefix(script, "#!") {
		return clockPrelude + " " + script
	}
	first, rest, more := strings.Cut(script, "\n")
	if !more {
		return script // the engine's name without a script
	}
	return first + "\n" + clockPrelude + " " + rest
}
