package check

import (
	"time"

	"bucketproof/bucket"
)

// Spec is what a history is judged against.
type Spec struct {
	Limit bucket.Limit

	// Contract is what the limiter promises of the limit; "" is a token bucket. Of
	// a contract that counts in windows nothing is predicted.
	Contract bucket.Contract

	// Granularity is the smallest step of the limiter's clock, g ≥ 0. It is
	// worth R·g tokens in both bounds.
	Granularity time.Duration

	// ClockStray is how far the wall clock that the limiter or its keys' lives
	// go by strayed from the history's monotonic one during the run, ≥ 0: the
	// largest minus the smallest difference. A window's length on the one and on
	// the other differ by no more, so it is slack like g; not at the server's own
	// instants. (Seen: a virtual machine's clock that was set forward by 0.5 ms
	// ten times a second for minutes, and 1.3 tokens too many at R = 1000.)
	ClockStray time.Duration

	// RateTolerance is ρ ≥ 0, relative: the upper bound takes R·(1 + ρ), the
	// lower one R·(1 − ρ). A run takes DefaultRateTolerance or more; a recorded
	// history of another program takes 0.
	RateTolerance float64

	// Retries is how often the limiter's client may have sent an unknown
	// request again: an unknown counts for up to 1 + Retries charges.
	Retries int

	// EmptyStart starts the lower bound with an empty bucket, for a history
	// whose first record may find the bucket in any state.
	EmptyStart bool

	// Time is the limiter's clock rule. Only CallerTime has anything to
	// predict; "" is a limiter of which nothing is known.
	Time bucket.TimeSource

	// TTL is the life of an idle key that the prediction, the replay and the
	// search for an order assume; 0 is one full refill in whole milliseconds, the
	// reference's.
	TTL time.Duration

	// RandomArrivals says that arrivals were Poisson or think times random:
	// without that fairness is skipped.
	RandomArrivals bool

	// Model is the member of the reference family that the limiter is said to
	// be, for replay and linearizability; nil: none, and both are skipped.
	Model *bucket.Rule

	// Witnessed says that every request was sent in a block that numbered it,
	// from 1 on each key. Accounting then holds a key's first number against 1
	// too; without it a history may begin at any number.
	Witnessed bool

	// ShiftedTime says that the limiter was shown another TIME than the one that
	// the witness tells: replay then takes the stored time as it is.
	ShiftedTime bool

	// Shift is, with ShiftedTime, the least and the most by which the TIME shown
	// was ahead of the server's own in [from, to], ns on the history's clock, up to
	// one constant; to is [history.Forever] for a request of unknown outcome. A
	// limiter with ServerTime is then one of callers whose clocks go back and leap
	// together: what that explains is predicted, and the state audit allows for it.
	// nil: not known, and nothing is.
	Shift func(from, to int64) (least, most int64)

	// Leaps are when the clock that keys expire by went forward, while nothing else
	// did: a key may then have been gone before its time, with what its limiter
	// had stored. A limiter with CallerTime grants up to one bucket more for each;
	// one with ServerTime goes by that clock itself, and Shift says all.
	Leaps []Leap

	// LinearizeTimeout is how long a look for an order may take in real time; 0:
	// 2 s, below 0: there is none. A look gives up after 200,000 steps of the
	// model too, some tenths of a second, and tries half as many requests; all
	// looks together take about 1,000,000 steps.
	LinearizeTimeout time.Duration

	// Offered is how many requests the driver says it offered; 0: not known.
	// Accounting holds the history against it.
	Offered int64
}

// DefaultRateTolerance is ρ for a run on one host: arithmetic and clock rate.
const DefaultRateTolerance = 1e-4

// Leap is a stretch, in ns on the history's clock, at one instant of which a clock
// went forward.
type Leap struct{ From, To int64 }

// Sample is one look at the Redis keys behind a bucket key, for the state
// audit. What it shows held at one instant in [Call, Return].
type Sample struct {
	Call, Return int64 // ns on the history's clock
	Key          string
	Keys         []KeyState // every Redis key found for Key; empty: nothing is stored

	// Complete says that Keys came from a search of the whole server, so that
	// an absent key is known to be absent under any name.
	Complete bool
}

// KeyState is one Redis key in a Sample.
type KeyState struct {
	Name   string
	TTL    time.Duration // PTTL; NoExpiry: none
	Tokens float64       // the stored level; NaN: not read
}

// NoExpiry is the TTL of a key that never expires.
const NoExpiry time.Duration = -1
