package load_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"bucketproof/bucket/history"
	"bucketproof/scenarios/load"
)

func TestMeasure(t *testing.T) {
	const ms = int64(time.Millisecond)
	l := load.Measure([]history.Operation{
		{Due: 10 * ms, Call: 11 * ms, Return: 13 * ms, Outcome: history.Allowed},
		{Due: 20 * ms, Call: 20 * ms, Return: 24 * ms, Outcome: history.Denied},
		{Due: 30 * ms, Call: 30 * ms, Return: 130 * ms, Outcome: history.Unknown},
		{Due: 40 * ms, Call: 40 * ms, Return: 40 * ms, Outcome: history.Unsent},
		{Due: 40 * ms, Call: 40 * ms, Return: history.Forever, Outcome: history.Unknown},
		{Due: 60 * ms, Call: 50 * ms, Return: 51 * ms, Outcome: history.Allowed},    // before its time
		{Due: 0, Call: 0, Return: 2 * int64(time.Hour), Outcome: history.Allowed},   // far too long
		{Due: -9 * ms, Call: 0, Return: int64(time.Hour), Outcome: history.Allowed}, // too long from due only
	})
	if l.Omitted != 2 {
		t.Errorf("omitted %d, want 2", l.Omitted)
	}
	if got, want := l.OnTime(), 5.0/6; got != want { // one was 9 ms late, one just a millisecond
		t.Errorf("on time %v, want %v", got, want)
	}
	if got := load.NewLatency().OnTime(); got != 1 {
		t.Errorf("of none %v are on time, want 1", got)
	}
	for name, test := range map[string]struct {
		d              *load.Distribution
		count, outside int64
		max, mean      time.Duration
	}{
		"response": {l.Response, 3, 3, 100 * time.Millisecond, 35_666_667},
		"service":  {l.Service, 5, 1, time.Hour, 720_021_400_000},
		"lag":      {l.Lag, 5, 1, 9 * time.Millisecond, 2 * time.Millisecond},
	} {
		if test.d.Count() != test.count || test.d.Outside() != test.outside || test.d.Max() != test.max || test.d.Mean() != test.mean {
			t.Errorf("%s: count %d, outside %d, max %v, mean %v, want %+v",
				name, test.d.Count(), test.d.Outside(), test.d.Max(), test.d.Mean(), test)
		}
	}
}

func TestSummaryIsInMicroseconds(t *testing.T) {
	d := load.NewDistribution()
	if got := d.Summary(); got != (load.Summary{}) {
		t.Errorf("an empty distribution: %+v, want zeros", got)
	}
	for i := 1; i <= 1000; i++ {
		d.Add(time.Duration(i) * time.Microsecond)
	}
	want := load.Summary{P50: 500, P90: 900, P99: 990, P999: 999, Max: 1000, Mean: 500.5}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-3*b })
	if diff := cmp.Diff(want, d.Summary(), near); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestQuantileAgainstSorting: to 3 significant digits it is the shortest
// duration that a share q does not exceed.
func TestQuantileAgainstSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		durations := rapid.SliceOfN(rapid.Int64Range(0, int64(load.Longest)), 1, 50).Draw(t, "durations")
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		d := load.NewDistribution()
		for _, v := range durations {
			d.Add(time.Duration(v))
		}
		slices.Sort(durations)
		// A rank within rounding of two may be either.
		rank := q * float64(len(durations))
		low := durations[max(int(math.Ceil(rank-1e-6)), 1)-1]
		high := durations[min(max(int(math.Ceil(rank+1e-6)), 1), len(durations))-1]
		got := float64(d.Quantile(q))
		if got < float64(low)*(1-1e-3) || got > float64(high)*(1+1e-3)+1 {
			t.Fatalf("quantile %v of %v: %v, want %v to %v", q, durations, got, low, high)
		}
	})
}

func TestLogRoundTrip(t *testing.T) {
	l := load.NewLatency()
	for i := range int64(1000) {
		l.Add(&history.Operation{Due: 1e9 + i, Call: 1e9 + i + 5, Return: 3e9, Outcome: history.Allowed})
	}
	l.Add(&history.Operation{Due: 3e9, Call: 1e9, Return: 2e9, Outcome: history.Allowed}) // outside
	var text bytes.Buffer
	if err := load.WriteLog(&text, l); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "# lag: 1 more below 0 or above 1h0m0s\n") {
		t.Errorf("what is outside is not told:\n%.500s", text.String())
	}
	r := hdr.NewHistogramLogReader(&text)
	for _, want := range []struct {
		tag string
		d   *load.Distribution
	}{{"response", l.Response}, {"service", l.Service}, {"lag", l.Lag}} {
		got, err := r.NextIntervalHistogram()
		if err != nil || got == nil {
			t.Fatalf("%s: %v, %v", want.tag, got, err)
		}
		if got.Tag() != want.tag || got.TotalCount() != want.d.Count() || time.Duration(got.ValueAtPercentile(50)) < want.d.Quantile(0.5) {
			t.Errorf("tag %s, %d values, median %d, want %s, %d, %d",
				got.Tag(), got.TotalCount(), got.ValueAtPercentile(50), want.tag, want.d.Count(), want.d.Quantile(0.5))
		}
		if got.StartTimeMs() != 1000 || got.EndTimeMs() != 3000 {
			t.Errorf("%s: from %d to %d ms, want 1000 to 3000", want.tag, got.StartTimeMs(), got.EndTimeMs())
		}
	}
}

// full is a disk with place for some writes.
type full struct{ left int }

var errFull = errors.New("no space left")

func (f *full) Write(b []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestWriteLogReportsAFullDisk(t *testing.T) {
	l := load.NewLatency()
	l.Add(&history.Operation{Due: 3, Call: 1, Return: 2, Outcome: history.Allowed})
	for left := range 8 {
		if err := load.WriteLog(&full{left}, l); !errors.Is(err, errFull) {
			t.Errorf("full after %d writes: %v", left, err)
		}
	}
	if err := load.WriteLog(&full{8}, l); err != nil {
		t.Error(err)
	}
}
