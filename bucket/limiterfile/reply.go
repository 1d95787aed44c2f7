package limiterfile

import (
	"fmt"
	"math"
	"net/http"
	"time"

	"bucketproof/bucket"
)

// Reply says how an answer becomes a decision.
type Reply struct {
	Allowed    Expr // true: granted
	Denied     Expr // optional; when given, an answer that is neither is an error
	Remaining  Expr // optional, tokens
	RetryAfter Expr // optional, seconds
}

// Decide reads an answer of the limiter to r as go-redis hands it over (int64,
// string, []any, nil, map, bool, float64). An answer that the expressions
// cannot read is an error, an [Error] with its place: never a denial. It is
// safe for concurrent use.
func (f *File) Decide(l bucket.Limit, r bucket.Request, reply any) (bucket.Decision, error) {
	s := scope{limit: l, req: r, reply: reply}
	return f.Reply.decide(&s)
}

// DecideHTTP is [File.Decide] for the answer of an http limiter. Where the file
// does not say what a denial is, whatever is not allowed is one, if it comes with
// status 429 or one from 200 to 299; other statuses tell of an error.
func (f *File) DecideHTTP(l bucket.Limit, r bucket.Request, answer Response) (bucket.Decision, error) {
	s := scope{limit: l, req: r, http: answer}
	d, err := f.Reply.decide(&s)
	if err == nil && !d.Allowed && !f.Reply.Denied.Defined() && answer.Status/100 != 2 && answer.Status != http.StatusTooManyRequests {
		return bucket.Untold(false), f.Reply.Allowed.errorf(0, "the answer (status %d) is not allowed, and an error is no denial; if it is one here, add denied: status == %d", answer.Status, answer.Status)
	}
	return d, err
}

// Answer is what an exec limiter answered, as its JSON line tells it.
type Answer struct {
	Allowed    *bool    `json:"allowed"`     // nil: it does not say
	Remaining  *float64 `json:"remaining"`   // tokens; nil: not told
	RetryAfter *float64 `json:"retry_after"` // seconds; nil or below 0: not told
	Error      *string  `json:"error"`       // why there is no decision; nil: there is one
}

// DecideExec is [File.Decide] for the answer of an exec limiter.
func (f *File) DecideExec(a Answer) (bucket.Decision, error) {
	switch {
	case a.Error != nil:
		return bucket.Untold(false), f.Mistake(string(Exec), "the program answers with an error: "+*a.Error)
	case a.Allowed == nil:
		return bucket.Untold(false), f.Mistake(string(Exec), "the program's answer says neither `allowed` nor `error`; write {\"id\": …, \"allowed\": true} or false")
	}
	d := bucket.Untold(*a.Allowed)
	if a.Remaining != nil {
		d.Remaining = *a.Remaining
	}
	if a.RetryAfter != nil && *a.RetryAfter >= 0 {
		d.RetryAfter = ceilDuration(*a.RetryAfter)
	}
	return d, nil
}

// UsesBody reports whether an http limiter's body is read at all.
func (r *Reply) UsesBody() bool {
	return (r.Allowed.uses | r.Denied.uses | r.Remaining.uses | r.RetryAfter.uses).has(nameBody)
}

func (r *Reply) decide(s *scope) (bucket.Decision, error) {
	d := bucket.Untold(false)
	var err error
	if d.Allowed, err = r.Allowed.truth(s); err != nil {
		return bucket.Untold(false), err
	}
	if r.Denied.Defined() {
		denied, err := r.Denied.truth(s)
		switch {
		case err != nil:
			return bucket.Untold(false), err
		case denied == d.Allowed:
			return bucket.Untold(false), r.unclear(s, denied)
		}
	}
	if d.Remaining, err = r.Remaining.optional(s); err != nil {
		return bucket.Untold(false), err
	}
	wait, err := r.RetryAfter.optional(s)
	if err != nil {
		return bucket.Untold(false), err
	}
	if wait >= 0 {
		d.RetryAfter = ceilDuration(wait)
	}
	return d, nil
}

// unclear is the error for an answer that both expressions, or neither, claim.
func (r *Reply) unclear(s *scope, both bool) error {
	claim := "neither allowed nor denied"
	if both {
		claim = "both allowed and denied"
	}
	answer := nameOf(s.reply)
	if s.http.Status != 0 {
		answer = fmt.Sprintf("status %d", s.http.Status)
	}
	return r.Denied.errorf(0, "the answer (%s) is %s", answer, claim)
}

// truth evaluates e to true or false.
func (e *Expr) truth(s *scope) (bool, error) {
	if e.equal != nil {
		if holds, known := e.equal.holds(s.reply); known {
			return holds, nil
		}
	}
	v, err := e.run(s)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, e.errorf(0, "%s is %s, want true or false; compare it, as in `reply == 1`", e.what, nameOf(v))
	}
	return b, nil
}

// optional evaluates e to a number; NaN when there is no e or it yields nil.
func (e *Expr) optional(s *scope) (float64, error) {
	if !e.Defined() {
		return math.NaN(), nil
	}
	v, err := e.run(s)
	if err != nil || v == nil {
		return math.NaN(), err
	}
	n, ok := toFloat(v)
	if !ok {
		return math.NaN(), e.errorf(0, "%s is %s, want a number; convert it, as in `float(reply[1])`", e.what, nameOf(v))
	}
	return n, nil
}

// ceilDuration converts seconds ≥ 0 to a Duration, rounded up, for a hint that
// was rounded down would be too short; at most the longest Duration.
func ceilDuration(s float64) time.Duration {
	ns := math.Ceil(s * float64(time.Second))
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}
