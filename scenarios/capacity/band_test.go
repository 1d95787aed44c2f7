package capacity_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"bucketproof/scenarios/capacity"
)

// TestBandHoldsTheLaw draws measurements around a known law, hands the curve the
// coefficients that are nearest to them, found by Newton's steps, and counts how
// often the band holds the true throughput: at one number of callers that is to
// be 95 times in 100.
func TestBandHoldsTheLaw(t *testing.T) {
	const tries = 2000
	truth := capacity.USL{Lambda: 10_000, Sigma: 0.06, Kappa: 0.0008}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []float64{1, 12, 64} {
		held := 0
		for range tries {
			r := capacity.Result{USL: truth}
			exact := (&capacity.Result{USL: truth, Connections: []capacity.Level{{N: 1, ThroughputPS: 1}}}).Curve()
			for _, callers := range []int{1, 2, 4, 8, 16, 24, 32, 48, 64, 96} {
				x := exact.At(float64(callers)) + 400*rng.NormFloat64()
				r.Connections = append(r.Connections, capacity.Level{N: callers, ThroughputPS: x})
			}
			r.USL = nearest(truth, r.Connections)
			band := r.Curve().Band(n)
			if x := exact.At(n); band.Low <= x && x <= band.High {
				held++
			}
		}
		// 95 % of 2000 within four of its standard deviations.
		if part := float64(held) / tries; math.Abs(part-0.95) > 0.02 {
			t.Errorf("with %v callers the band holds the law in %.1f %% of cases, want 95 %%", n, 100*part)
		}
	}
}

// nearest is least squares by Gauss and Newton from a start that is near.
func nearest(u capacity.USL, levels []capacity.Level) capacity.USL {
	at := func(u capacity.USL, n float64) float64 {
		return u.Lambda * n / (1 + u.Sigma*(n-1) + u.Kappa*n*(n-1))
	}
	for range 20 {
		var a [3][4]float64 // normal equations, the right side last
		for _, l := range levels {
			n := float64(l.N)
			x := at(u, n)
			d := u.Lambda * n / x
			g := [3]float64{n / d, -x * (n - 1) / d, -x * n * (n - 1) / d}
			for i := range 3 {
				for j := range 3 {
					a[i][j] += g[i] * g[j]
				}
				a[i][3] += g[i] * (l.ThroughputPS - x)
			}
		}
		for i := range 3 {
			for k := range 3 {
				if k == i {
					continue
				}
				f := a[k][i] / a[i][i]
				for j := range 4 {
					a[k][j] -= f * a[i][j]
				}
			}
		}
		u.Lambda += a[0][3] / a[0][0]
		u.Sigma += a[1][3] / a[1][1]
		u.Kappa += a[2][3] / a[2][2]
	}
	return u
}

func TestThereIsNoCurveWithoutAFit(t *testing.T) {
	if c := (&capacity.Result{}).Curve(); c != nil {
		t.Errorf("got %+v", c)
	}
	// As many levels as coefficients: a curve, and nothing known of its band.
	r := capacity.Result{
		USL: capacity.USL{Lambda: 100, Sigma: 0.1, Kappa: 0.01}, Connections: []capacity.Level{{N: 1, ThroughputPS: 100}, {N: 2, ThroughputPS: 180}, {N: 4, ThroughputPS: 300}},
	}
	if c := r.Curve(); c == nil || c.Band(8) != (capacity.Bounds{Low: c.At(8), High: c.At(8)}) {
		t.Errorf("got %+v", c)
	}
}
