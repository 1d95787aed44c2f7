package thirdparty

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// TestReleasesArePinned holds the releases that the findings were read in
// against what is built.
func TestReleasesArePinned(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range All() {
		if !strings.Contains(string(mod), "\t"+l.Module+" "+l.Version+"\n") {
			t.Errorf("%s was read as %s, go.mod has another: read its source again, line numbers and findings included", l.Name, l.Source())
		}
		if !regexp.MustCompile(regexp.QuoteMeta(l.Version) + ` +(token bucket|fixed window)`).Match(doc) {
			t.Errorf("doc.go does not list %s", l.Source())
		}
	}
}

// TestFindingsAreExplained: each names a check and why, and one that must show
// also where.
func TestFindingsAreExplained(t *testing.T) {
	for _, l := range All() {
		for _, f := range l.Findings {
			switch {
			case f.Check == "" || f.Because == "":
				t.Errorf("%s: a finding of %q without a cause", l.Name, f.Check)
			case (f.Expect == limiterfile.Fail) != (f.Scenario != ""):
				t.Errorf("%s: %s is expected to %s, and the scenario is %q", l.Name, f.Check, f.Expect, f.Scenario)
			}
		}
		for check, want := range l.Expect() {
			if want == limiterfile.Fail && len(l.Shows()[check]) == 0 {
				t.Errorf("%s: no scenario shows that %s fails", l.Name, check)
			}
		}
	}
}

func TestFits(t *testing.T) {
	tests := []struct {
		limit bucket.Limit
		fit   string // the libraries that can express it
	}{
		{bucket.Limit{Rate: 100, Capacity: 50}, "redis_rate throttled ulule"},
		{bucket.Limit{Rate: 50, Capacity: 50}, "redis_rate throttled ulule fiber"},
		{bucket.Limit{Rate: 33.3, Capacity: 7.5}, ""},
		{bucket.Limit{Rate: 33.3, Capacity: 7}, "redis_rate throttled"},
		{bucket.Limit{Rate: 0.5, Capacity: 3}, "redis_rate throttled ulule fiber"},
		{bucket.Limit{Rate: 1.0 / 3, Capacity: 1}, "ulule fiber"},
		{bucket.Limit{Rate: 2e9, Capacity: 1}, "redis_rate"},
		{bucket.Limit{Rate: 1e-6, Capacity: 1e5}, "redis_rate"}, // 3,171 years, and a time.Duration ends at 292
		{bucket.Limit{Rate: bucket.MaxTokens, Capacity: bucket.MaxTokens}, "redis_rate ulule fiber"},
	}
	for _, tt := range tests {
		var fit []string
		for _, l := range All() {
			err := l.Fits(tt.limit)
			if err == nil {
				fit = append(fit, l.Name)
			} else if !errors.Is(err, bucket.ErrLimit) {
				t.Errorf("%s for %v: %v is no bucket.ErrLimit", l.Name, tt.limit, err)
			}
		}
		if got := strings.Join(fit, " "); got != tt.fit {
			t.Errorf("%v: fits %q, want %q", tt.limit, got, tt.fit)
		}
	}
}

func TestPerPeriod(t *testing.T) {
	for _, tt := range []struct {
		rate    float64
		n       int
		seconds float64
	}{{100, 100, 1}, {33.3, 333, 10}, {0.5, 5, 10}, {0.000000001, 1, 1e9}, {1e15, 1e15, 1}} {
		n, period, err := perPeriod(tt.rate)
		if err != nil || n != tt.n || period.Seconds() != tt.seconds {
			t.Errorf("%v: got %d in %v, %v, want %d in %v s", tt.rate, n, period, err, tt.n, tt.seconds)
		}
	}
}
