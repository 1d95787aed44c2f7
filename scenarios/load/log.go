package load

import (
	"fmt"
	"io"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// WriteLog writes l as an HdrHistogram log, format 1.3 with V2 histograms: one
// interval each with the tags response, service and lag, values in
// nanoseconds. Times are seconds on the history's clock. l must not be added to
// meanwhile.
func WriteLog(w io.Writer, l *Latency) error {
	log := hdr.NewHistogramLogWriter(w)
	if err := log.OutputLogFormatVersion(); err != nil {
		return fmt.Errorf("write latency log: %w", err)
	}
	if err := log.OutputComment(" values in ns; response: due to return, service: call to return, lag: due to call"); err != nil {
		return fmt.Errorf("write latency log: %w", err)
	}
	if err := log.OutputLegend(); err != nil {
		return fmt.Errorf("write latency log: %w", err)
	}
	for _, tagged := range []struct {
		tag string
		d   *Distribution
	}{{"response", l.Response}, {"service", l.Service}, {"lag", l.Lag}} {
		if err := l.interval(log, tagged.tag, tagged.d); err != nil {
			return fmt.Errorf("write latency log: %s: %w", tagged.tag, err)
		}
	}
	return nil
}

// interval writes d as one line, and what d does not hold as a comment.
func (l *Latency) interval(log *hdr.HistogramLogWriter, tag string, d *Distribution) error {
	if d.Outside() > 0 {
		if err := log.OutputComment(fmt.Sprintf(" %s: %d more below 0 or above %v", tag, d.Outside(), Longest)); err != nil {
			return err
		}
	}
	d.histogram.SetTag(tag)
	d.histogram.SetStartTimeMs(l.first / 1e6)
	d.histogram.SetEndTimeMs(l.last / 1e6)
	return log.OutputIntervalHistogram(d.histogram)
}
