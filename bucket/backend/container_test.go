package backend_test

import (
	"errors"
	"net"
	"os/exec"
	"strings"
	"testing"

	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
)

func TestContainer(t *testing.T) {
	r := backendtest.Container(t)
	ctx := t.Context()
	if info := r.Info(); info.Kind != backend.Container || info.Version == "unknown" {
		t.Errorf("info %+v", info)
	}
	if !r.Owned() {
		t.Error("a container started here is not ours")
	}
	host, port, err := net.SplitHostPort(r.Info().Address)
	if err != nil || host != "127.0.0.1" {
		t.Fatalf("address %q, want a port on 127.0.0.1", r.Info().Address)
	}
	for _, address := range addressesOfThisMachine(t) {
		if conn, err := net.Dial("tcp", net.JoinHostPort(address, port)); err == nil {
			conn.Close()
			t.Errorf("the container listens on %s too", address)
		}
	}
	r.Client().Set(ctx, "k", "1", 0)
	if err := r.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if err := r.Alive(ctx); err == nil {
		t.Error("a stopped container is alive")
	}
	if err := r.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	if err := r.Alive(ctx); err != nil {
		t.Error(err)
	}
	if n, err := r.Client().Exists(ctx, "k").Result(); n != 0 || err != nil {
		t.Errorf("Exists(k) = %d, %v after a restart, want 0", n, err)
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Error(err)
	}
}

// addressesOfThisMachine are those that others reach it by.
func addressesOfThisMachine(t *testing.T) []string {
	t.Helper()
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	var others []string
	for _, a := range addrs {
		if ip, _, err := net.ParseCIDR(a.String()); err == nil && ip.IsGlobalUnicast() {
			others = append(others, ip.String())
		}
	}
	return others
}

func TestContainerErrors(t *testing.T) {
	backendtest.Container(t) // an engine and an image are there
	for _, c := range []struct{ name, image, want string }{
		{"no such image", "localhost:1/no/such:image", "localhost:1/no/such:image"},
		{"bad name", "Not An Image", "Not An Image"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := backend.Open(t.Context(), "container", backend.Options{Image: c.image})
			checkError(t, err, false, c.want)
		})
	}
}

func TestContainerIsRemoved(t *testing.T) {
	r := backendtest.Container(t)
	docker, err := exec.LookPath("docker")
	if err != nil {
		t.Skip("needs the docker command to look")
	}
	_, port, _ := net.SplitHostPort(r.Info().Address)
	list := func() string {
		out, err := exec.Command(docker, "ps", "-a", "--filter", "label=org.bucketproof", "--format", "{{.Ports}}").Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if !strings.Contains(list(), ":"+port+"->") {
		t.Fatalf("no container with port %s in %q", port, list())
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(list(), ":"+port+"->") {
		t.Errorf("a container with port %s is left", port)
	}
}
