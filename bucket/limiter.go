package bucket

import (
	"context"
	"errors"
	"time"
)

// TimeSource says whose clock a limiter decides by.
type TimeSource string

// The three answers. A limiter on the caller's clock reads [Request.Now]; the
// other two ignore it.
const (
	CallerTime  TimeSource = "caller"  // the instance that asks
	ServerTime  TimeSource = "server"  // the Redis or gateway that decides
	ProcessTime TimeSource = "process" // the limiter's own process, read by the library itself
)

// Request asks for tokens.
type Request struct {
	ID       string    // unique in the run
	Key      string    // the bucket
	Instance string    // who asks
	Cost     float64   // tokens wanted, above 0
	Now      time.Time // what the instance's clock says
}

// Decision is a limiter's usable answer, and what was seen around it. With an
// error only the Witness means anything: a block on the server may have been
// seen although the limiter in it failed.
type Decision struct {
	Allowed    bool
	Remaining  float64       // tokens left, as told; NaN: not told
	RetryAfter time.Duration // how long to wait, as told; below 0: not told
	Witness    Witness       // zero: none
}

// Untold is a decision that says nothing but yes or no.
func Untold(allowed bool) Decision {
	return Decision{Allowed: allowed, Remaining: nan, RetryAfter: -1}
}

// Limiter decides requests. Take must be safe for concurrent use unless the
// implementation says otherwise; a Limiter may also be an io.Closer, which is
// closed once after its last Take.
//
// An error wraps [ErrUnsent] when not one byte of the request was written and
// [ErrLimit] when the limiter cannot express the limit. Any other error means
// that the outcome is unknown: the request may have been, or may yet be,
// charged. An error is never a denial.
type Limiter interface {
	Take(ctx context.Context, limit Limit, r Request) (Decision, error)
}

// KeyLister is a Limiter that stores its state in Redis under keys it can
// name: the keys it uses for r, the routing key first.
type KeyLister interface {
	Keys(limit Limit, r Request) ([]string, error)
}

// Errors that callers of [Limiter] branch on.
var (
	ErrUnsent = errors.New("request was not sent")
	ErrLimit  = errors.New("limit cannot be expressed")
)
