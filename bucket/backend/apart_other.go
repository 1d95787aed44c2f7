//go:build !linux

package backend

import "errors"

// Apart is an error: this system's processors cannot be told apart.
func (r *Redis) Apart() (together func(), err error) {
	return nil, errors.New("keep the server apart: only Linux does it")
}
