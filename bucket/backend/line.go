package backend

import (
	"errors"
	"strings"
)

// oneLine puts the lines of an error into one, with a semicolon between them:
// joined errors and some libraries' take several.
func oneLine(err error) error {
	if err == nil || !strings.ContainsAny(err.Error(), "\n\r\t") {
		return err
	}
	return joinedError{err}
}

type joinedError struct{ error }

func (e joinedError) Error() string {
	var parts []string
	for line := range strings.Lines(e.error.Error()) {
		if words := strings.Fields(line); len(words) > 0 {
			parts = append(parts, strings.Join(words, " "))
		}
	}
	return strings.Join(parts, "; ")
}

func (e joinedError) Unwrap() error { return e.error }

// cleanedUp is err with what went wrong cleaning up after it, in one line.
func cleanedUp(err, cleanup error) error { return oneLine(errors.Join(err, cleanup)) }
