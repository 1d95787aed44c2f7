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
	ctx, stop := untilTold(context.Background())
	err := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(report(err, os.Stderr))
}

// untilTold is ctx until somebody wants the command to end: Ctrl-C, a request to
// terminate, or the terminal that was closed. Who started it with nohup wants it
// to outlive the terminal.
func untilTold(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signal.NotifyContext(ctx, signals...)
}

// unlessTold is what f returns, or that ctx ended before. f is then left alone
// with what it waits for: nothing ends a read from a terminal or a pipe, and a
// Redis client looks at the deadline of its context only. So f must hold nothing
// that somebody else has to give back.
func unlessTold[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		v, err := f()
		done <- outcome{v, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
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
	if text := told(err); text != "" {
		fmt.Fprintf(w, "harness: %s\n", text)
	}
	return statusOf(err)
}
