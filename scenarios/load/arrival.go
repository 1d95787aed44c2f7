package load

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"time"
)

// Arrival is one request of a schedule.
type Arrival struct {
	Due      time.Duration // since the start of the schedule
	Instance int           // which of the schedule's instances sends it, from 0
}

// Arrivals names a kind of schedule, as a scenario file does.
type Arrivals string

// The two kinds. The zero Arrivals is ArriveConstant.
const (
	ArriveConstant Arrivals = "constant" // evenly spaced, the instances in turn
	ArrivePoisson  Arrivals = "poisson"  // independent of each other, at a random instance
)

// Constant is a schedule of rate requests per second over length, request k at
// k/rate (rounded to a nanosecond; no error adds up), instances 0 to
// instances − 1 in turn.
func Constant(rate float64, length time.Duration, instances int) iter.Seq[Arrival] {
	return func(yield func(Arrival) bool) {
		for k := uint64(0); ; k++ {
			due := math.Round(float64(k) * float64(time.Second) / rate)
			if due >= float64(length) {
				return
			}
			if !yield(Arrival{Due: time.Duration(due), Instance: int(k % uint64(instances))}) {
				return
			}
		}
	}
}

// Poisson is a schedule of rate requests per second on average over length:
// the gaps are independent and exponential with mean 1/rate, and each request
// is at any of the instances with the same probability, so that each instance
// sees a Poisson process of its own, of rate/instances, independent of the
// others. It is a pure function of its arguments.
func Poisson(rate float64, length time.Duration, instances int, seed, stream uint64) iter.Seq[Arrival] {
	return func(yield func(Arrival) bool) {
		r := rand.New(newSource(seed, stream))
		for due := 0.0; ; {
			due += r.ExpFloat64() / rate * float64(time.Second)
			if due >= float64(length) {
				return
			}
			if !yield(Arrival{Due: time.Duration(due), Instance: r.IntN(instances)}) {
				return
			}
		}
	}
}

// schedule returns the arrivals of o among a number of instances.
func (o Open) schedule(instances int, seed uint64) (iter.Seq[Arrival], error) {
	switch {
	case math.IsNaN(o.Rate) || math.IsInf(o.Rate, 0) || o.Rate <= 0:
		return nil, fmt.Errorf("rate is %v, want a finite number above 0", o.Rate)
	case o.For <= 0:
		return nil, fmt.Errorf("length is %v, want above 0", o.For)
	case o.MaxInFlight < 0:
		return nil, fmt.Errorf("most in flight is %d, want 0 or more", o.MaxInFlight)
	}
	switch o.Arrivals {
	case "", ArriveConstant:
		return Constant(o.Rate, o.For, instances), nil
	case ArrivePoisson:
		return Poisson(o.Rate, o.For, instances, seed, o.Stream), nil
	}
	return nil, fmt.Errorf("arrivals are %q, want constant or poisson", o.Arrivals)
}
