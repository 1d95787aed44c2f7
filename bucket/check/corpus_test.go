package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// known is a history whose verdicts are known. The limiter's clock has a
// granularity of 1 ms.
type known struct {
	name               string
	over, denial, rate Verdict
	peak, excess       float64 // tokens
	count, longest     float64 // spurious denials, seconds
	time               bucket.TimeSource
	why                string
}

// corpus is small histories in testdata, written by hand, and what is true of
// them.
var corpus = []known{
	{name: "nothing", over: Undecided, denial: Undecided, rate: Undecided, why: "no requests"},
	{name: "within", over: Pass, denial: Pass, rate: Pass, why: "a burst of C, then one as it is earned"},
	{name: "one-too-many", over: Fail, denial: Pass, rate: Fail, peak: 0.99, excess: 1, why: "C + 1 in a millisecond"},
	{name: "two-bursts", over: Fail, denial: Pass, rate: Fail, peak: 2, excess: 3, why: "7 and, after a full refill, 6: the peak is the larger, the excess the sum"},
	{name: "at-the-bound", over: Pass, denial: Pass, rate: Pass, why: "C + R·d exactly, windows closed at both ends"},
	{name: "ten-milliseconds-early", over: Fail, denial: Pass, rate: Fail, peak: 0.01, excess: 1, why: "0.01 tokens early is one grant too many"},
	{name: "shared-instant", over: Fail, denial: Pass, rate: Pass, peak: 1, excess: 1,
		why: "[0, 1], [1, 1], [1, 1]: windows share the instant 1, so 2 tokens at 1 and 3 in [0, 1]"},
	{name: "locked-out", over: Pass, denial: Fail, rate: Fail, count: 10, longest: 2.001,
		why: "slow is denied from 0.5 s to 2.501 s, then granted, then denied once"},
	{name: "dry", over: Pass, denial: Pass, rate: Pass, why: "a dry bucket earns its next token at 100 ms"},
	{name: "unknown-hides", over: Pass, denial: Undecided, rate: Pass, why: "five unknowns may have taken all five tokens, at any time"},
	{name: "unknown-after", over: Pass, denial: Fail, rate: Pass, count: 1, longest: 0.01, why: "the first denial came before them"},
	{name: "unsent-takes-nothing", over: Pass, denial: Fail, rate: Fail, count: 1, why: "what was never sent took nothing"},
	{name: "too-expensive", over: Pass, denial: Pass, rate: Skipped, why: "costs above C can only be denied"},
	{name: "all-denied", over: Pass, denial: Fail, rate: Pass, count: 10, longest: 0.901,
		why: "a bucket of 1 that nobody ever took from: the clock's granularity excuses nothing"},
	{name: "concurrency-hides", over: Pass, denial: Pass, rate: Pass, why: "20 too many if all were decided at 1, but they need not have been"},
	{name: "greedy-release", over: Pass, denial: Pass, rate: Pass, why: "[0.5, 2] and [1, 1.25], decided at 2 and 1"},
	{name: "greedy-deadline", over: Pass, denial: Pass, rate: Pass, why: "[0, 1.5] and [1, 1.25], decided at 0 and 1"},
	{name: "since-1970", over: Fail, denial: Pass, rate: Fail, peak: 3, excess: 3, why: "times in Unix nanoseconds"},
	{name: "keys-apart", over: Fail, denial: Pass, rate: Fail, peak: 3, excess: 4, why: "a bucket a key: a full one, 3 over, 1 over"},
	{name: "fractions", over: Fail, denial: Pass, rate: Skipped, peak: 0.25, excess: 0.249, why: "0.25 tokens over; the excess is less the slack"},
	{name: "earned-during-a-call", over: Pass, denial: Pass, rate: Pass, why: "denied at its start, though a token was earned before it returned"},
	{name: "all-at-once-denied", over: Pass, denial: Undecided, rate: Pass,
		why: "C = 1 and others under way: what is left after one reading too old is less than 1"},
	{name: "all-at-once-denied", over: Pass, denial: Fail, rate: Pass, time: bucket.ServerTime, count: 5, longest: 0.001,
		why: "the same on one clock: the first to be decided found a full bucket, and a denial takes nothing"},
}

func TestCorpus(t *testing.T) {
	for _, c := range corpus {
		t.Run(c.name, func(t *testing.T) {
			rep := judgeFile(t, filepath.Join("testdata", c.name+".jsonl"), c.time)
			over, denial, rate := find(t, rep, OverAdmission), find(t, rep, SpuriousDenial), find(t, rep, AcceptRate)
			for _, r := range []struct {
				Result
				want Verdict
			}{{over, c.over}, {denial, c.denial}, {rate, c.rate}} {
				if r.Verdict != r.want {
					t.Errorf("%s is %s, want %s (%s): %s", r.Name, r.Verdict, r.want, c.why, r.Detail)
				}
			}
			for _, f := range []struct {
				name      string
				got, want float64
			}{
				{"peak_excess", over.Value["peak_excess"], c.peak}, {"excess", over.Value["excess"], c.excess},
				{"count", denial.Value["count"], c.count}, {"longest_s", denial.Value["longest_s"], c.longest},
			} {
				if !near(f.got, f.want) {
					t.Errorf("%s is %v, want %v (%s)", f.name, f.got, f.want, c.why)
				}
			}
		})
	}
}

// Every history in testdata has its verdict.
func TestCorpusIsComplete(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".jsonl")
		if !slices.ContainsFunc(corpus, func(k known) bool { return k.name == name }) {
			t.Errorf("%s has no verdict", f)
		}
	}
}

func judgeFile(t *testing.T, path string, clock bucket.TimeSource) Report {
	t.Helper()
	f, err := history.Open(path, os.Stdin, history.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	spec := Spec{Limit: limitOf(t, f), Granularity: time.Millisecond, Time: clock}
	rep, err := Judge(spec, f.Operations(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func limitOf(t *testing.T, f *history.File) bucket.Limit {
	t.Helper()
	h := f.Header()
	if h.Limit == nil {
		t.Fatal("the history does not say its limit")
	}
	return *h.Limit
}
