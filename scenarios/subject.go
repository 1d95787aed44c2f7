package scenarios

import (
	"context"
	"slices"
	"strings"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/lua"
)

// Subject is a limiter under test: how to open it, and what it says of itself.
type Subject struct {
	Name        string
	Contract    bucket.Contract // what it promises; "": a token bucket
	Time        bucket.TimeSource
	Granularity time.Duration // the smallest step of its clock

	// Limit is the only limit the limiter can have; nil: whatever the scenario
	// wants.
	Limit *bucket.Limit

	// Fits reports, as an error, a limit that the limiter cannot express; its runs
	// are skipped. nil: it can have any.
	Fits func(bucket.Limit) error

	// Source is the library that the limiter comes from, with its version; "": it
	// is none.
	Source string

	// Expect is what the limiter is expected to show over a whole command:
	// ExpectFail means in at least one run. A scenario's own Expect wins.
	Expect Expectations

	// Shows names, for a check that Expect says must fail, the scenarios, or points
	// of one, that show it: of a command that makes none of these runs nothing is
	// expected. A check that is not named must fail whatever runs.
	Shows map[string][]string

	// Reference says that the limiter is one of the reference family, so that
	// theory predicts its figures and a figure beyond the prediction is
	// unexpected even where a failure is not.
	Reference bool

	// Model is the member of the reference family that the limiter is said to
	// be, bit for bit; nil: none.
	Model *bucket.Rule

	// ModelName is the built-in limiter that the limiter is said to be, whose
	// predictions are shown where a scenario has none for the limiter itself; "":
	// none.
	ModelName string

	// Known says, of checks that the limiter fails or may fail, why it does, in a
	// sentence without its full stop; nil: nothing is known.
	Known map[string]string

	// Costs says that the limiter takes requests of any cost, with WholeCosts of
	// any whole one.
	Costs, WholeCosts bool

	// Stored says that the limiter keeps its state in the Runner's Store, where
	// the state audit finds it.
	Stored bool

	// OwnClock says that the server whose clock a limiter with ServerTime uses is
	// none of the Runner's, so that nobody can read it.
	OwnClock bool

	// Tokens is the field of the first Redis key that holds the level, "" for
	// the key's whole value; nil: not known.
	Tokens *string

	// Retries is how often the client may send a request again that got no
	// answer.
	Retries int

	// Open makes the limiter as one instance holds it. It is closed, if it is
	// an io.Closer, when the run ends. With witness the limiter's decisions
	// carry one; it is never set where Witnessed is false.
	Open func(ctx context.Context, instance string, witness bool) (bucket.Limiter, error)

	// OpenShifted is Open for a limiter on the server's clock that is shown another
	// TIME than the server's own: clock tells it before every request,
	// concurrently. nil: it cannot be shown any.
	OpenShifted func(ctx context.Context, instance string, witness bool, clock func() lua.ServerClock) (bucket.Limiter, error)

	// Witnessed says that the limiter can be asked with a witness.
	Witnessed bool
}

// MustShow reports whether a check that the limiter fails over a whole command
// may be expected to fail in a run of the scenario.
func (s *Subject) MustShow(scenario, check string) bool {
	if s.Expect.Of(check) != ExpectFail {
		return false
	}
	where, told := s.Shows[check]
	whole, _, _ := strings.Cut(scenario, "/")
	return !told || slices.Contains(where, scenario) || slices.Contains(where, whole)
}
