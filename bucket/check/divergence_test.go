package check

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// spaced is a witnessed run of one caller, every 10 ms, at R = 100 and C = 5:
// it asks for a token as often as one is earned.
func spaced(n int) *watched {
	w := &watched{rule: bucket.RuleRedisTime, source: bucket.ServerTime, limit: bucket.Limit{Rate: 100, Capacity: 5}, ahead: int64(epoch)}
	for i := range n {
		at := int64(i)*int64(10*time.Millisecond) + 1_000_000
		w.add(nil, at, "k", "web-1", 0, plan{arrives: at + 100_000, took: 30_000, back: 100_000})
	}
	return w
}

// Each kind of divergence is told in words, with the numbers that differ.
func TestDivergenceInWords(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Spec, []history.Operation)
		says   string
	}{
		{"denied", func(_ *Spec, ops []history.Operation) { ops[6].Outcome = history.Denied },
			"decision 7 of instance web-1, key k: it was denied, the model holds 5 tokens and grants its 1"},
		{"allowed", func(s *Spec, ops []history.Operation) { s.Limit.Capacity = 0.5 },
			"decision 1 of instance web-1, key k: it was allowed, the model holds 0.5 tokens and denies its 1"},
		{"one bit", func(_ *Spec, ops []history.Operation) { ops[6].Witness.After.Tokens = math.Nextafter(4, 5) },
			"decision 7 of instance web-1, key k: 4.0000000000000009 tokens were stored, the model stores 4; the first of 2"},
		{"another level", func(_ *Spec, ops []history.Operation) { ops[6].Witness.After.Tokens = 3.25 },
			"decision 7 of instance web-1, key k: 3.25 tokens were stored, the model stores 4; the first of 2"},
		{"another time", func(s *Spec, ops []history.Operation) { s.ShiftedTime = true; s.Time = bucket.CallerTime },
			"decision 1 of instance web-1, key k: the time 1764547200001115 was stored, the model stores 1764547200001000; the first of 9"},
		{"not the server's time", func(_ *Spec, ops []history.Operation) { ops[6].Witness.After.Time += 1e3 },
			"decision 7 of instance web-1, key k: it was decided at 1764547200062115, the server's clock went from 1764547200061100 to 1764547200061130 µs meanwhile"},
		{"changed between", func(_ *Spec, ops []history.Operation) { ops[6].Witness.Before.Tokens = 2 },
			"decision 7 of instance web-1, key k: 2 tokens were stored before it, the decision ahead of it left 4"},
		{"gone", func(_ *Spec, ops []history.Operation) { ops[6].Witness.Before = bucket.State{} },
			"decision 7 of instance web-1, key k: its key was gone 10 ms after the decision ahead of it, a full refill takes 50 ms"},
		{"never stored", func(_ *Spec, ops []history.Operation) {
			ops[5].Witness.After, ops[6].Witness.Before = bucket.State{}, bucket.State{}
			ops[5].Witness.AfterMicros = ops[5].Witness.BeforeMicros + 20
		}, "decision 7 of instance web-1, key k: the decision ahead of it stored nothing"},
		{"appeared", func(_ *Spec, ops []history.Operation) { ops[5].Witness.After = bucket.State{} },
			"decision 7 of instance web-1, key k: 4 tokens were stored before it, the decision ahead of it left no key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := spaced(9)
			ops, spec := w.run(), w.spec()
			c.change(&spec, ops)
			r := find(t, judged(t, spec, ops), Replay)
			if r.Verdict != Fail || !strings.HasPrefix(r.Detail, c.says) {
				t.Fatalf("%s: %s\nwant %s", r.Verdict, r.Detail, c.says)
			}
			if r.Evidence.Key != "k" || len(r.Evidence.Notes) != len(r.Evidence.Operations)+1 || len(r.Evidence.Operations) > shownAhead+1+shownBehind {
				t.Errorf("evidence: %d operations, notes %q", len(r.Evidence.Operations), r.Evidence.Notes)
			}
			if !slices.ContainsFunc(r.Evidence.Notes, func(n string) bool { return strings.HasPrefix(n, "model at decision") }) {
				t.Errorf("no model in the notes %q", r.Evidence.Notes)
			}
		})
	}
}

// The picture of a key without an order is one page, of the requests up to the
// one that has no place.
func TestDrawLinearization(t *testing.T) {
	w := spaced(40)
	ops, spec := w.run(), w.spec()
	spec.LinearizeTimeout = 0
	ops[20].Outcome = history.Denied
	r := find(t, judged(t, spec, ops), Linearizability)
	if r.Verdict != Fail || r.Value["shortest"] != 21 {
		t.Fatalf("%s: %s", r.Verdict, r.Detail)
	}
	var page bytes.Buffer
	if err := DrawLinearization(&page, spec, all(ops), r.Evidence.Key); err != nil {
		t.Fatal(err)
	}
	if s := page.String(); !strings.Contains(s, "<html") || !strings.Contains(s, "1 → denied #21") || strings.Contains(s, "#22") {
		t.Errorf("the page of %d bytes does not show decision 21 and end behind it", page.Len())
	}
	if err := DrawLinearization(&page, spec, all(ops), "nobody"); err == nil {
		t.Error("a key that nobody called was drawn")
	}
}
