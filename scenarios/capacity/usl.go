package capacity

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat/distuv"
)

// What a fit needs to be trusted.
const (
	leastLevels   = 4    // three coefficients and one degree of freedom
	trustedLevels = 6    // numbers of callers
	trustedR2     = 0.9  // share of the variance that is explained
	trustedSpread = 0.25 // half of the peak's confidence interval, relative
	confidence    = 0.95
)

// sample is a throughput x, decisions a second, of n callers.
type sample struct{ n, x float64 }

// coefficients are λ, σ and κ of the law.
type coefficients [3]float64

func (c coefficients) throughput(n float64) float64 {
	return c[0] * n / c.denominator(n)
}

func (c coefficients) denominator(n float64) float64 {
	return 1 + c[1]*(n-1) + c[2]*n*(n-1)
}

// peak is where the law's derivative is 0, n* = √((1 − σ)/κ) (Gunther, Guerrilla
// Capacity Planning, 2007, formula 4.33), and the throughput there. n* is 0
// where there is none.
func (c coefficients) peak() (n, x float64) {
	if c[2] <= 0 || c[1] >= 1 {
		return 0, 0
	}
	n = math.Sqrt((1 - c[1]) / c[2])
	return n, c.throughput(n)
}

// gradient is the throughput's derivative by each coefficient.
func (c coefficients) gradient(n float64) [3]float64 {
	d, x := c.denominator(n), c.throughput(n)
	return [3]float64{n / d, -x * (n - 1) / d, -x * n * (n - 1) / d}
}

// Fit fits the law to the levels whose callers are not pipelined, by least
// squares of the throughput as R's nls does, with λ, σ and κ at least 0. Why
// says what speaks against the fit; with too few levels there is none.
func Fit(levels []Level) USL {
	var samples []sample
	for _, l := range levels {
		if !l.Pipelined && l.ThroughputPS > 0 {
			samples = append(samples, sample{float64(l.N), l.ThroughputPS})
		}
	}
	return fit(samples)
}

func fit(samples []sample) USL {
	distinct := map[float64]bool{}
	best := sample{}
	for _, s := range samples {
		distinct[s.n] = true
		if s.x > best.x {
			best = s
		}
	}
	u := USL{PeakPS: best.x, CI95: map[string]Bounds{}}
	for _, name := range []string{"lambda", "sigma", "kappa", "peak_per_s"} {
		u.CI95[name] = Bounds{}
	}
	if len(distinct) < leastLevels {
		u.Why = fmt.Sprintf("no fit: %d numbers of callers were measured, three coefficients need %d", len(distinct), leastLevels)
		return u
	}
	free, ok := regress(samples, [3]bool{})
	chosen := within(samples, free, ok)
	if chosen == nil {
		u.Why = "no fit: least squares found no coefficients that are 0 or more"
		return u
	}
	u.Lambda, u.Sigma, u.Kappa, u.R2 = chosen.c[0], chosen.c[1], chosen.c[2], chosen.r2
	bounds := chosen.intervals()
	for i, name := range []string{"lambda", "sigma", "kappa"} {
		u.CI95[name] = bounds[i]
		if chosen.held[i] && ok { // as far as the data would let it go
			u.CI95[name] = Bounds{0, max(0, free.intervals()[i].High)}
		}
	}
	if n, x := chosen.c.peak(); n > 0 {
		u.PeakN, u.PeakPS = n, x
		u.CI95["peak_per_s"] = chosen.peakInterval()
	}
	u.Why = doubts(u, chosen, len(distinct), samples)
	return u
}

// doubts says what speaks against a fit; "" is nothing.
func doubts(u USL, r *regression, levels int, samples []sample) string {
	most := slices.MaxFunc(samples, func(a, b sample) int { return int(math.Copysign(1, a.n-b.n)) }).n
	var why []string
	if levels < trustedLevels {
		why = append(why, fmt.Sprintf("%d numbers of callers were measured, %d are the least to trust", levels, trustedLevels))
	}
	if r.held[1] {
		why = append(why, "contention came out below 0 and is held there: the first callers gain more than the law allows")
	}
	ci := u.CI95["peak_per_s"]
	switch {
	case r.held[2]:
		why = append(why, fmt.Sprintf("no bend was seen up to %.0f callers: crosstalk came out at 0 or below, and the peak given is the best that was measured", most))
	case u.PeakN == 0:
		why = append(why, "the law has no peak with a contention of 1 or more, the one given is the best that was measured")
	case u.PeakN > most:
		why = append(why, fmt.Sprintf("the peak at %.0f callers lies beyond the %.0f that were measured", u.PeakN, most))
	case ci.High-ci.Low > 2*trustedSpread*u.PeakPS:
		why = append(why, fmt.Sprintf("the peak is uncertain by ±%.0f %%", 50*(ci.High-ci.Low)/u.PeakPS))
	}
	if u.R2 < trustedR2 {
		why = append(why, fmt.Sprintf("the law explains %.0f %% of the variance only", 100*max(u.R2, 0)))
	}
	return strings.Join(why, "; ")
}

// regression is a fit with some coefficients held at 0.
type regression struct {
	c       coefficients
	held    [3]bool
	rss, r2 float64
	freedom int           // degrees of it
	cov     *mat.SymDense // of those that are not held, in their order
}

// within is the best fit whose coefficients are not negative: the free one, or
// the best of those that hold some of them at 0; nil: none.
func within(samples []sample, free *regression, ok bool) *regression {
	if ok && free.c[1] >= 0 && free.c[2] >= 0 {
		return free
	}
	var best *regression
	for _, held := range [][3]bool{{2: true}, {1: true}, {1: true, 2: true}} {
		r, ok := regress(samples, held)
		if ok && r.c[1] >= 0 && r.c[2] >= 0 && (best == nil || r.rss < best.rss) {
			best = r
		}
	}
	return best
}

// regress minimizes the sum of squares by Gauss-Newton steps. Throughput counts
// in units of the largest one and σ, κ in units that make n ≈ 1, so that one
// tolerance fits all. It reports whether there is a usable minimum.
func regress(samples []sample, held [3]bool) (*regression, bool) {
	var at []int
	for i := range held {
		if !held[i] {
			at = append(at, i)
		}
	}
	if len(samples) <= len(at) {
		return nil, false
	}
	unit := units(samples)
	expand := func(p []float64) coefficients {
		var c coefficients
		for k, i := range at {
			c[i] = p[k] * unit[i]
		}
		return c
	}
	jacobian := func(p []float64) (*mat.Dense, *mat.VecDense) {
		c := expand(p)
		j, r := mat.NewDense(len(samples), len(at), nil), mat.NewVecDense(len(samples), nil)
		for row, s := range samples {
			g := c.gradient(s.n)
			for k, i := range at {
				j.Set(row, k, g[i]*unit[i]/unit[0])
			}
			r.SetVec(row, (c.throughput(s.n)-s.x)/unit[0])
		}
		return j, r
	}
	problem := optimize.Problem{
		Func: func(p []float64) float64 {
			_, r := jacobian(p)
			return mat.Dot(r, r)
		},
		Grad: func(grad, p []float64) {
			j, r := jacobian(p)
			out := mat.NewVecDense(len(at), grad)
			out.MulVec(j.T(), r)
			out.ScaleVec(2, out)
		},
		Hess: func(hess *mat.SymDense, p []float64) {
			j, _ := jacobian(p)
			hess.SymOuterK(2, j.T())
		},
	}
	start := linearized(samples, at, unit)
	res, err := optimize.Minimize(problem, start, &optimize.Settings{GradientThreshold: 1e-10, MajorIterations: 500}, &optimize.Newton{})
	if res == nil || (err != nil && res.F > problem.Func(start)) || slices.ContainsFunc(res.X, math.IsNaN) {
		return nil, false
	}
	r := &regression{c: expand(res.X), held: held, freedom: len(samples) - len(at)}
	if r.c[0] <= 0 {
		return nil, false
	}
	j, _ := jacobian(res.X)
	return r, r.spread(samples, at, unit, j)
}

// units are the sizes that the coefficients are counted in.
func units(samples []sample) [3]float64 {
	x, n := 0.0, 0.0
	for _, s := range samples {
		x, n = max(x, s.x), max(n, s.n)
	}
	return [3]float64{x, 1 / n, 1 / (n * n)}
}

// linearized is where to start: n/x = 1/λ + σ/λ·(n − 1) + κ/λ·n(n − 1) is linear.
func linearized(samples []sample, at []int, unit [3]float64) []float64 {
	a, b := mat.NewDense(len(samples), len(at), nil), mat.NewVecDense(len(samples), nil)
	for row, s := range samples {
		terms := [3]float64{1, s.n - 1, s.n * (s.n - 1)}
		for k, i := range at {
			a.Set(row, k, terms[i]*s.x) // weighted, so that the error counts in x
		}
		b.SetVec(row, s.n)
	}
	start := make([]float64, len(at))
	var v mat.VecDense
	if err := v.SolveVec(a, b); err != nil || v.AtVec(0) <= 0 {
		start[0] = 1 / unit[1] // anything that is finite
		for k := range start {
			start[k] = 1
		}
		return start
	}
	for k, i := range at {
		start[k] = v.AtVec(k) / v.AtVec(0) / unit[i]
	}
	start[0] = 1 / v.AtVec(0) / unit[0]
	return start
}

// spread fills in what is left of the squares and the covariance s²·(JᵀJ)⁻¹,
// and reports whether the coefficients can be told apart.
func (r *regression) spread(samples []sample, at []int, unit [3]float64, j *mat.Dense) bool {
	mean, total := 0.0, 0.0
	for _, s := range samples {
		mean += s.x / float64(len(samples))
	}
	for _, s := range samples {
		d := r.c.throughput(s.n) - s.x
		r.rss += d * d
		total += (s.x - mean) * (s.x - mean)
	}
	if total > 0 {
		r.r2 = 1 - r.rss/total
	}
	var squares mat.SymDense
	squares.SymOuterK(1, j.T())
	var chol mat.Cholesky
	if !chol.Factorize(&squares) {
		return false
	}
	r.cov = mat.NewSymDense(len(at), nil)
	if err := chol.InverseTo(r.cov); err != nil {
		return false
	}
	s2 := r.rss / float64(r.freedom) / (unit[0] * unit[0])
	for a := range at {
		for b := a; b < len(at); b++ {
			r.cov.SetSym(a, b, r.cov.At(a, b)*s2*unit[at[a]]*unit[at[b]])
		}
	}
	return true
}

// quantile is Student's t for the confidence.
func (r *regression) quantile() float64 {
	return distuv.StudentsT{Sigma: 1, Nu: float64(r.freedom)}.Quantile(0.5 + confidence/2)
}

// intervals are the coefficients' confidence intervals; of one that is held, 0.
func (r *regression) intervals() [3]Bounds {
	var b [3]Bounds
	k := 0
	for i := range b {
		if r.held[i] {
			continue
		}
		half := r.quantile() * math.Sqrt(r.cov.At(k, k))
		b[i] = Bounds{r.c[i] - half, r.c[i] + half}
		k++
	}
	return b
}

// peakInterval is the confidence interval of the peak's throughput by the delta
// method: its variance is gᵀ·cov·g, g its gradient by the coefficients.
func (r *regression) peakInterval() Bounds {
	var at []int
	for i, held := range r.held {
		if !held {
			at = append(at, i)
		}
	}
	p := make([]float64, len(at))
	for k := range p {
		p[k] = 1
	}
	g := fd.Gradient(nil, func(p []float64) float64 {
		c := coefficients{}
		for k, i := range at {
			c[i] = p[k] * r.c[i]
		}
		_, x := c.peak()
		return x
	}, p, &fd.Settings{Formula: fd.Central})
	for k, i := range at {
		if r.c[i] != 0 {
			g[k] /= r.c[i]
		}
	}
	v := mat.NewVecDense(len(g), g)
	half := r.quantile() * math.Sqrt(mat.Inner(v, r.cov, v))
	_, x := r.c.peak()
	return Bounds{x - half, x + half}
}
