package bucket

import "math"

// State is what the reference bucket keeps between two requests. The zero
// State is a key that does not exist, which stands for a full bucket.
type State struct {
	Tokens float64 // level; at most the capacity, below 0 after a clock went back
	Time   float64 // the clock's reading at the last request, in ticks of the Rule
	Exists bool    // false: never written, or expired
}

// Rule is one member of the reference family: the same script over another
// clock. A Rule's arithmetic is the script's, operation by operation, so that
// decisions and stored numbers agree bit for bit (Redis hands Lua numbers to
// commands with 17 significant digits, which loses nothing).
type Rule struct {
	TicksPerSecond float64 // ticks of the clock in a second: 1e3 for milliseconds
	Monotonic      bool    // a clock behind the stored time counts as the stored time
}

// The reference family. RuleAppClock is the reference script itself.
var (
	RuleAppClock          = Rule{TicksPerSecond: 1e3}                  // the caller's clock, in milliseconds
	RuleAppClockMonotonic = Rule{TicksPerSecond: 1e3, Monotonic: true} // the same, never going back
	RuleRedisTime         = Rule{TicksPerSecond: 1e6}                  // Redis TIME, in microseconds
)

// Take decides one request of the given cost when the clock reads now (in
// ticks), and returns the state that is stored afterwards, for a denial too.
// It is a pure function; l should be valid, but any numbers give what the
// script would compute from them.
func (r Rule) Take(s State, l Limit, now, cost float64) (State, bool) {
	tokens, last := l.Capacity, now
	if s.Exists {
		tokens, last = s.Tokens, s.Time
	}
	if r.Monotonic && now < last {
		now = last
	}
	// float64(…) keeps a compiler from fusing multiply and add, which would
	// round once where the script rounds twice.
	earned := float64((now - last) / r.TicksPerSecond * l.Rate)
	tokens = luaMin(l.Capacity, float64(tokens+earned))
	allowed := tokens >= cost
	if allowed {
		tokens -= cost
	}
	return State{Tokens: tokens, Time: now, Exists: true}, allowed
}

// luaMin is Lua's math.min(a, b): a unless b is smaller, so a when b is NaN.
func luaMin(a, b float64) float64 {
	if b < a {
		return b
	}
	return a
}

// TTLMillis is the life the script gives the key at every request: one full
// refill, rounded up to whole milliseconds. From 1e17 on Redis 7.0
// refuses the number, after the new state was stored: the request ends in an
// error. (Redis 8 and Valkey take it.)
func (l Limit) TTLMillis() float64 {
	return math.Ceil(float64(l.Capacity / l.Rate * 1000))
}
