package bucket

// Contract is what a limiter promises of a [Limit]. With N the capacity and W =
// capacity/rate the window, see package check for what each is judged by.
type Contract string

// The contracts. "" stands for TokenBucket.
const (
	TokenBucket   Contract = "token-bucket"   // at most C + R·d in any window of length d; a GCRA keeps it too
	SlidingWindow Contract = "sliding-window" // at most N in the last W, counted exactly or weighted from two windows
	FixedWindow   Contract = "fixed-window"   // at most N in each of the windows of length W that follow one another
)

// Windowed reports whether c counts grants in windows, rather than tokens in a bucket.
func (c Contract) Windowed() bool { return c == SlidingWindow || c == FixedWindow }
