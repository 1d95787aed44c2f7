package capacity

import (
	"math"
	"strings"
	"testing"
)

// specsdm91 is the throughput, scripts an hour, of a SPARCcenter 2000 with 16
// processors under SPEC SDM 91 in October 1994, as the CRAN package usl ships it
// (Gunther, Guerrilla Capacity Planning, 2007).
var specsdm91 = []sample{{1, 64.9}, {18, 995.9}, {36, 1652.4}, {72, 1853.2}, {108, 1828.9}, {144, 1775.0}, {216, 1702.2}}

// cisco is the benchmark of a Cisco blade that Schwartz fits in Practical
// Scalability Analysis with the Universal Scalability Law, 2015.
var cisco = []sample{
	{1, 955.16}, {2, 1878.91}, {3, 2688.01}, {4, 3548.68}, {5, 4315.54}, {6, 5130.43}, {7, 5931.37}, {8, 6531.08},
	{9, 7219.8}, {10, 7867.61}, {11, 8278.71}, {12, 8646.7}, {13, 9047.84}, {14, 9426.55}, {15, 9645.37}, {16, 9897.24},
	{17, 10097.6}, {18, 10240.5}, {19, 10532.39}, {20, 10798.52}, {21, 11151.43}, {22, 11518.63}, {23, 11806}, {24, 12089.37},
	{25, 12075.41}, {26, 12177.29}, {27, 12211.41}, {28, 12158.93}, {29, 12155.27}, {30, 12118.04}, {31, 12140.4}, {32, 12074.39},
}

// near holds got against a published figure, within its last digit or 0.1 %.
func near(t *testing.T, what string, got, want, digit float64) {
	t.Helper()
	if math.Abs(got-want) > max(1e-3*math.Abs(want), digit/2) {
		t.Errorf("%s is %v, published is %v", what, got, want)
	}
}

// TestFitOfSPECSDM91 holds the fit against what usl 3.0 publishes of it: the
// summary in its README, and tests/summary.Rout.save for the peak.
func TestFitOfSPECSDM91(t *testing.T) {
	u := fit(specsdm91)
	near(t, "gamma", u.Lambda, 89.9952330, 0)
	near(t, "alpha", u.Sigma, 0.0277285, 0)
	near(t, "beta", u.Kappa, 0.0001044, 1e-7)
	near(t, "load at the peak", u.PeakN, 96.52, 0)
	near(t, "throughput at the peak", u.PeakPS, 1884, 0)
	const t975 = 2.7764451 // Student's t with 4 degrees of freedom
	for name, of := range map[string]struct{ se, digit float64 }{
		"lambda": {14.2134894, 0}, "sigma": {0.0091217, 0}, "kappa": {0.0000199, 1e-7},
	} {
		ci := u.CI95[name]
		near(t, "standard error of "+name, (ci.High-ci.Low)/2/t975, of.se, of.digit)
	}
	if u.Why != "" {
		t.Errorf("doubted: %s", u.Why)
	}
}

func TestFitOfCisco(t *testing.T) {
	u := fit(cisco)
	near(t, "lambda", u.Lambda, 995.6486, 0)
	near(t, "sigma", u.Sigma, 0.02671591, 0)
	near(t, "kappa", u.Kappa, 7.690945e-4, 0)
	near(t, "throughput at the peak", u.PeakPS, 12341, 0)
	if math.Floor(u.PeakN) != 35 {
		t.Errorf("peak at %v, published is 35", u.PeakN)
	}
	if !strings.Contains(u.Why, "beyond the 32") {
		t.Errorf("a peak at 35 of 32 measured is not doubted: %q", u.Why)
	}
}

// lawful is what the law says of some callers, with an error that alternates.
func lawful(c coefficients, wobble float64, callers ...float64) []sample {
	var all []sample
	for i, n := range callers {
		all = append(all, sample{n, c.throughput(n) * (1 + wobble*float64(1-2*(i%2)))})
	}
	return all
}

func TestFitSaysWhenNotToTrustIt(t *testing.T) {
	for name, c := range map[string]struct {
		samples []sample
		why     string
	}{
		"sound":      {lawful(coefficients{1000, 0.05, 0.002}, 0.003, 1, 2, 4, 8, 16, 32, 64), ""},
		"exact":      {lawful(coefficients{1000, 0.05, 0.002}, 0, 1, 2, 4, 8, 16, 32, 64), ""},
		"too few":    {lawful(coefficients{1000, 0.05, 0.002}, 0.001, 1, 2, 4), "no fit: 3 numbers of callers"},
		"few":        {lawful(coefficients{1000, 0.05, 0.01}, 0.001, 1, 4, 8, 16, 32), "5 numbers of callers were measured, 6 are"},
		"none":       {nil, "no fit: 0 numbers"},
		"no bend":    {lawful(coefficients{1000, 0.05, -0.0001}, 0.001, 1, 2, 4, 8, 16, 32, 64), "no bend was seen up to 64 callers"},
		"linear":     {lawful(coefficients{1000, 0, 0}, 0.001, 1, 2, 4, 8, 16, 32), "lies beyond the 32"},
		"sublinear":  {lawful(coefficients{1000, -0.02, 0.002}, 0.001, 1, 2, 4, 8, 16, 32, 64), "contention came out below 0"},
		"far peak":   {lawful(coefficients{1000, 0.05, 0.0001}, 0.0001, 1, 2, 4, 8, 16, 32), "lies beyond the 32"},
		"noise":      {lawful(coefficients{1000, 0.5, 0.01}, 0.4, 1, 2, 4, 8, 16, 32, 64), "of the variance only"},
		"flat":       {[]sample{{1, 100}, {2, 100}, {4, 100}, {8, 100}, {16, 100}, {32, 100}}, "of the variance only"},
		"decreasing": {[]sample{{1, 100}, {2, 60}, {4, 40}, {8, 25}, {16, 12}, {32, 5}}, ""},
	} {
		u := fit(c.samples)
		if c.why == "" && name != "decreasing" && u.Why != "" || !strings.Contains(u.Why, c.why) {
			t.Errorf("%s: %q, want %q; %+v", name, u.Why, c.why, u)
		}
		if u.Lambda < 0 || u.Sigma < 0 || u.Kappa < 0 || math.IsNaN(u.PeakPS+u.R2+u.PeakN) {
			t.Errorf("%s: %+v", name, u)
		}
		for name, ci := range u.CI95 {
			if !(ci.Low <= ci.High) || math.IsInf(ci.High, 0) {
				t.Errorf("%s: interval %v", name, ci)
			}
		}
	}
}

// TestIntervalsCover repeats a noisy experiment: a 95 % interval holds the truth
// in about 95 of 100.
func TestIntervalsCover(t *testing.T) {
	truth := coefficients{5000, 0.06, 0.003}
	_, peak := truth.peak()
	rng, covered := newNoise(1), map[string]int{}
	const runs = 400
	for range runs {
		var samples []sample
		for _, n := range []float64{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64} {
			samples = append(samples, sample{n, truth.throughput(n) + 300*rng.NormFloat64()})
		}
		u := fit(samples)
		for name, v := range map[string]float64{"lambda": truth[0], "sigma": truth[1], "kappa": truth[2], "peak_per_s": peak} {
			if ci := u.CI95[name]; ci.Low <= v && v <= ci.High {
				covered[name]++
			}
		}
	}
	for _, name := range []string{"lambda", "sigma", "kappa", "peak_per_s"} {
		if n := covered[name]; n < runs*90/100 || n > runs*99/100 {
			t.Errorf("%s: %d of %d intervals hold the truth", name, n, runs)
		}
	}
}
