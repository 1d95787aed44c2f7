package reports

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"bucketproof/bucket"
	"bucketproof/bucket/check"
	"bucketproof/reports/quantity"
)

// sentences say what a check found, and what the clocks explain of it.
func sentences(run Run, c Check) []string {
	var list []string
	if c.Detail != "" {
		list = append(list, sentence(c.Detail))
	}
	if s := explanation(run, c); s != "" {
		list = append(list, s)
	}
	if s := surprise(run, c); s != "" {
		list = append(list, s)
	}
	if knownFault(c) {
		list = append(list, sentence("Known: "+c.Known))
	}
	return list
}

// explanation puts the ideal verdict and the predicted one side by side, for a
// check that failed.
func explanation(run Run, c Check) string {
	if c.Verdict != string(check.Fail) {
		return ""
	}
	if run.isWindowed() {
		return "" // nothing is predicted
	}
	if c.Name == check.OverAdmission && (run.Time == string(bucket.CallerTime) || run.ServerClock != nil) {
		return explainExcess(run, c)
	}
	if c.WithinPrediction {
		return "This is no more than the limiter's own clock rule explains."
	}
	return ""
}

func explainExcess(run Run, c Check) string {
	excess := fmt.Sprintf("It exceeds the ideal bound by %s;", quantity.Tokens(c.Value["peak_excess"]))
	most, known := c.Value["predicted_peak_excess"]
	if !known {
		most = run.Theory.PredictedPeakExcess
	}
	predicted := "up to " + quantity.Number(most)
	if n := float64(run.Counts.Allowed); n > 0 && most > n {
		predicted = "any number of them"
	}
	switch {
	case c.WithinPrediction:
		return fmt.Sprintf("%s %s %s.", excess, clockCause(run, c), predicted)
	case most > 0:
		return fmt.Sprintf("%s %s no more than %s: the limiter adds a fault of its own.", excess, clockCause(run, c), quantity.Number(most))
	}
	return excess + " the clocks explain none of it."
}

// clockCause names what the clocks did to a window, with its verb.
func clockCause(run Run, c Check) string {
	spread, known := c.Value["spread_s"]
	if !known {
		spread = clockSpread(run)
	}
	clocks := "the clocks' spread"
	if byServer(run) {
		clocks = "the shift of the server's clock"
	}
	if c.Value["leaps"] > 0 {
		return "the key that expired early as the server's clock went forward explains"
	}
	expiries := c.Value["expiries"]
	gone := quantity.Plural(quantity.Number(expiries), "possible expiry")
	if expiries > 1 {
		gone = quantity.Number(expiries) + " possible expiries"
	}
	switch {
	case spread > 0 && expiries > 0:
		return fmt.Sprintf("%s of %s and %s of the key explain", clocks, quantity.Seconds(spread), gone)
	case spread > 0:
		return fmt.Sprintf("%s of %s explains", clocks, quantity.Seconds(spread))
	case expiries > 0:
		return fmt.Sprintf("the clocks and %s of the key explain", gone)
	}
	return "the clocks explain"
}

// surprise says why a verdict is not the expected one.
func surprise(run Run, c Check) string {
	switch {
	case stateOfCheck(run, c) != unexpected:
		return ""
	case c.Verdict == string(check.Pass):
		return "A fault was expected here and not found."
	}
	return "It was expected to pass."
}

// clockSpread is the largest difference between two readings of the clocks that
// the limiter decides by, at any time of the run, in seconds, jitter left out: of
// the instances' or, where the server's was changed, of that one.
func clockSpread(run Run) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	note := func(offset float64) { low, high = min(low, offset), max(high, offset) }
	for _, clock := range decisive(run) {
		offset := clock.OffsetS
		note(offset)
		for _, step := range clock.Steps {
			offset += step.ByS
			note(offset)
		}
		if clock.Strobe != nil {
			note(clock.OffsetS + clock.Strobe.ByS)
		}
		if clock.Freeze != nil {
			note(offset - clock.Freeze.ForS)
		}
		note(offset + clock.DriftPPM*1e-6*run.DurationS)
	}
	if low > high {
		return 0
	}
	return high - low
}

// byServer says whether the limiter decides by a clock of the server's that was
// changed.
func byServer(run Run) bool {
	return run.ServerClock != nil && run.Time == string(bucket.ServerTime)
}

// decisive are the clocks that clockSpread is about.
func decisive(run Run) []Clock {
	if byServer(run) {
		return []Clock{*run.ServerClock}
	}
	var list []Clock
	for _, in := range run.Instances {
		list = append(list, in.Clock)
	}
	return list
}

// witnessWords say how a run was recorded.
func witnessWords(run Run) string {
	if run.Witness {
		return "true order recorded in Redis"
	}
	return "seen from outside"
}

// clockWords describes an instance's clock.
func clockWords(c Clock) string {
	var parts []string
	if c.OffsetS != 0 {
		parts = append(parts, quantity.Signed(c.OffsetS))
	}
	if c.DriftPPM != 0 {
		parts = append(parts, quantity.Number(c.DriftPPM)+" ppm")
	}
	if c.JitterS != 0 {
		parts = append(parts, "±"+quantity.Seconds(c.JitterS))
	}
	for _, step := range c.Steps {
		parts = append(parts, quantity.Signed(step.ByS)+" at "+quantity.Seconds(step.AtS))
	}
	if s := c.Strobe; s != nil {
		parts = append(parts, quantity.Signed(s.ByS)+" and back every "+quantity.Seconds(s.EveryS))
	}
	if f := c.Freeze; f != nil {
		parts = append(parts, "stands still at "+quantity.Seconds(f.AtS)+" for "+quantity.Seconds(f.ForS))
	}
	if len(parts) == 0 {
		return "exact"
	}
	return strings.Join(parts, ", ")
}

// mainFigure is what a check measured, in a few words; "" when it measured
// nothing.
func mainFigure(c Check) string {
	v := c.Value
	switch c.Name {
	case check.OverAdmission:
		if v["peak_excess"] == 0 {
			return "none over"
		}
		words := quantity.Number(v["peak_excess"]) + " over the bound"
		if excess, ok := v["excess"]; ok && excess > 0 {
			words += ", " + quantity.Number(excess) + " too many in all"
		}
		return words
	case check.SpuriousDenial:
		if v["count"] == 0 {
			return "none wrong"
		}
		words := quantity.Number(v["count"]) + " denied wrongly"
		if v["longest_s"] > 0 {
			words += ", " + quantity.Seconds(v["longest_s"]) + " on end"
		}
		return words
	case check.AcceptRate:
		if ratio, ok := v["ratio"]; ok {
			return quantity.Number(ratio) + " times the ideal"
		}
	case check.Fairness:
		if ratio, ok := v["smallest_ratio"]; ok {
			return "least: " + quantity.Number(ratio) + " of a fair share"
		}
	case check.StateAudit, check.ReplyContract:
		if v["violations"] > 0 {
			return quantity.Plural(quantity.Number(v["violations"]), "violation")
		}
	case check.Replay:
		if compared, ok := v["compared"]; ok {
			return quantity.Plural(quantity.Number(v["divergences"]), "divergence") + " of " + quantity.Number(compared) + " compared"
		}
	case check.Linearizability:
		return map[string]string{string(check.Pass): "a legal order exists", string(check.Fail): "no legal order"}[c.Verdict]
	case check.Accounting:
	default:
		var parts []string
		for _, name := range sortedKeys(v) {
			parts = append(parts, valueWords(name, v[name]))
		}
		return strings.Join(parts[:min(len(parts), 2)], ", ")
	}
	return ""
}

func sortedKeys(m map[string]float64) []string {
	return slices.Sorted(maps.Keys(m))
}

// valueWords writes one figure of a check by the unit that its name ends in.
func valueWords(name string, v float64) string {
	switch {
	case strings.HasSuffix(name, "_s"):
		return spaced(strings.TrimSuffix(name, "_s")) + " " + quantity.Seconds(v)
	case strings.HasSuffix(name, "_us"):
		return spaced(strings.TrimSuffix(name, "_us")) + " " + quantity.Micros(v)
	}
	return spaced(name) + " " + quantity.Number(v)
}

func spaced(name string) string {
	return strings.ReplaceAll(name, "_", " ")
}

// evidenceOf decodes a check's evidence; what does not fit is left out.
func evidenceOf(c Check) Evidence {
	var e Evidence
	if len(c.Evidence) > 0 {
		_ = json.Unmarshal(c.Evidence, &e) // renderers print what they know
	}
	return e
}

// sentence begins with a capital, unless its first word is a name, and ends in
// a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return s
	}
	first, _, _ := strings.Cut(s, " ")
	if strings.IndexFunc(first, func(r rune) bool { return r < 'a' || r > 'z' }) < 0 {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	if strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}
