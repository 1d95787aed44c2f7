package check

import (
	"fmt"

	"bucketproof/bucket"
)

// breaches is where the replies on one key were wrong.
type breaches struct {
	ranges  int64 // remaining below 0 or above C
	rises   int64 // remaining that rose faster than the rate
	denials int64 // denied after waiting as told

	unexplained int64 // nor does the callers' clocks' rule explain it
	short, long int64 // by how much hints were too short (at least) and too long (at least), ns
	notes       []string
	around      []int64 // operations
}

func (b *breaches) count() int64 { return b.ranges + b.rises + b.denials }

// breach notes one of them. late is by how many ns the limiter's clock would
// have had to be off. Callers' clocks explain it when they disagree so much.
func (c *conversation) breach(r *reading, s *sweep, late float64, around []int64, format string, args ...any) {
	b := &c.broken
	if r.rules.clock != bucket.CallerTime || late > float64(s.skews.spread()+s.skews.longest+r.rules.grain)+hintError {
		b.unexplained++
	}
	if len(b.notes) < notesMost {
		b.notes = append(b.notes, fmt.Sprintf("at %s: ", r.moment(c.last.call))+fmt.Sprintf(format, args...))
		b.around = append(b.around, around...)
	}
}

// moment writes an instant of the history, as span writes two.
func (r *reading) moment(at int64) string {
	if r.origin < 0 || r.origin > int64(1e12) {
		return fmt.Sprintf("%.3f s after the first call", float64(at)/1e9)
	}
	return fmt.Sprintf("%.3f s", float64(r.origin+at)/1e9)
}

// replyContract is the result of check 8: what the limiter tells beside yes and
// no is true of lone calls.
func (r *reading) replyContract(again *recall) Result {
	res := Result{Name: ReplyContract, WithinPrediction: true, Value: map[string]float64{}}
	if !r.tells {
		return res.skip("the limiter tells neither what remains nor when to retry")
	}
	var sum breaches
	var judged int64
	for _, s := range r.order {
		c := &s.replies
		judged += c.judged
		n := c.broken.count()
		k := KeyResult{Key: s.key, Verdict: Pass, Figure: float64(n)}
		switch {
		case n > 0:
			k.Verdict = Fail
		case c.judged == 0:
			k.Verdict = Skipped
		}
		res.Keys = append(res.Keys, k)
		sum.add(&c.broken)
	}
	res.Keys = perKey(res.Keys)
	res.Value["judged"], res.Value["violations"] = float64(judged), float64(sum.count())
	res.Value["retry_after_short_s"], res.Value["retry_after_long_s"] = float64(sum.short)/1e9, float64(sum.long)/1e9
	switch worst := r.liar(); {
	case worst != nil:
		b := &worst.replies.broken
		res.Verdict, res.WithinPrediction = Fail, r.rules.clock == bucket.CallerTime && sum.unexplained == 0
		res.Detail = fmt.Sprintf("%s in %s: %s%s", falsehoods(sum.count()), many(judged, "lone call"), b.notes[0], onKey(worst.key))
		res.Evidence = &Evidence{Key: worst.key, Operations: again.album.shown[ofReplies], Notes: b.notes}
	case judged == 0:
		return res.skip("no call was alone on its key")
	default:
		res.Verdict = Pass
		res.Detail = fmt.Sprintf("what %s told is true", many(judged, "lone call"))
		if sum.long > 0 {
			res.Detail += fmt.Sprintf("; a retry_after was up to %s longer than an empty bucket needs", length(sum.long))
		}
	}
	return res
}

func falsehoods(n int64) string {
	if n == 1 {
		return "1 false reply"
	}
	return fmt.Sprintf("%d false replies", n)
}

// liar is the key with the most false replies; nil when there is none.
func (r *reading) liar() *sweep {
	var most *sweep
	for _, s := range r.order {
		if n := s.replies.broken.count(); n > 0 && (most == nil || n > most.replies.broken.count()) {
			most = s
		}
	}
	return most
}

func (b *breaches) add(d *breaches) {
	b.ranges += d.ranges
	b.rises += d.rises
	b.denials += d.denials
	b.unexplained += d.unexplained
	b.short, b.long = max(b.short, d.short), max(b.long, d.long)
}
