// Package backendtest gives tests a server to run against. A server that the
// machine cannot provide skips the test, unless HARNESS_REQUIRE names it: then
// the test fails, so that a gate cannot pass by skipping.
//
//	HARNESS_REQUIRE=redis,docker,chromium go test ./...
package backendtest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket/backend"
)

// RequireVar is the environment variable that lists what must be there,
// separated by commas: "redis" (a server program), "docker", "chromium",
// "cc" (a C compiler, on Linux), "nginx", "python" (with its module redis), "node",
// "perl" (with its module JSON::PP).
const RequireVar = "HARNESS_REQUIRE"

// Require skips the test because what it needs is missing for the reason
// given, or fails it when HARNESS_REQUIRE names what it needs. It does not
// return.
func Require(t testing.TB, what string, reason any) {
	t.Helper()
	names := strings.FieldsFunc(os.Getenv(RequireVar), func(c rune) bool { return c == ',' || c == ' ' })
	if slices.Contains(names, what) {
		t.Fatalf("%s names %s, which is missing: %v", RequireVar, what, reason)
	}
	t.Skipf("needs %s: %v", what, reason)
}

// Real starts a server process of its own for the test.
func Real(t testing.TB) *backend.Redis {
	t.Helper()
	r, err := open(t, backend.Process)
	if err != nil {
		Require(t, "redis", err)
	}
	return r
}

// Program is the path of a program that is called name and stands for what in
// HARNESS_REQUIRE. Servers lie in folders that not everybody's PATH has.
func Program(t testing.TB, what, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	Require(t, what, err)
	return ""
}

// OwnClock starts a server process with a wall clock of its own for the test.
func OwnClock(t testing.TB) *backend.Redis {
	t.Helper()
	r, err := openWith(t, backend.Process, backend.Options{OwnClock: true})
	switch {
	case errors.Is(err, backend.ErrOwnClock):
		Require(t, "cc", err)
	case err != nil:
		Require(t, "redis", err)
	}
	return r
}

// Container starts a server in a container of its own for the test.
func Container(t testing.TB) *backend.Redis {
	t.Helper()
	r, err := open(t, backend.Container)
	if err != nil {
		Require(t, "docker", err)
	}
	return r
}

// Embedded starts a server inside the test's process; it is always there.
func Embedded(t testing.TB) *backend.Redis {
	t.Helper()
	r, err := open(t, backend.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Any starts a real server where there is one, else an embedded one, for tests
// that hold on both.
func Any(t testing.TB) *backend.Redis {
	t.Helper()
	r, err := open(t, backend.Process)
	if err != nil {
		return Embedded(t)
	}
	return r
}

// Each runs f against every server the machine can provide without Docker, as
// subtests "process" and "embedded".
func Each(t *testing.T, f func(t *testing.T, r *backend.Redis)) {
	t.Run(string(backend.Process), func(t *testing.T) { f(t, Real(t)) })
	t.Run(string(backend.Embedded), func(t *testing.T) { f(t, Embedded(t)) })
}

// open starts a server that ends with the test.
func open(t testing.TB, kind backend.Kind) (*backend.Redis, error) {
	t.Helper()
	return openWith(t, kind, backend.Options{})
}

func openWith(t testing.TB, kind backend.Kind, o backend.Options) (*backend.Redis, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	o.Log = func(line string) { t.Log(line) }
	r, err := backend.Open(ctx, string(kind), o)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("close redis: %v", err)
		}
	})
	return r, nil
}
