package backend_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket/backend/backendtest"
)

// allowed lists the processors that a thread may use, as the kernel tells them.
func allowed(t *testing.T, task string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(task, "status"))
	if err != nil {
		return "" // it has ended
	}
	_, list, _ := strings.Cut(string(data), "Cpus_allowed_list:")
	list, _, _ = strings.Cut(list, "\n")
	return strings.TrimSpace(list)
}

// TestApart: no thread of this process, nor one started later, may use the server's
// processor, and the server no other; then both may use all again.
func TestApart(t *testing.T) {
	r := backendtest.Real(t)
	fields, err := r.Statistics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	server := filepath.Join("/proc", fields["process_id"])
	before := allowed(t, "/proc/self")
	together, err := r.Apart()
	if err != nil {
		t.Skip(err)
	}
	defer together()
	own := allowed(t, server)
	if _, err := strconv.Atoi(own); err != nil {
		t.Errorf("the server may use %s, want one processor", own)
	}
	for range 64 { // these want threads of their own
		go time.Sleep(time.Millisecond)
		go func() { _, _ = os.ReadFile("/proc/self/stat") }()
	}
	threads, err := filepath.Glob("/proc/self/task/*")
	if err != nil {
		t.Fatal(err)
	}
	rest := allowed(t, "/proc/self")
	for _, thread := range threads {
		if got := allowed(t, thread); got != "" && (got != rest || got == before || got == own) {
			t.Errorf("a thread may use %s, the process %s, it could use %s, and the server has %s", got, rest, before, own)
		}
	}
	together()
	if a, b := allowed(t, "/proc/self"), allowed(t, server); a != before || b != before {
		t.Errorf("together again this process may use %s and the server %s, want %s", a, b, before)
	}
}

// TestApartWantsAProcess: nothing is done to a server that has no process of its own.
func TestApartWantsAProcess(t *testing.T) {
	r := backendtest.Embedded(t)
	before := allowed(t, "/proc/self")
	if _, err := r.Apart(); err == nil || allowed(t, "/proc/self") != before {
		t.Errorf("an embedded server is kept apart: %v", err)
	}
}
