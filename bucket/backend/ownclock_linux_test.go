package backend

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// clocksProgram tells, in ms, how far each clock of the wall is from the
// monotonic one.
const clocksProgram = `#include <stdio.h>
#include <sys/time.h>
#include <time.h>

static long long ms(clockid_t which)
{
	struct timespec t;

	clock_gettime(which, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

int main(void)
{
	struct timeval day;
	long long start = ms(CLOCK_MONOTONIC);

	gettimeofday(&day, 0);
	printf("%lld %lld %lld %lld %lld\n", ms(CLOCK_REALTIME) - start, ms(CLOCK_REALTIME_COARSE) - start,
		day.tv_sec * 1000LL + day.tv_usec / 1000 - start, ms(CLOCK_MONOTONIC_RAW) - start, ms(CLOCK_BOOTTIME) - start);
	return 0;
}
`

// TestOwnClockIsOfTheWallAlone: the real-time clocks and gettimeofday are moved,
// against a monotonic clock that is not, nor are the others.
func TestOwnClockIsOfTheWallAlone(t *testing.T) {
	dir := t.TempDir()
	c, err := newOwnClock(t.Context(), dir)
	if errors.Is(err, ErrOwnClock) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	compiler, err := findCompiler()
	if err != nil {
		t.Fatal(err)
	}
	source, program := filepath.Join(dir, "clocks.c"), filepath.Join(dir, "clocks")
	if err := os.WriteFile(source, []byte(clocksProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(compiler, "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	read := func() (clocks [5]int64) {
		t.Helper()
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), c.environment()...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(string(out), &clocks[0], &clocks[1], &clocks[2], &clocks[3], &clocks[4]); err != nil {
			t.Fatal(err)
		}
		return clocks
	}
	before := read()
	const step = 10 * time.Hour
	if err := c.shift(-step); err != nil {
		t.Fatal(err)
	}
	after := read()
	for i, name := range []string{"CLOCK_REALTIME", "CLOCK_REALTIME_COARSE", "gettimeofday", "CLOCK_MONOTONIC_RAW", "CLOCK_BOOTTIME"} {
		want := -step
		if i >= 3 {
			want = 0
		}
		moved := time.Duration(after[i]-before[i]) * time.Millisecond
		if (moved - want).Abs() > step/2 {
			t.Errorf("%s moved by %v against the monotonic clock, want %v", name, moved, want)
		}
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	if err := c.shift(step); !errors.Is(err, errStopped) {
		t.Errorf("moved after its end: %v", err)
	}
}
