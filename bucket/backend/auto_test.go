package backend_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
)

func TestAutoTakesTheProgramOnPath(t *testing.T) {
	backendtest.Real(t)
	var lines []string
	r, err := backend.Open(t.Context(), "auto", backend.Options{Log: func(l string) { lines = append(lines, l) }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Info().Kind != backend.Process || len(lines) != 1 || !strings.Contains(lines[0], "started /") {
		t.Errorf("%v, log %q, want a process and one line", r.Info(), lines)
	}
}

// TestAutoPassesOver has no program; whether there is a Docker engine with the
// image is the machine's affair.
func TestAutoPassesOver(t *testing.T) {
	cases := []struct{ name, image string }{
		{"default image", ""},
		{"image that is not there", "localhost:1/no/such:image"}, // not downloaded
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("PATH", t.TempDir())
			var lines []string
			r, err := backend.Open(t.Context(), "", backend.Options{Image: c.image, Log: func(l string) { lines = append(lines, l) }})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			want := []string{"passed over process: ", "passed over container: ", "started an embedded one"}
			if r.Info().Kind == backend.Container && c.image == "" {
				want = []string{"passed over process: ", "started a container of "}
			}
			if len(lines) != len(want) {
				t.Fatalf("log %q, want %d lines", lines, len(want))
			}
			for i, w := range want {
				t.Log(lines[i])
				if !strings.Contains(lines[i], w) || strings.Contains(lines[i], "\n") {
					t.Errorf("line %q, want %q in it", lines[i], w)
				}
			}
		})
	}
}

func TestOpenIsInterrupted(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, spec := range []string{"auto", "embedded", "container", "redis://127.0.0.1:1"} {
		r, err := backend.Open(ctx, spec, backend.Options{})
		if err == nil {
			r.Close()
			t.Errorf("an interrupted Open(%s) succeeded", spec)
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("an interrupted Open(%s): %v", spec, err)
		}
	}
}
