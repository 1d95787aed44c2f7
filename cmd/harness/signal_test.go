//go:build unix

package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"bucketproof/reports"
)

// started is the command under way in a process of its own.
type started struct {
	*exec.Cmd
	stderr *bufio.Reader
	read   bytes.Buffer // of stderr
}

// start runs the command in a process of its own whose temporary files are in temp.
func start(t *testing.T, temp string, args ...string) *started {
	t.Helper()
	cmd := exec.Command("harness", args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+temp, "HARNESS_REDIS=")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return &started{Cmd: cmd, stderr: bufio.NewReader(stderr)}
}

// until reads standard error up to a line that holds text.
func (s *started) until(t *testing.T, text string) {
	t.Helper()
	for {
		line, err := s.stderr.ReadString('\n')
		s.read.WriteString(line)
		switch {
		case err != nil:
			t.Fatalf("no line of standard error holds %q: %s", text, s.read.String())
		case strings.Contains(line, text):
			return
		}
	}
}

// end reads the rest of standard error and waits for the exit status; -1 for a
// process that a signal ended.
func (s *started) end(t *testing.T) (status int) {
	t.Helper()
	if _, err := s.read.ReadFrom(s.stderr); err != nil {
		t.Fatal(err)
	}
	_ = s.Wait()
	return s.ProcessState.ExitCode()
}

// endings are the signals that end a command. Where these tests run under nohup a
// hang-up is ignored, and so it is by what they start.
func endings() []syscall.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}
	}
	return []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM}
}

// TestClosedTerminalKeepsWhatWasRecorded: a hang-up does what Ctrl-C does: the
// load ends, what was recorded is reported, nothing is left behind, and the exit
// status is 2.
func TestClosedTerminalKeepsWhatWasRecorded(t *testing.T) {
	for _, sig := range endings() {
		temp, dir := t.TempDir(), filepath.Join(t.TempDir(), "o")
		where := "process"
		if _, err := exec.LookPath("redis-server"); err != nil {
			where = "embedded"
		}
		s := start(t, temp, "run", "long-overload", "--limiter", "redis-time", "--redis", where, "--out", dir)
		s.until(t, "results go to")
		time.Sleep(time.Second)
		if err := s.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		status := s.end(t)
		if last := lastLine(s.read.String()); status != statusUndecided || !strings.HasPrefix(last, "harness: interrupted; ") {
			t.Errorf("%v: exit status %d, standard error %q", sig, status, s.read.String())
		}
		if r, err := reports.Read(dir); err != nil || r.Verdict != "undecided" {
			t.Errorf("%v: report: %v, error %v", sig, r, err)
		}
		if n := recorded(t, dir, "long-overload/redis-time"); n < 10 {
			t.Errorf("%v: %d operations kept, want those of a second", sig, n)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("%v: left behind in the temporary folder: %v, error %v", sig, left, err)
		}
	}
}

// TestNohupOutlivesTheTerminal: who starts the command with nohup wants it to go
// on when the terminal is closed.
func TestNohupOutlivesTheTerminal(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skipf("hang-ups are ignored at a shell's word, and there is none: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "o")
	cmd := exec.Command("sh", "-c", `trap "" HUP; exec harness "$@"`, "sh", "run", "window-edge", "--limiter", "memory", "--out", dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	hangups := time.NewTicker(100 * time.Millisecond)
	defer hangups.Stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait()
	}()
	for sent := 0; ; sent++ {
		select {
		case <-hangups.C:
			_ = cmd.Process.Signal(syscall.SIGHUP)
			continue
		case <-done:
		}
		if status := cmd.ProcessState.ExitCode(); sent == 0 || status != 0 && status != statusUndecided || strings.Contains(stderr.String(), "interrupted") {
			t.Fatalf("after %d hang-ups exit status %d, standard error %q, want a verdict", sent, status, stderr.String())
		}
		return
	}
}

// TestHistoryThatNeverEndsCanBeInterrupted: whoever holds standard input, or the
// other end of a pipe, open does not hold the command.
func TestHistoryThatNeverEndsCanBeInterrupted(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"-", fifo} {
		for _, sig := range endings() {
			ours, theirs, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("harness", "check", path, "--rate", "1", "--capacity", "1")
			var stderr bytes.Buffer
			cmd.Stdin, cmd.Stderr = ours, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			hung := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
			if path == "-" { // it reads by the time that it has taken a line
				if _, err := theirs.WriteString(strings.Repeat(" ", 1<<18) + "\n"); err != nil {
					t.Fatal(err)
				}
			} else {
				time.Sleep(time.Second)
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			hung.Stop()
			theirs.Close()
			ours.Close()
			want := "harness: interrupted; the history was not read to its end and nothing was judged\n"
			if status := cmd.ProcessState.ExitCode(); status != statusUndecided || stderr.String() != want {
				t.Errorf("%s, %v: exit status %d, standard error %q", path, sig, status, stderr.String())
			}
		}
	}
}
