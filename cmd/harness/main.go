// Command harness proves or refutes what is claimed of a distributed rate
// limiter on Redis: it drives the limiter from simulated instances whose clocks
// differ, holds every accept against token-bucket theory, and leaves a report
// with the history as evidence.
//
// The subcommands are thin: each reads its flags, hands them to packages
// scenarios, check and reports, and says what came out by its exit status.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(report(err, os.Stderr))
}

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run is the whole command but for the exit status.
func run(ctx context.Context, args []string, s streams) error {
	root := newRoot(s)
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

// report prints an error as the one line it is and returns the exit status.
func report(err error, w io.Writer) int {
	if err == nil {
		return 0
	}
	if text := err.Error(); text != "" {
		fmt.Fprintf(w, "harness: %s\n", oneLine(text))
	}
	return statusOf(err)
}
