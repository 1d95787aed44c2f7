//go:build unix

package child_test

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"bucketproof/bucket/child"
)

// start runs a shell script whose first line of output is the process number of
// what it left in the background.
func start(t *testing.T, script string) (c *child.Child, left int) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Stdout = w
	if c, err = child.Start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Kill)
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if left, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
		t.Fatal(err)
	}
	return c, left
}

// gone waits until no process has the number any more.
func gone(t *testing.T, pid int) {
	t.Helper()
	for range 2000 {
		if syscall.Kill(pid, 0) == syscall.ESRCH {
			return
		}
		if state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil && strings.Contains(string(state), ") Z ") {
			return // dead, and whoever inherited it has not looked yet
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
}

func TestKillEndsTheWholeGroup(t *testing.T) {
	c, left := start(t, "/bin/sleep 600 & echo $!; wait")
	if c.Exited() {
		t.Fatal("it has ended by itself")
	}
	c.Kill()
	c.Kill() // does nothing
	if end := c.End(); end != "signal: killed" {
		t.Errorf("it ended with %q", end)
	}
	gone(t, left)
}

func TestWhatIsLeftBehindEndsToo(t *testing.T) {
	c, left := start(t, "/bin/sleep 600 & echo $!; exit 7")
	if end := c.End(); end != "exit status 7" {
		t.Errorf("it ended with %q", end)
	}
	gone(t, left)
}

func TestProgramThatIsNotThere(t *testing.T) {
	if _, err := child.Start(exec.Command("/nonexistent/program")); err == nil {
		t.Error("it was started")
	}
}
