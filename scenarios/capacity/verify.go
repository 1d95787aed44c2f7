package capacity

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"bucketproof/bucket/check"
	"bucketproof/bucket/history"
)

// verifier judges every step's operations by themselves: each step has buckets
// of its own, so each begins full.
type verifier struct {
	spec    check.Spec
	ops     int64
	steps   int
	failed  map[string]*failure // check → what failed
	unknown []string            // why a step is undecided
}

// failure is what a check failed with, and in how many steps.
type failure struct {
	steps  int
	within bool // the limiter's own clock rule explains all of it
	detail string
}

// verdictChecks are the checks that every load can be judged by; of the others
// only a failure counts.
var verdictChecks = []string{check.OverAdmission, check.SpuriousDenial, check.Accounting}

func newVerifier(s *Subject) *verifier {
	return &verifier{
		spec: check.Spec{
			Contract: s.Contract, Limit: s.limit(), Granularity: s.Granularity, RateTolerance: check.DefaultRateTolerance,
			Retries: s.Retries, Time: s.Time,
		},
		failed: map[string]*failure{},
	}
}

// add judges a step. stray is how far this machine's wall clock strayed meanwhile.
func (v *verifier) add(ops []history.Operation, offered int64, stray time.Duration) error {
	if len(ops) == 0 {
		return nil
	}
	spec := v.spec
	spec.Offered, spec.ClockStray = offered, stray
	report, err := check.Judge(spec, history.All(ops), nil)
	if err != nil {
		return fmt.Errorf("judge what was measured: %w", err)
	}
	v.ops += int64(len(ops))
	v.steps++
	for _, r := range report.Results {
		switch {
		case r.Verdict == check.Fail:
			f := v.failed[r.Name]
			if f == nil {
				f = &failure{within: true, detail: r.Detail}
				v.failed[r.Name] = f
			}
			f.steps++
			if f.within && !r.WithinPrediction {
				f.within, f.detail = false, r.Detail
			}
		case r.Verdict == check.Undecided && slices.Contains(verdictChecks, r.Name):
			v.unknown = append(v.unknown, r.Name+": "+r.Detail)
		}
	}
	return nil
}

// verified is the verdict over all steps.
func (v *verifier) verified() *Verified {
	r := &Verified{Operations: v.ops, Verdict: string(check.Pass)}
	switch {
	case v.ops == 0:
		r.Verdict, r.Detail = string(check.Undecided), "nothing was recorded"
	case len(v.failed) > 0:
		r.Verdict = string(check.Fail)
		var all []string
		for _, name := range []string{check.OverAdmission, check.SpuriousDenial, check.AcceptRate, check.Accounting, check.StateAudit, check.Replay, check.Linearizability, check.Fairness, check.ReplyContract} {
			f := v.failed[name]
			if f == nil {
				continue
			}
			text := fmt.Sprintf("%s failed in %d of %d steps: %s", name, f.steps, v.steps, f.detail)
			if f.within {
				text += " (no more than the limiter's clock rule explains: a request that overtakes another brings an older time)"
			}
			all = append(all, text)
		}
		r.Detail = strings.Join(all, "; ")
	case len(v.unknown) > 0:
		r.Verdict, r.Detail = string(check.Undecided), v.unknown[0]
	default:
		r.Detail = fmt.Sprintf("no bucket of %d steps granted too much or denied too early, and every request has one outcome", v.steps)
	}
	return r
}
