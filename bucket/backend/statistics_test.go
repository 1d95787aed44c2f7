package backend_test

import (
	"testing"

	"bucketproof/bucket/backend"
	"bucketproof/bucket/backend/backendtest"
)

func TestStatistics(t *testing.T) {
	r := backendtest.Real(t)
	if err := r.Client().Set(t.Context(), "a", 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	s, err := r.Statistics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"used_memory", "cmdstat_set", "db0", "total_net_input_bytes", "used_cpu_user"} {
		if s[name] == "" {
			t.Errorf("INFO has no %s", name)
		}
	}
}

func TestEmpty(t *testing.T) {
	r := backendtest.Any(t)
	if err := r.Client().Set(t.Context(), "a", 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	theirs, err := backend.Open(t.Context(), r.URL(), backend.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	if err := theirs.Empty(t.Context()); err == nil {
		t.Error("somebody else's server was emptied")
	}
	if n := r.Client().DBSize(t.Context()).Val(); n != 1 {
		t.Errorf("%d keys are left, want the one", n)
	}
	if err := r.Empty(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := r.Client().DBSize(t.Context()).Val(); n != 0 {
		t.Errorf("%d keys are left of our own", n)
	}
}
