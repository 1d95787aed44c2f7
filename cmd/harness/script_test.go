package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain turns the test binary into the command, for the scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"harness": main})
}

// TestScripts runs the stories in testdata, each a shell-like script with its
// files inside.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HARNESS_REDIS", "")
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond == "redis-server" {
				_, err := exec.LookPath("redis-server")
				if err != nil && strings.Contains(os.Getenv("HARNESS_REQUIRE"), "redis") {
					return true, nil // and let it fail
				}
				return err == nil, nil
			}
			return false, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits runs a command and compares its exit status: exits 3 harness run x. A
// run on a machine that is too slow to decide ends undecided: exits 0|2.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND ...")
	}
	err := ts.Exec(args[1], args[2:]...)
	status := "0"
	if err != nil {
		var exit *exec.ExitError
		if !asExit(err, &exit) {
			ts.Fatalf("%v", err)
		}
		status = exit.ProcessState.String()
		status = strings.TrimPrefix(status, "exit status ")
	}
	if !slices.Contains(strings.Split(args[0], "|"), status) {
		ts.Fatalf("exit status %s, want %s", status, args[0])
	}
}

func asExit(err error, target **exec.ExitError) bool {
	e, ok := err.(*exec.ExitError)
	*target = e
	return ok
}
