//go:build !unix

package capacity

import "errors"

// readProcessors does not know how busy the processors are here.
func readProcessors() (processorTime, error) {
	return processorTime{}, errors.New("read how busy the processors are: not known on this system")
}
