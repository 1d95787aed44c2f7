package remote

import (
	"sync/atomic"

	"bucketproof/bucket/limiterfile"
)

// call is one question to a program, from the queue to the answer.
type call struct {
	number uint64
	line   []byte
	state  atomic.Int32
	done   chan outcome // holds one; never more than one is put into it
}

// outcome is what became of a call.
type outcome struct {
	answer limiterfile.Answer
	err    error
}

// The states of a call. Only a queued one can be withdrawn.
const (
	queued int32 = iota
	sending
	withdrawn
)

// begin claims the call for the pipe; false when it was withdrawn.
func (c *call) begin() bool { return c.state.CompareAndSwap(queued, sending) }

// withdraw takes the call back; false when it is on its way, or was.
func (c *call) withdraw() bool { return c.state.CompareAndSwap(queued, withdrawn) }
