package backend_test

import (
	"errors"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
)

const secret = "s3cr3t/p@ss word"

// checkError wants one line that names what, a usage error or not, and never a
// password.
func checkError(t *testing.T, err error, usage bool, want string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	text := err.Error()
	if strings.ContainsAny(text, "\n\r\t") {
		t.Errorf("more than one line: %q", text)
	}
	if !strings.Contains(text, want) {
		t.Errorf("error %q, want %q in it", text, want)
	}
	if errors.Is(err, backend.ErrUsage) != usage {
		t.Errorf("error %q: usage is %v, want %v", text, !usage, usage)
	}
	for _, part := range []string{"s3cr3t", "p@ss", "p%40ss", "ss word"} {
		if strings.Contains(text, part) {
			t.Errorf("error %q tells the password", text)
		}
	}
}

func TestBadSpecifications(t *testing.T) {
	cases := []struct{ spec, want string }{
		{"docker", `"docker" is not auto`},
		{"localhost:6379", "redis://host:6379"},
		{"http://host:6379", "redis, rediss or unix"},
		{"redis-cluster://host:6379", "redis-cluster:// is not supported yet"},
		{"redis-sentinel://:s3cr3t@host/mymaster", "redis-sentinel:// is not supported yet"},
		{"redis://:s3cr3t/p@ss word@host:6379", "%-escape"},
		{"redis://:12/p@ss word@host:6379", "%-escape"},
		{"redis://user/s3cr3t@host:6379", "%-escape"},
		{"redis://user:s3cr3t#p@host:6379", "%-escape"},
		{"redis://:s3cr3t@host:port", "%-escape"},
		{"redis://:s3cr3t@host/db", "database number"},
		{"redis://:s3cr3t@host?colour=red", "colour"},
		{"unix://", "socket path"},
	}
	for _, c := range cases {
		t.Run(c.spec, func(t *testing.T) {
			_, err := backend.Open(t.Context(), c.spec, backend.Options{})
			checkError(t, err, true, c.want)
		})
	}
}

func TestExternal(t *testing.T) {
	backendtest.Each(t, func(t *testing.T, own *backend.Redis) {
		ctx := t.Context()
		r, err := backend.Open(ctx, "redis://"+own.Info().Address+"/3?max_retries=5", backend.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if info := r.Info(); info.Kind != backend.External || info.Address != own.Info().Address {
			t.Errorf("info %+v", info)
		}
		if r.Owned() {
			t.Error("an external server is ours")
		}
		checkError(t, r.Stop(ctx), false, "was not started here")
		checkError(t, r.Restart(ctx), false, "was not started here")
		r.Client().Set(ctx, "k", "3", 0)
		if n := own.Client().Exists(ctx, "k").Val(); n != 0 {
			t.Error("the database of the URL is not used")
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if err := own.Alive(ctx); err != nil {
			t.Errorf("closing an external server ended it: %v", err)
		}
	})
}

// guarded starts a server of its own with a password and a socket, and returns
// its port and the socket's path.
func guarded(t *testing.T) (port, socket string) {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		backendtest.Require(t, "redis", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ = net.SplitHostPort(l.Addr().String())
	l.Close()
	socket = filepath.Join(t.TempDir(), "s")
	cmd := exec.Command(program, "--bind", "127.0.0.1", "--port", port, "--unixsocket", socket,
		"--save", "", "--requirepass", secret)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for range 500 {
		if _, err := os.Stat(socket); err == nil {
			return port, socket
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the server has not made its socket")
	return "", ""
}

func TestPasswordAndSocket(t *testing.T) {
	port, socket := guarded(t)
	address := "127.0.0.1:" + port
	password := url.UserPassword("", secret).String()
	cases := []struct{ name, spec, want string }{
		{"password", "redis://" + password + "@" + address, ""},
		{"password over a socket", "unix://" + password + "@" + socket, ""},
		{"no password", "redis://" + address, "wants a password"},
		{"wrong password", "redis://:s3cr3t@" + address, "refuses the user name or password"},
		{"wrong user", "redis://s3cr3t:s3cr3t@" + address, "refuses the user name or password"},
		{"no password over a socket", "unix://" + socket, "wants a password"},
		{"no such database", "redis://" + password + "@" + address + "/77", "no such database"},
		{"TLS where there is none", "rediss://" + password + "@" + address, "use redis://"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var lines []string
			r, err := backend.Open(t.Context(), c.spec, backend.Options{Log: func(l string) { lines = append(lines, l) }})
			if c.want != "" {
				checkError(t, err, false, c.want)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for _, text := range append(lines, r.Info().String()) {
				if strings.Contains(text, "s3cr3t") {
					t.Errorf("%q tells the password", text)
				}
			}
			again, err := backend.Open(t.Context(), r.URL(), backend.Options{})
			if err != nil {
				t.Fatalf("open by its own URL: %v", err)
			}
			again.Close()
		})
	}
}

func TestUnreachable(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts and closes
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	go func() {
		for {
			conn, err := silent.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	cases := []struct{ name, spec, want string }{
		{"nobody listens", "redis://:s3cr3t@" + free.Addr().String(), "nothing listens there"},
		{"no such host", "redis://:s3cr3t@no-such-host.invalid", "cannot be resolved"},
		{"no such socket", "unix://:s3cr3t@/no/such/socket", "no such socket"},
		{"not a redis", "redis://:s3cr3t@" + silent.Addr().String(), "closed the connection"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := backend.Open(t.Context(), c.spec, backend.Options{})
			checkError(t, err, false, c.want)
		})
	}
}
