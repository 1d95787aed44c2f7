package scenarios

import (
	"fmt"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/check"
	"bucketproof/bucket/history"
)

// renames reports whether the limiter's first key is named after its window, as
// that of a counter may be. A witness counts on each key from 1, so that the
// numbers of a bucket begin anew with each window, and nothing was lost.
func (r *run) renames() bool {
	lister, ok := r.driver.Instances[0].Limiter.(bucket.KeyLister)
	if !ok || !r.plan.Subject.Contract.Windowed() {
		return false
	}
	first := func(at time.Time) string {
		names, err := lister.Keys(r.driver.Limit, bucket.Request{
			ID: "name", Key: r.buckets[0], Instance: "name", Cost: r.driver.Cost, Now: at,
		})
		if err != nil || len(names) == 0 {
			return ""
		}
		return names[0]
	}
	return first(r.driver.Base) != first(r.driver.Base.Add(2*r.driver.Limit.FillTime()))
}

// excuseWindows makes an over-admission undecided where windows are counted by
// callers' clocks that are all the same, and the calls took so long that they
// explain it: a window ends for each request as its own reading says, and a key
// that has expired meanwhile is begun anew by a request that was under way. It is
// explained if nothing is over once that much is granted to the clock.
func (r *run) excuseWindows(res *Result) error {
	sub := r.plan.Subject
	if !sub.Contract.Windowed() || sub.Time == bucket.ServerTime || !r.plan.Scenario.prompt() {
		return nil
	}
	for i := range res.Verdicts {
		v := &res.Verdicts[i]
		if v.Name != check.OverAdmission || v.Expected != ExpectPass || v.Verdict != check.Fail {
			continue
		}
		longest := r.driver.Longest()
		spec := res.Spec
		spec.Granularity += longest
		report, err := check.Judge(spec, history.All(res.Operations), nil)
		if err != nil {
			return fmt.Errorf("judge %s for %s again: %w", res.Scenario.Name, res.Limiter, err)
		}
		if of := report.Results[i]; of.Name == v.Name && of.Verdict != check.Fail {
			v.Verdict = check.Undecided
			v.Detail += fmt.Sprintf(". Calls that took up to %v explain this, the machine was too slow to decide", longest.Round(time.Millisecond))
		}
	}
	return nil
}
