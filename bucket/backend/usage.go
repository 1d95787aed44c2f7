package backend

import (
	"errors"
	"fmt"
)

// ErrUsage is what an error of [Open] wraps when the specification itself is
// wrong, so that no environment would help. Every other error means that the
// environment failed: no server, no engine, a wrong password.
var ErrUsage = errors.New("bad usage")

// usageError is a message that is ErrUsage without saying so.
type usageError struct{ text string }

func (e usageError) Error() string        { return e.text }
func (e usageError) Is(target error) bool { return target == ErrUsage }

func usagef(format string, args ...any) error {
	return usageError{fmt.Sprintf(format, args...)}
}
