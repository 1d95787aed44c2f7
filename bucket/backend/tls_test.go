package backend_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
)

// certificate writes a self-signed one for 127.0.0.1 and its key into dir.
func certificate(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "bucketproof test"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	der8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", der8)
}

// secured starts a server that speaks TLS only, and returns its address.
func secured(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		backendtest.Require(t, "redis", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(address)
	cert, key := certificate(t, t.TempDir())
	cmd := exec.Command(program, "--bind", "127.0.0.1", "--port", "0", "--tls-port", port, "--save", "",
		"--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert, "--tls-auth-clients", "no")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	for range 500 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return address
		}
		select {
		case <-ended:
			t.Skip("this redis-server does not start with TLS")
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Fatal("the server does not listen")
	return ""
}

func TestTLS(t *testing.T) {
	address := secured(t)
	r, err := backend.Open(t.Context(), "rediss://"+address+"?skip_verify=true", backend.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	again, err := backend.Open(t.Context(), r.URL(), backend.Options{})
	if err != nil {
		t.Fatalf("open by its own URL: %v", err)
	}
	again.Close()
	c := r.NewClientVia("through", r.Dialer())
	defer c.Close()
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Error(err)
	}
	t.Run("unknown certificate", func(t *testing.T) {
		_, err := backend.Open(t.Context(), "rediss://"+address, backend.Options{})
		checkError(t, err, false, "skip_verify=true")
	})
	t.Run("no TLS where it is wanted", func(t *testing.T) {
		_, err := backend.Open(t.Context(), "redis://"+address, backend.Options{})
		checkError(t, err, false, "rediss://")
	})
}
