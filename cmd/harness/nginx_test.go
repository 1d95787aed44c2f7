package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket/backend/backendtest"
	"bucketproof/bucket/child"
)

// nginx starts one with testdata/remote/nginx.conf, and returns its address.
func nginx(t *testing.T) (address string) {
	t.Helper()
	program := backendtest.Program(t, "nginx", "nginx")
	conf, err := os.ReadFile(filepath.Join("testdata", "remote", "nginx.conf"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "page"), []byte("a page\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 5 { // between choosing a free port and listening somebody else may take it
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(l.Addr().String())
		_ = l.Close()
		text := strings.Replace(string(conf), "PORT", port, 1)
		if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program, "-p", dir, "-c", "nginx.conf", "-e", "stderr")
		cmd.Stderr = os.Stderr
		c, err := child.Start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Kill)
		address = "http://127.0.0.1:" + port
		for !c.Exited() {
			resp, err := http.Get(address + "/page")
			if err == nil {
				_ = resp.Body.Close()
				return address
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	t.Fatal("nginx does not start")
	return ""
}

// TestNginx judges limit_req. Its excess is counted in thousandths of a request
// and sinks by rate × elapsed: with burst=N and nodelay the first request of a full
// bucket counts nothing and N more may wait, so it is a token bucket of N + 1. Its
// clock is read once in each turn of the event loop, in milliseconds, and a turn
// takes as long as a busy machine makes it: hence the granularity.
//
// The same nginx is described rightly, with half its rate, and with a bucket
// that is too large; and as one whose denials are 503, nginx's own choice.
func TestNginx(t *testing.T) {
	t.Parallel()
	address, dir := nginx(t), t.TempDir()
	text := func(ask string, denied, rate, capacity int) string {
		return fmt.Sprintf("time: server\ngranularity: 10ms\nhttp: %s\nreply: {allowed: status == 200, denied: status == %d}\nlimit: {rate: %d, capacity: %d}\n", ask, denied, rate, capacity)
	}
	argument := fmt.Sprintf("{url: %q}", address+"/argument?user=${key}")
	header := fmt.Sprintf("{url: %q, headers: {X-User: \"${key}\"}}", address+"/header")
	files := []string{
		limiterFile(t, dir, "right", text(argument, 429, 100, 21)),
		limiterFile(t, dir, "by-header", text(header, 503, 20, 10)),
		limiterFile(t, dir, "half-the-rate", text(argument, 429, 50, 21)),
		limiterFile(t, dir, "larger", text(argument, 429, 100, 40)),
	}
	r := runFor(t, files, "atomic-burst")
	inPeace(t, r, "right")
	inPeace(t, r, "by-header")
	seen(t, r, "half-the-rate", "over-admission")
	seen(t, r, "larger", "spurious-denial")
	for _, run := range r.Runs {
		if run.Counts.Unknown+run.Counts.Unsent > 0 {
			t.Errorf("%s in %s: %+v, %+v", run.Limiter, run.Scenario, run.Counts, run.Errors)
		}
	}
}
