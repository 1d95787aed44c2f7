package clock_test

import (
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bucketproof/scenarios/clock"
)

const year = 365 * 24 * time.Hour

func TestSkew(t *testing.T) {
	stepped := []clock.Step{{At: 3 * time.Second, By: -time.Second}, {At: time.Second, By: 250 * time.Millisecond}}
	strobe := clock.Strobe{By: -time.Second, Every: 100 * time.Millisecond}
	frozen := clock.Freeze{At: 2 * time.Second, For: 500 * time.Millisecond}
	for _, test := range []struct {
		name    string
		model   clock.Model
		elapsed time.Duration
		want    time.Duration
	}{
		{"true time", clock.Model{}, time.Hour, 0},
		{"offset", clock.Model{Offset: -250 * time.Millisecond}, time.Hour, -250 * time.Millisecond},
		{"drift at start", clock.Model{Drift: 200}, 0, 0},
		{"drift in a second", clock.Model{Drift: 200}, time.Second, 200 * time.Microsecond},
		{"slow drift in an hour", clock.Model{Drift: -50}, time.Hour, -180 * time.Millisecond},
		{"drift rounds down", clock.Model{Drift: 1}, 499_999, 0},
		{"drift rounds half up", clock.Model{Drift: 1}, 500_000, 1},
		{"slow drift rounds alike", clock.Model{Drift: -1}, 500_000, -1},
		{"drift of a fraction", clock.Model{Drift: 0.1}, 24 * time.Hour, 8_640_000},
		{"drift below the resolution", clock.Model{Drift: 4e-7}, year, 0},
		{"standing still", clock.Model{Drift: -1e6}, 40 * year, -40 * year},
		{"twice as fast", clock.Model{Drift: 1e6}, 40 * year, 40 * year},
		{"before the start", clock.Model{Drift: 200}, -time.Second, -200 * time.Microsecond},
		{"before a step", clock.Model{Steps: stepped}, time.Second - 1, 0},
		{"at a step", clock.Model{Steps: stepped}, time.Second, 250 * time.Millisecond},
		{"after both steps", clock.Model{Steps: stepped}, 3 * time.Second, -750 * time.Millisecond},
		{"strobe at first", clock.Model{Strobe: strobe}, 100*time.Millisecond - 1, 0},
		{"strobe changes", clock.Model{Strobe: strobe}, 100 * time.Millisecond, -time.Second},
		{"strobe changes back", clock.Model{Strobe: strobe}, 200 * time.Millisecond, 0},
		{"strobe before the start", clock.Model{Strobe: strobe}, -150 * time.Millisecond, 0},
		{"before a freeze", clock.Model{Freeze: frozen}, 2 * time.Second, 0},
		{"in a freeze", clock.Model{Freeze: frozen}, 2*time.Second + 1, -1},
		{"after a freeze", clock.Model{Freeze: frozen}, time.Hour, -500 * time.Millisecond},
		{"a freeze stops the drift", clock.Model{Drift: 1e5, Freeze: frozen}, 2500 * time.Millisecond, 200*time.Millisecond - 500*time.Millisecond},
		{"drift after a freeze", clock.Model{Drift: 1e5, Freeze: frozen}, 3500 * time.Millisecond, 300*time.Millisecond - 500*time.Millisecond},
		{"all together", clock.Model{Offset: time.Second, Drift: 10, Steps: stepped}, 10 * time.Second, 250*time.Millisecond + 100*time.Microsecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := test.model.Validate(); err != nil {
				t.Fatal(err)
			}
			if got := test.model.Skew(test.elapsed); got != test.want {
				t.Errorf("Skew(%v) = %v, want %v", test.elapsed, got, test.want)
			}
			base := time.Now() // with a monotonic reading
			got := test.model.Reading(base, test.elapsed)
			if want := base.UnixNano() + int64(test.elapsed+test.want); got.UnixNano() != want {
				t.Errorf("Reading is %d, want %d", got.UnixNano(), want)
			}
			if strings.Contains(got.String(), "m=") {
				t.Errorf("Reading %v has a monotonic reading", got)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	for _, test := range []struct {
		model clock.Model
		want  string // "": valid
	}{
		{clock.Model{}, ""},
		{clock.Model{Offset: -50 * year, Drift: -1e6, Jitter: 50 * year, Steps: []clock.Step{{0, 25 * year}, {0, -25 * year}}}, ""},
		{clock.Model{Offset: 51 * year}, "offset is 446760h0m0s, want at most 50 years either way"},
		{clock.Model{Offset: math.MinInt64}, "offset is -2562047h47m16.854775808s, want at most 50 years either way"},
		{clock.Model{Drift: math.NaN()}, "drift is NaN ppm, want -1e6 to 1e6"},
		{clock.Model{Drift: math.Inf(-1)}, "drift is -Inf ppm, want -1e6 to 1e6"},
		{clock.Model{Drift: 1_000_001}, "drift is 1.000001e+06 ppm, want -1e6 to 1e6"},
		{clock.Model{Jitter: -1}, "jitter is -1ns, want 0 or more"},
		{clock.Model{Jitter: 51 * year}, "jitter is 446760h0m0s, want at most 50 years"},
		{clock.Model{Steps: []clock.Step{{0, 1}, {-1, 1}}}, "step 2 is at -1ns, want 0 or more"},
		{clock.Model{Steps: []clock.Step{{0, 30 * year}, {0, -21 * year}}}, "step 2 is by -183960h0m0s, want at most 50 years for all steps together"},
		{clock.Model{Strobe: clock.Strobe{By: -year, Every: 1}, Freeze: clock.Freeze{At: 50 * year, For: 50 * year}}, ""},
		{clock.Model{Strobe: clock.Strobe{Every: 1}}, ""},
		{clock.Model{Strobe: clock.Strobe{By: 1}}, "strobe is every 0s, want a time above 0"},
		{clock.Model{Strobe: clock.Strobe{Every: -1}}, "strobe is every -1ns, want a time above 0"},
		{clock.Model{Strobe: clock.Strobe{By: 2 * year, Every: 1}}, "strobe is by 17520h0m0s, want at most a year either way"},
		{clock.Model{Freeze: clock.Freeze{At: -1}}, "freeze is at -1ns, want 0 to 50 years"},
		{clock.Model{Freeze: clock.Freeze{For: -1}}, "freeze is for -1ns, want 0 to 50 years"},
	} {
		got := ""
		if err := test.model.Validate(); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("Validate(%+v)\n%s\nwant\n%s", test.model, got, test.want)
		}
	}
}

func TestSynchronized(t *testing.T) {
	for _, test := range []struct {
		model clock.Model
		want  bool
	}{
		{clock.Model{}, true},
		{clock.Model{Seed: 7}, true},
		{clock.Model{Drift: 4e-7}, true}, // below the resolution
		{clock.Model{Steps: []clock.Step{{time.Second, 0}}}, true},
		{clock.Model{Strobe: clock.Strobe{Every: time.Second}, Freeze: clock.Freeze{At: time.Second}}, true},
		{clock.Model{Strobe: clock.Strobe{By: 1, Every: time.Second}}, false},
		{clock.Model{Freeze: clock.Freeze{For: 1}}, false},
		{clock.Model{Offset: 1}, false},
		{clock.Model{Drift: -1e-6}, false},
		{clock.Model{Jitter: 1}, false},
		{clock.Model{Steps: []clock.Step{{0, 1}, {0, -1}}}, false},
	} {
		if got := test.model.Synchronized(); got != test.want {
			t.Errorf("%+v: Synchronized %v, want %v", test.model, got, test.want)
		}
	}
}

// TestInvalidModelsDoNotPanic: they have some skew.
func TestInvalidModelsDoNotPanic(t *testing.T) {
	for _, drift := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300} {
		for _, elapsed := range []time.Duration{math.MinInt64, -1, 0, math.MaxInt64} {
			clock.Model{Drift: drift, Jitter: math.MaxInt64}.Skew(elapsed)
		}
	}
}

// models generates valid models.
func models() *rapid.Generator[clock.Model] {
	terms := rapid.OneOf(rapid.Int64Range(-5, 5), rapid.Int64Range(-int64(time.Hour), int64(time.Hour)))
	return rapid.Custom(func(t *rapid.T) clock.Model {
		m := clock.Model{
			Offset: time.Duration(terms.Draw(t, "offset")),
			Drift:  float64(rapid.Int64Range(-1e12, 1e12).Draw(t, "parts")) / 1e6,
			Jitter: time.Duration(max(terms.Draw(t, "jitter"), 0)),
			Seed:   rapid.Uint64().Draw(t, "seed"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "steps") {
			m.Steps = append(m.Steps, clock.Step{
				At: time.Duration(rapid.Int64Range(0, int64(2*time.Hour)).Draw(t, "at")),
				By: time.Duration(terms.Draw(t, "by")),
			})
		}
		return m
	})
}

// TestDriftAgainstRationals: the fast arithmetic is the exact one.
func TestDriftAgainstRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.Int64Range(-1e12, 1e12).Draw(t, "parts")
		elapsed := rapid.Int64Range(-int64(50*year), int64(50*year)).Draw(t, "elapsed")
		exactly := big.NewRat(parts, 1e12)
		exactly.Mul(exactly, new(big.Rat).SetInt64(elapsed))
		want, _ := new(big.Int).SetString(exactly.FloatString(0), 10) // rounds half away from zero
		got := clock.Model{Drift: float64(parts) / 1e6}.Skew(time.Duration(elapsed))
		if int64(got) != want.Int64() {
			t.Fatalf("%d parts in %d: %d, want %v", parts, elapsed, got, want)
		}
	})
}

func TestJitterIsDeterministicAndBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := models().Draw(t, "model")
		elapsed := time.Duration(rapid.Int64Range(0, int64(2*time.Hour)).Draw(t, "elapsed"))
		steady := m
		steady.Jitter = 0
		jitter := m.Skew(elapsed) - steady.Skew(elapsed)
		if jitter.Abs() > m.Jitter {
			t.Fatalf("jitter %v, want at most %v", jitter, m.Jitter)
		}
		if again := m.Skew(elapsed); again != m.Skew(elapsed) {
			t.Fatalf("two readings at one instant differ")
		}
	})
}

// TestJitterIsUniform: every nanosecond of ±3 comes a seventh of the time, and
// neighbouring instants and seeds do not go together.
func TestJitterIsUniform(t *testing.T) {
	const n = 70_000
	var counts [7]float64
	same, products := 0, 0.0
	a, b := clock.Model{Jitter: 3, Seed: 1}, clock.Model{Jitter: 3, Seed: 2}
	for i := range n {
		x := a.Skew(time.Duration(i))
		counts[x+3]++
		products += float64(x * a.Skew(time.Duration(i+1)))
		if x == b.Skew(time.Duration(i)) {
			same++
		}
	}
	chi := 0.0
	for _, c := range counts {
		chi += (c - n/7) * (c - n/7) / (n / 7)
	}
	if chi > 22.5 { // 6 degrees of freedom, p = 0.001
		t.Errorf("counts %v, chi-square %.1f", counts, chi)
	}
	if r := products / n / 4; math.Abs(r) > 4/math.Sqrt(n) { // the variance is 4
		t.Errorf("neighbours correlate by %.4f", r)
	}
	if share := float64(same) / n; math.Abs(share-1.0/7) > 0.01 {
		t.Errorf("two seeds agree at %.3f of the instants, want 1/7", share)
	}
}
