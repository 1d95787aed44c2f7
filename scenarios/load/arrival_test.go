package load_test

import (
	"iter"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bucketproof/scenarios/load"
)

func TestConstant(t *testing.T) {
	for _, test := range []struct {
		rate      float64
		length    time.Duration
		instances int
		n         int
		last      load.Arrival
	}{
		{1000, time.Second, 3, 1000, load.Arrival{Due: 999 * time.Millisecond, Instance: 0}},
		{3, time.Second, 2, 3, load.Arrival{Due: 666_666_667, Instance: 0}},
		{0.5, time.Second, 1, 1, load.Arrival{}},
		{1e9, time.Microsecond, 2, 1000, load.Arrival{Due: 999, Instance: 1}},
		{7, 24 * time.Hour, 1, 604_800, load.Arrival{Due: 24*time.Hour - 142_857_143}},
	} {
		all := slices.Collect(load.Constant(test.rate, test.length, test.instances))
		if len(all) != test.n || all[len(all)-1] != test.last {
			t.Errorf("Constant(%v, %v, %d): %d arrivals, last %+v, want %d, %+v",
				test.rate, test.length, test.instances, len(all), all[len(all)-1], test.n, test.last)
		}
	}
}

// TestConstantDoesNotDrift: request k is due at k/rate, however long the run.
func TestConstantDoesNotDrift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.1, 1e6).Draw(t, "rate")
		n := rapid.IntRange(1, 2000).Draw(t, "n")
		length := time.Duration(math.Ceil(float64(n) / rate * 1e9))
		k, before := 0, time.Duration(-1)
		for a := range load.Constant(rate, length, 3) {
			if off := float64(a.Due) - float64(k)*1e9/rate; math.Abs(off) > 0.51 || a.Instance != k%3 || a.Due < before {
				t.Fatalf("request %d at %v of instance %d, %v ns off", k, a.Due, a.Instance, off)
			}
			k, before = k+1, a.Due
		}
		if k < n-1 || k > n+1 {
			t.Fatalf("%d arrivals, want %d", k, n)
		}
	})
}

func TestSchedulesStopEarly(t *testing.T) {
	for _, arrivals := range []iter.Seq[load.Arrival]{
		load.Constant(10, time.Hour, 1), load.Poisson(10, time.Hour, 1, 1, 1),
	} {
		n := 0
		for range arrivals {
			if n++; n == 3 {
				break
			}
		}
	}
}

// TestPoisson: gaps have the mean and the variance of an exponential, counts
// those of a Poisson variable, over all instances and for each of them.
func TestPoisson(t *testing.T) {
	const rate, instances = 1000.0, 4
	length := 200 * time.Second
	all := slices.Collect(load.Poisson(rate, length, instances, 1, 2))
	if n := rate * length.Seconds(); math.Abs(float64(len(all))-n) > 5*math.Sqrt(n) {
		t.Errorf("%d arrivals, want %v ± %.0f", len(all), n, 5*math.Sqrt(n))
	}
	dues := make([][]time.Duration, instances+1) // the last one: all of them
	for _, a := range all {
		dues[a.Instance] = append(dues[a.Instance], a.Due)
		dues[instances] = append(dues[instances], a.Due)
	}
	for i, due := range dues {
		want := rate / instances
		if i == instances {
			want = rate
		}
		if !slices.IsSorted(due) {
			t.Fatalf("instance %d: not in order", i)
		}
		mean, variance := gaps(due)
		// The mean of n exponential gaps has a standard deviation of mean/√n,
		// the variance one of variance·√(8/n).
		n := float64(len(due))
		if off := mean*want - 1; math.Abs(off) > 5/math.Sqrt(n) {
			t.Errorf("instance %d: mean gap %.3g s, want %.3g", i, mean, 1/want)
		}
		if off := variance*want*want - 1; math.Abs(off) > 5*math.Sqrt(8/n) {
			t.Errorf("instance %d: variance of gaps %.3g, want %.3g", i, variance, 1/want/want)
		}
		if d := dispersion(due, length); math.Abs(d-1) > 5*math.Sqrt(2.0/2000) {
			t.Errorf("instance %d: variance of counts %.3f of their mean, want 1", i, d)
		}
	}
}

// gaps returns the mean and the variance of the gaps between times, in seconds.
func gaps(times []time.Duration) (mean, variance float64) {
	var sum, squares float64
	for i := 1; i < len(times); i++ {
		gap := (times[i] - times[i-1]).Seconds()
		sum, squares = sum+gap, squares+gap*gap
	}
	n := float64(len(times) - 1)
	mean = sum / n
	return mean, squares/n - mean*mean
}

// dispersion is the variance of the counts in 2000 windows over their mean: 1
// for a Poisson process, 0 for a constant one.
func dispersion(times []time.Duration, length time.Duration) float64 {
	const windows = 2000
	var counts [windows]float64
	for _, at := range times {
		counts[at*windows/length]++
	}
	mean := float64(len(times)) / windows
	sum := 0.0
	for _, c := range counts {
		sum += (c - mean) * (c - mean)
	}
	return sum / windows / mean
}

func TestSeedsRepeatSchedules(t *testing.T) {
	draw := func(seed, stream uint64) []load.Arrival {
		return slices.Collect(load.Poisson(100, time.Second, 3, seed, stream))
	}
	if !slices.Equal(draw(1, 2), draw(1, 2)) {
		t.Error("one seed and stream give two schedules")
	}
	if slices.Equal(draw(1, 2), draw(2, 2)) || slices.Equal(draw(1, 2), draw(1, 3)) || slices.Equal(draw(1, 2), draw(2, 1)) {
		t.Error("two seeds or streams give one schedule")
	}
}
