package load

import (
	"math"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"bucketproof/bucket/history"
)

// Latency is how long requests took, in three distributions. Response and
// Service count every request that was sent and returned, an unknown one with
// the time after which its caller gave up, since leaving it out would hide the
// slowest; Lag counts those too. It is not for concurrent use.
type Latency struct {
	Response *Distribution // Return − Due: what a user waits; no coordinated omission
	Service  *Distribution // Return − Call, a hold included: what the limiter and its Redis took
	Lag      *Distribution // Call − Due: how late the load generator was

	// Omitted is how many requests are in none of them: unsent ones, and
	// unknown ones that never returned.
	Omitted int64

	first, last int64 // the smallest Due and the largest Return, ns; of those not omitted
	sent        int64 // those not omitted
	onTime      int64 // of those sent
}

// Punctual is how late a request may be sent and count as on time.
const Punctual = time.Millisecond

// OnTime is the share, 0 to 1, of the requests not omitted that were sent at
// most [Punctual] after they were due; 1 when there are none.
func (l *Latency) OnTime() float64 {
	if l.sent == 0 {
		return 1
	}
	return float64(l.onTime) / float64(l.sent)
}

// NewLatency returns an empty Latency.
func NewLatency() *Latency {
	return &Latency{Response: NewDistribution(), Service: NewDistribution(), Lag: NewDistribution()}
}

// Measure returns the latency of ops.
func Measure(ops []history.Operation) *Latency {
	l := NewLatency()
	for i := range ops {
		l.Add(&ops[i])
	}
	return l
}

// Add counts op.
func (l *Latency) Add(op *history.Operation) {
	if op.Outcome == history.Unsent || op.Return == history.Forever {
		l.Omitted++
		return
	}
	if l.sent == 0 {
		l.first, l.last = op.Due, op.Return
	}
	l.first, l.last = min(l.first, op.Due), max(l.last, op.Return)
	l.Response.Add(time.Duration(op.Return - op.Due))
	l.Service.Add(time.Duration(op.Return - op.Call))
	l.Lag.Add(time.Duration(op.Call - op.Due))
	l.sent++
	if op.Call-op.Due <= int64(Punctual) {
		l.onTime++
	}
}

// Distribution is a histogram of durations from 0 to [Longest], exact to
// 3 significant digits. It is not for concurrent use.
type Distribution struct {
	histogram *hdr.Histogram
	outside   int64
	sum       float64 // ns, of what is inside
	longest   time.Duration
}

// Longest is the longest duration a [Distribution] takes.
const Longest = time.Hour

// NewDistribution returns an empty Distribution.
func NewDistribution() *Distribution {
	return &Distribution{histogram: hdr.New(1, int64(Longest), 3)}
}

// Add counts t, or counts it as outside.
func (d *Distribution) Add(t time.Duration) {
	if t < 0 || t > Longest || d.histogram.RecordValue(int64(t)) != nil {
		d.outside++
		return
	}
	d.sum += float64(t)
	d.longest = max(d.longest, t)
}

// Count is how many durations d holds, those outside its range not among them.
func (d *Distribution) Count() int64 { return d.histogram.TotalCount() }

// Outside is how many durations were below 0 or above [Longest].
func (d *Distribution) Outside() int64 { return d.outside }

// Quantile is the shortest duration that at least a share q, 0 to 1, of the
// durations does not exceed, to 3 significant digits; 0 when d is empty.
func (d *Distribution) Quantile(q float64) time.Duration {
	n := float64(d.Count())
	if n == 0 {
		return 0
	}
	// The library rounds q·n to the nearest rank, which may be one too low.
	// The 1e-9 is for products like 0.999·1000.
	rank := max(math.Ceil(q*n*(1-1e-9)), 1)
	return min(time.Duration(d.histogram.ValueAtPercentile(100*(rank-0.25)/n)), d.longest)
}

// Max is the longest duration, exactly; 0 when d is empty.
func (d *Distribution) Max() time.Duration { return d.longest }

// Mean is the mean duration; 0 when d is empty.
func (d *Distribution) Mean() time.Duration {
	if d.Count() == 0 {
		return 0
	}
	return time.Duration(math.Round(d.sum / float64(d.Count())))
}

// Summary is a distribution as results show it: in µs.
type Summary struct {
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
	Mean float64 `json:"mean"`
}

// Summary returns d's figures; all of them are 0 when d is empty.
func (d *Distribution) Summary() Summary {
	return Summary{
		P50:  micros(d.Quantile(0.5)),
		P90:  micros(d.Quantile(0.9)),
		P99:  micros(d.Quantile(0.99)),
		P999: micros(d.Quantile(0.999)),
		Max:  micros(d.Max()),
		Mean: micros(d.Mean()),
	}
}

func micros(t time.Duration) float64 { return float64(t) / float64(time.Microsecond) }
