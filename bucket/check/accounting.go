package check

import "fmt"

// accounting judges the harness's own books: every operation ended in exactly
// one of the four outcomes (the reading refuses any other), so the sum is right
// when it equals the number of requests that the driver offered.
func accounting(spec *Spec, c Counts) Result {
	res := Result{
		Name: Accounting, Verdict: Pass, WithinPrediction: true,
		Value: map[string]float64{
			"offered": float64(c.Offered), "allowed": float64(c.Allowed), "denied": float64(c.Denied),
			"unsent": float64(c.Unsent), "unknown": float64(c.Unknown),
		},
	}
	sum := fmt.Sprintf("%d allowed, %d denied, %d unsent, %d unknown", c.Allowed, c.Denied, c.Unsent, c.Unknown)
	res.Detail = fmt.Sprintf("%s, one outcome each: %s", many(c.Offered, "request"), sum)
	if spec.Offered > 0 && spec.Offered != c.Offered {
		res.Verdict, res.WithinPrediction = Fail, false
		res.Detail = fmt.Sprintf("%d requests were offered and %d have an outcome: %s", spec.Offered, c.Offered, sum)
		res.Value["driver_offered"] = float64(spec.Offered)
	}
	return res
}
