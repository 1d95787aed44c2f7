package backend_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
)

// fake puts a shell script on PATH, and nothing else but what sh needs.
func fake(t *testing.T, name, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
}

func TestProcessErrors(t *testing.T) {
	t.Run("no program", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		_, err := backend.Open(t.Context(), "process", backend.Options{})
		checkError(t, err, false, "neither redis-server nor valkey-server is on PATH")
	})
	t.Run("dies at start", func(t *testing.T) {
		fake(t, "redis-server", "echo one; echo; echo '*** FATAL ***' >&2; echo no such option; exit 3")
		dir := t.TempDir()
		_, err := backend.Open(t.Context(), "process", backend.Options{Dir: dir})
		checkError(t, err, false, "exit status 3): one | *** FATAL *** | no such option")
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("folder holds %v", left)
		}
	})
	t.Run("never answers", func(t *testing.T) {
		fake(t, "redis-server", "exec /bin/sleep 60")
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		_, err := backend.Open(ctx, "process", backend.Options{})
		checkError(t, err, false, "does not answer")
	})
	t.Run("no place for its folder", func(t *testing.T) {
		fake(t, "redis-server", "exit 0")
		_, err := backend.Open(t.Context(), "process", backend.Options{Dir: filepath.Join(t.TempDir(), "none")})
		checkError(t, err, false, "make its folder")
	})
}

func TestProcessTriesAnotherPort(t *testing.T) {
	server, err := exec.LookPath("redis-server")
	if err != nil {
		backendtest.Require(t, "redis", err)
	}
	mark := filepath.Join(t.TempDir(), "tried")
	fake(t, "valkey-server", fmt.Sprintf( // also: it is found under this name
		"if [ -e %s ]; then exec %s \"$@\"; fi\n: > %s\necho 'bind: Address already in use'; exit 1", mark, server, mark))
	r, err := backend.Open(t.Context(), "process", backend.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestForeignServerOnThePort has a program that does nothing while somebody
// else (a process it did not become) answers on the port: that server must not
// be taken for ours.
func TestForeignServerOnThePort(t *testing.T) {
	server, err := exec.LookPath("redis-server")
	if err != nil {
		backendtest.Require(t, "redis", err)
	}
	fake(t, "redis-server", fmt.Sprintf("%s \"$@\" &\nexec /bin/sleep 60", server))
	_, err = backend.Open(t.Context(), "process", backend.Options{})
	checkError(t, err, false, "port is taken")
}

func TestAliveTellsHowItEnded(t *testing.T) {
	r := backendtest.Real(t)
	text, err := r.Client().Info(t.Context(), "server").Result()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(text, "process_id:")
	pid, err := strconv.Atoi(strings.TrimSpace(strings.SplitN(rest, "\n", 2)[0]))
	if err != nil {
		t.Fatal(err)
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	var alive error
	for range 500 {
		if alive = r.Alive(t.Context()); alive != nil && strings.Contains(alive.Error(), "killed") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	checkError(t, alive, false, "signal: killed")
	if err := r.Restart(t.Context()); err != nil {
		t.Errorf("restart after a death: %v", err)
	}
}

// TestServerEndsWithItsParent runs this test binary as a harness that is
// killed.
func TestServerEndsWithItsParent(t *testing.T) {
	if os.Getenv("BACKEND_TEST_PARENT") != "" {
		r, err := backend.Open(context.Background(), "process", backend.Options{Dir: os.Getenv("BACKEND_TEST_PARENT")})
		if err != nil {
			fmt.Println("error:", err)
			return
		}
		fmt.Println("address:", r.Info().Address)
		time.Sleep(time.Minute)
		return
	}
	backendtest.Real(t)
	if runtime.GOOS != "linux" {
		t.Skip("the kernel does not offer it")
	}
	parent := exec.Command(os.Args[0], "-test.run=^TestServerEndsWithItsParent$", "-test.v")
	parent.Env = append(os.Environ(), "BACKEND_TEST_PARENT="+t.TempDir())
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	address := ""
	for lines := bufio.NewScanner(out); address == "" && lines.Scan(); {
		_, address, _ = strings.Cut(lines.Text(), "address: ")
	}
	_ = parent.Process.Signal(syscall.SIGKILL)
	_ = parent.Wait()
	if address == "" {
		t.Fatal("the child told no address")
	}
	for range 500 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		conn.Close()
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("the server at %s outlived its parent", address)
}

func TestSuspendHoldsTheProcessUp(t *testing.T) {
	r := backendtest.Real(t)
	c := r.NewClient("suspended")
	defer c.Close()
	if err := backend.Warm(t.Context(), c, 1); err != nil {
		t.Fatal(err)
	}
	const d = 300 * time.Millisecond
	suspended := make(chan error, 1)
	go func() { suspended <- r.Suspend(t.Context(), d) }()
	longest := time.Duration(0)
	for len(suspended) == 0 {
		start := time.Now()
		if err := c.Set(t.Context(), "k", "1", 0).Err(); err != nil {
			t.Fatal(err)
		}
		longest = max(longest, time.Since(start))
	}
	if err := <-suspended; err != nil {
		t.Fatal(err)
	}
	if longest < d/2 {
		t.Errorf("no command took longer than %v while the server was suspended for %v", longest, d)
	}
	if err := r.Alive(t.Context()); err != nil {
		t.Errorf("not alive after it: %v", err)
	}
}

func TestSuspendNeedsAProcess(t *testing.T) {
	checkError(t, backendtest.Embedded(t).Suspend(t.Context(), time.Second), false, "no process that was started here")
}
