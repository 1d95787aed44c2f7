package check

import (
	"time"

	"bucketproof/bucket"
)

// frame is a contract that counts in windows, in tokens and nanoseconds. Times
// are float64, since a window need not be a whole number of ns.
type frame struct {
	contract bucket.Contract
	limit    float64 // N, tokens
	window   float64 // W
	grain    float64 // g: what the limiter's clock and its keys' lives may be off
	drift    float64 // ρ: by which that clock may run faster or slower
}

// keyStep is what a key's life may be off, for Redis counts it in whole
// milliseconds: a window that is a key may be so much shorter or longer.
const keyStep = time.Millisecond

// frame is nil for a token bucket.
func (s Spec) frame() *frame {
	if !s.Contract.Windowed() {
		return nil
	}
	f := &frame{
		contract: s.Contract,
		limit:    s.Limit.Capacity,
		window:   s.Limit.Capacity / s.Limit.Rate * 1e9,
		grain:    float64(s.step()),
		drift:    s.RateTolerance,
	}
	if s.Time == bucket.ServerTime || s.Time == bucket.CallerTime {
		f.grain += float64(keyStep)
	}
	return f
}

// short is the least that W may measure on the history's clock; 0 or less: no
// two instants surely lie in one window.
func (f *frame) short() float64 { return f.window*(1-f.drift) - f.grain }

// long is the most that W may measure.
func (f *frame) long() float64 { return f.window*(1+f.drift) + f.grain }

// memory is how long a grant matters: three windows, and the length of a denial
// that is judged.
func (f *frame) memory() float64 { return 3*f.long() + f.window }

// ShortestWindow is the shortest window in which anything can be told of a
// limiter whose clock has the granularity g.
func ShortestWindow(g time.Duration) time.Duration { return 3 * (g + keyStep) }

// coarse says that the clock's step is so large beside the window that nothing
// can be shown.
func (f *frame) coarse() bool { return f.short() <= f.window/2 }
