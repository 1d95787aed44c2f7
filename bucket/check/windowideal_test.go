package check

import (
	"fmt"
	"slices"
	"testing"

	"bucketproof/bucket"
)

var windowContracts = []bucket.Contract{bucket.SlidingWindow, bucket.FixedWindow}

// A limiter that keeps a contract that counts in windows is accused by no check,
// whichever kind it is, whatever the concurrency, the costs and the unknowns.
func TestRightWindowsAreNeverAccused(t *testing.T) {
	t.Parallel()
	for _, c := range windowContracts {
		makers := rightMakers(c)
		var names []string
		for name := range makers {
			names = append(names, name)
		}
		slices.Sort(names)
		for n, name := range names {
			t.Run(fmt.Sprintf("%s/%s", c, name), func(t *testing.T) {
				t.Parallel()
				verdicts := map[string]int{}
				for seed := range uint64(cases(2000)) {
					rng := randomOf(seed, 100+uint64(n))
					s := windowShape(rng, c)
					ops := simulate(rng, &s, makers[name])
					rep, err := Judge(s.spec, all(ops), nil)
					if err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
					for _, r := range rep.Results {
						verdicts[r.Name+" "+string(r.Verdict)]++
						if r.Verdict == Fail {
							t.Fatalf("seed %d: %+v: %s: %s; %+v", seed, s.spec, r.Name, r.Detail, r.Evidence)
						}
					}
				}
				for _, check := range []string{OverAdmission, SpuriousDenial, AcceptRate} {
					if verdicts[check+" pass"] == 0 {
						t.Errorf("%s never passed: %v", check, verdicts)
					}
				}
				t.Log(verdicts)
			})
		}
	}
}
