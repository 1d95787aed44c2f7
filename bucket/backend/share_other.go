//go:build !linux

package backend

import (
	"errors"
	"sync/atomic"
)

// shareInt64 is for processes with a clock of their own, which there are on
// Linux only.
func shareInt64(string) (n *atomic.Int64, unmap func() error, err error) {
	return nil, nil, errors.ErrUnsupported
}
