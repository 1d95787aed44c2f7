package reports

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadErrors(t *testing.T) {
	for _, c := range []struct {
		name, content, want string
	}{
		{"empty", "", "line 1: unexpected EOF: the file is cut short"},
		{"cut short", "{\"schema_version\": 1,\n \"runs\": [", "line 2: unexpected EOF: the file is cut short"},
		{"no JSON", "{\n  \"schema_version\": 1,\n  nonsense\n}", "line 3, column 4: invalid character 'n'"},
		{"other document", `{"hello": 1}`, "no schema_version: this is no report"},
		{"null", `null`, "no schema_version: this is no report"},
		{"list", `[1]`, "want"},
		{"newer", `{"schema_version": 2}`, "schema_version is 2, this harness reads 1"},
		{"wrong type", "{\"schema_version\": 1,\n\"seed\": \"x\"}", "line 2, column 12: seed is a string, want uint64"},
		{"wrong type inside", `{"schema_version": 1, "runs": [{"scenario": 3}]}`, "runs.scenario is a number, want string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "results.json")
			if err := os.WriteFile(path, []byte(c.content), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := Read(dir)
			if err == nil {
				t.Fatal("no error")
			}
			if got := err.Error(); !strings.HasPrefix(got, "read "+path+": ") || !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
				t.Errorf("error %q, want one line with the path and %q", got, c.want)
			}
		})
	}
}

func TestReadMissing(t *testing.T) {
	_, err := Read(t.TempDir())
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "is no result folder") {
		t.Errorf("error %v", err)
	}
}
