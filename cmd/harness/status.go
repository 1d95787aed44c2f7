package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"bucketproof/bucket/backend"
	"bucketproof/bucket/limiterfile"
)

// Exit statuses, the first that applies.
const (
	statusEnvironment = 4 // no Redis, lost it, disk full
	statusUsage       = 3 // bad usage, limiter file, scenario file or history
	statusFail        = 1 // a verdict is not the expected one
	statusUndecided   = 2
)

// statusError is an error with the exit status it means. With no cause it is a
// verdict, which was printed already.
type statusError struct {
	status int
	cause  error
}

func (e *statusError) Error() string {
	if e.cause == nil {
		return ""
	}
	return e.cause.Error()
}

func (e *statusError) Unwrap() error { return e.cause }

// usage marks a mistake of the user's.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &statusError{statusUsage, err}
}

func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// environment marks a failure of what the command needs around it.
func environment(err error) error {
	if err == nil {
		return nil
	}
	return &statusError{statusEnvironment, err}
}

// interrupted is how a command ends that was told to before it was done.
func interrupted(rest string) error {
	return &statusError{statusUndecided, errors.New("interrupted; " + rest)}
}

// firstOfTwo is the first error, if there is one, and what failed after it.
func firstOfTwo(first, then error) error {
	if first == nil {
		return then
	}
	return fmt.Errorf("%w; after that the report could not be written either: %w", first, then)
}

// statusOf is the exit status for an error: what it was marked with, or the
// user's mistake if it is one by its kind, or else the environment's failure.
func statusOf(err error) int {
	var marked *statusError
	var mistake *limiterfile.Error
	switch {
	case errors.As(err, &marked):
		return marked.status
	case errors.Is(err, backend.ErrUsage) || errors.As(err, &mistake):
		return statusUsage
	}
	return statusEnvironment
}

// verdictStatus turns the verdict of a report into the error that exits so.
func verdictStatus(verdict string) error {
	switch verdict {
	case "pass":
		return nil
	case "undecided":
		return &statusError{status: statusUndecided}
	}
	return &statusError{status: statusFail}
}

// told is an error in one line, with what to allow where an access rule of the
// server's is the reason.
func told(err error) string {
	text := oneLine(err.Error())
	if allow := backend.Permission(err); allow != "" && !strings.Contains(text, allow) {
		text += ": " + allow
	}
	return text
}

// oneLine folds an error's text into one line, with a semicolon between the lines
// that it had: each is an error of its own as a rule.
func oneLine(text string) string {
	var parts []string
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 {
			parts = append(parts, strings.Join(words, " "))
		}
	}
	return printable(strings.Join(parts, "; "))
}

// printable is text that a terminal only shows: what would move its cursor, set
// its colour or turn the direction of writing stands as \x1b and the like.
func printable(text string) string {
	if utf8.ValidString(text) && strings.IndexFunc(text, unprintable) < 0 {
		return text
	}
	var b strings.Builder
	for i, c := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		if unprintable(c) || c == utf8.RuneError && size == 1 {
			quoted := strconv.Quote(text[i : i+size])
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

func unprintable(c rune) bool { return !unicode.IsPrint(c) }
