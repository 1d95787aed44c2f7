package load

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"bucketproof/bucket/history"
)

// Counts is how many requests were offered and how they ended. Offered is
// counted when the schedule wants a request and the outcomes when one is
// recorded, so that Offered = Allowed + Denied + Unsent + Unknown, once no
// phase runs, is a check and not a definition.
type Counts struct {
	Offered int64 `json:"offered"`
	Allowed int64 `json:"allowed"`
	Denied  int64 `json:"denied"`
	Unsent  int64 `json:"unsent"`
	Unknown int64 `json:"unknown"`
}

// Failure is a kind of error that requests ended with.
type Failure struct {
	Text    string          // of the first error of the kind
	Outcome history.Outcome // Unsent or Unknown
	Stopped bool            // the load was stopped: nobody failed
	Count   int64
}

// maxFailures is how many kinds of errors are told apart; the rest is counted
// under otherFailures.
const (
	maxFailures   = 8
	otherFailures = "other errors"
)

// account counts requests. The zero account is empty; it is safe for
// concurrent use.
type account struct {
	offered  atomic.Int64
	outcomes [history.Unknown + 1]atomic.Int64
	longest  atomic.Int64 // ns

	mu       sync.Mutex
	failures map[failureKind]*Failure
}

type failureKind struct {
	text    string // with every number replaced by #
	outcome history.Outcome
}

func (a *account) ended(o history.Outcome, err error) {
	a.outcomes[o].Add(1)
	if err != nil {
		a.failed(o, err.Error(), errors.Is(err, errStopped) || errors.Is(err, errAbandoned))
	}
}

// took notes how long a request took.
func (a *account) took(d time.Duration) {
	for {
		longest := a.longest.Load()
		if int64(d) <= longest || a.longest.CompareAndSwap(longest, int64(d)) {
			return
		}
	}
}

// failed counts an error under its text. Port numbers, ids and times would
// make a kind of every error, so numbers do not tell kinds apart.
func (a *account) failed(o history.Outcome, text string, stopped bool) {
	kind := failureKind{foldNumbers(text), o}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failures == nil {
		a.failures = make(map[failureKind]*Failure)
	}
	f := a.failures[kind]
	if f == nil && len(a.failures) >= maxFailures {
		kind, text, stopped = failureKind{otherFailures, o}, otherFailures, false
		f = a.failures[kind]
	}
	if f == nil {
		f = &Failure{Text: text, Outcome: o, Stopped: stopped}
		a.failures[kind] = f
	}
	f.Count++
}

func foldNumbers(s string) string {
	var b strings.Builder
	digits := false
	for _, c := range s {
		if '0' <= c && c <= '9' {
			if !digits {
				b.WriteByte('#')
			}
			digits = true
			continue
		}
		digits = false
		b.WriteRune(c)
	}
	return b.String()
}

// Counts returns the counts so far, over all phases. It may be called while
// phases run, and then counts some requests as offered only.
func (d *Driver) Counts() Counts {
	a := &d.account
	c := Counts{
		Allowed: a.outcomes[history.Allowed].Load(),
		Denied:  a.outcomes[history.Denied].Load(),
		Unsent:  a.outcomes[history.Unsent].Load(),
		Unknown: a.outcomes[history.Unknown].Load(),
	}
	c.Offered = a.offered.Load() // last, so that it is never the smaller
	return c
}

// Longest is the longest time that a request took so far that was sent and
// returned. How long it was held on purpose is not counted: it is what the
// limiter, its Redis and the machine took. It may be called while phases run.
func (d *Driver) Longest() time.Duration { return time.Duration(d.account.longest.Load()) }

// Failures returns the kinds of errors that requests ended with so far, the
// most frequent first: why requests were unsent or unknown.
func (d *Driver) Failures() []Failure {
	a := &d.account
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []Failure
	for f := range maps.Values(a.failures) {
		all = append(all, *f)
	}
	slices.SortFunc(all, func(x, y Failure) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Text, y.Text), cmp.Compare(x.Outcome, y.Outcome))
	})
	return all
}
