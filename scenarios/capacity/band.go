package capacity

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Curve is a fitted law with what is uncertain about it.
type Curve struct {
	law  USL
	free []int // the coefficients that were not held at 0: 0 is λ, 1 is σ, 2 is κ
	cov  *mat.SymDense
	t    float64 // quantile of Student's distribution
}

// Curve returns the fit for drawing; nil when there is none. Its band is that of
// the delta method, from the residuals of the plain levels.
func (r *Result) Curve() *Curve {
	if r.USL.Lambda <= 0 {
		return nil
	}
	c := &Curve{law: r.USL, free: []int{0}}
	for i, v := range []float64{r.USL.Sigma, r.USL.Kappa} {
		if v > 0 {
			c.free = append(c.free, i+1)
		}
	}
	information := mat.NewSymDense(len(c.free), nil) // JᵀJ
	levels, rss := 0, 0.0
	for _, l := range r.Connections {
		if l.Pipelined || l.ThroughputPS <= 0 {
			continue
		}
		levels++
		rest := l.ThroughputPS - c.At(float64(l.N))
		rss += rest * rest
		g := c.gradient(float64(l.N))
		information.SymRankOne(information, 1, mat.NewVecDense(len(g), g))
	}
	freedom := levels - len(c.free)
	var chol mat.Cholesky
	if freedom < 1 || !chol.Factorize(information) {
		return c
	}
	cov := mat.NewSymDense(len(c.free), nil)
	if err := chol.InverseTo(cov); err != nil { // as good as singular
		return c
	}
	cov.ScaleSym(rss/float64(freedom), cov)
	c.cov = cov
	c.t = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(freedom)}.Quantile(0.975)
	return c
}

// At is the throughput of n callers by the law, decisions a second.
func (c *Curve) At(n float64) float64 {
	return c.law.Lambda * n / (1 + c.law.Sigma*(n-1) + c.law.Kappa*n*(n-1))
}

// Band is where the law's own curve lies with 95 % confidence at n callers; a
// measurement scatters wider. The two are the same where that is not known.
func (c *Curve) Band(n float64) Bounds {
	x := c.At(n)
	if c.cov == nil {
		return Bounds{x, x}
	}
	g := c.gradient(n)
	v := mat.NewVecDense(len(g), g)
	half := c.t * math.Sqrt(max(0, mat.Inner(v, c.cov, v)))
	return Bounds{max(0, x-half), x + half}
}

// gradient is the throughput's derivative by each free coefficient.
func (c *Curve) gradient(n float64) []float64 {
	x := c.At(n)
	d := c.law.Lambda * n / x
	all := [3]float64{n / d, -x * (n - 1) / d, -x * n * (n - 1) / d}
	var g []float64
	for _, i := range c.free {
		g = append(g, all[i])
	}
	return g
}
