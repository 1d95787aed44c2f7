package check

import (
	"math"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// The state of a bucket of R = 10, C = 5 that was drained at 0 to 1 ms, looked
// at after 0.2 s, when at least 3 tokens are missing and 0.3 s of life are left
// to give.
func TestStateAudit(t *testing.T) {
	const ms = time.Millisecond
	drained := make([]history.Operation, 0, 6)
	for range 5 {
		drained = append(drained, op("i", history.Allowed, 0, 0.001))
	}
	look := func(complete bool, keys ...KeyState) Sample {
		return Sample{Call: int64(200 * ms), Return: int64(201 * ms), Key: "k", Keys: keys, Complete: complete}
	}
	key := func(ttl time.Duration, level float64) KeyState {
		return KeyState{Name: "rl:k", TTL: ttl, Tokens: level}
	}
	unread := math.NaN()
	for _, c := range []struct {
		name    string
		samples []Sample
		time    bucket.TimeSource
		want    Verdict
		says    string
	}{
		{"a right life", []Sample{look(false, key(301*ms, 2))}, "", Pass, "right life"},
		{"a full refill, as the reference gives", []Sample{look(false, key(500*ms, unread))}, "", Pass, "right life"},
		{"the longest of two keys counts", []Sample{look(false, key(20*ms, 2), key(301*ms, unread))}, "", Pass, ""},
		{"a millisecond short by rounding", []Sample{look(false, key(297*ms, 2))}, "", Pass, ""},
		{"too short", []Sample{look(false, key(100*ms, 2))}, "", Fail, "TTL too short"},
		{"no expiry", []Sample{look(false, key(NoExpiry, 2))}, "", Fail, "without an expiry"},
		{"one of two without expiry", []Sample{look(false, key(301*ms, 2), key(NoExpiry, unread))}, "", Fail, "without an expiry"},
		{"a thousandfold", []Sample{look(false, key(500*time.Second, 2))}, "", Fail, "absurdly long"},
		{"ten refills and a minute are long enough for anything", []Sample{look(false, key(65*time.Second, 2))}, "", Pass, ""},
		{"missing", []Sample{look(true)}, "", Fail, "key missing"},
		{"not searched for, so not known to be missing", []Sample{look(false)}, "", Skipped, "at none of 1 look"},
		{"missing under a name that was seen", []Sample{
			{Call: int64(100 * ms), Return: int64(100 * ms), Key: "k", Keys: []KeyState{key(400*ms, 1)}}, look(false),
		}, "", Fail, "key missing"},
		{"fuller than full", []Sample{look(false, key(301*ms, 5.1))}, "", Fail, "out of range"},
		{"below empty on one clock", []Sample{look(false, key(500*ms, -0.1))}, bucket.ServerTime, Fail, "out of range"},
		{"below empty by a reading as old as a call lasts", []Sample{look(false, key(500*ms, -0.01))}, bucket.CallerTime, Pass, ""},
		{"below empty by more", []Sample{look(false, key(500*ms, -0.5))}, bucket.CallerTime, Fail, "out of range"},
		{"below empty, seen by a look that began before the first request", []Sample{
			{Call: -int64(ms), Return: int64(2 * ms), Key: "k", Keys: []KeyState{key(500*ms, -0.015)}}, look(false, key(301*ms, 2)),
		}, bucket.CallerTime, Pass, ""},
		{"gone when full", []Sample{{Call: int64(600 * ms), Return: int64(601 * ms), Key: "k", Complete: true}}, "", Skipped, "at none"},
		{"another key", []Sample{{Call: int64(200 * ms), Return: int64(201 * ms), Key: "other", Complete: true}}, "", Skipped, "at none"},
		{"a leak on another key", []Sample{{Call: int64(200 * ms), Return: int64(201 * ms), Key: "other", Keys: []KeyState{key(NoExpiry, 0)}}}, "", Fail, "without an expiry"},
		{"nobody looked", nil, "", Skipped, "no key was looked at"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := Spec{Limit: bucket.Limit{Rate: 10, Capacity: 5}, Granularity: ms, Time: c.time}
			rep, err := Judge(spec, all(drained), c.samples)
			if err != nil {
				t.Fatal(err)
			}
			r := find(t, rep, StateAudit)
			if r.Verdict != c.want || !strings.Contains(r.Detail, c.says) {
				t.Errorf("%s: %s; want %s: … %s", r.Verdict, r.Detail, c.want, c.says)
			}
			if r.Verdict == Fail && (r.Evidence == nil || len(r.Evidence.Notes) == 0 || r.Value["violations"] == 0) {
				t.Errorf("a failure without evidence: %+v", r)
			}
		})
	}
}

// A limiter that gave out more than C is accused of that, not of a life that is
// one full refill from its last write.
func TestAuditAfterOverAdmission(t *testing.T) {
	var ops []history.Operation
	for range 40 {
		ops = append(ops, op("i", history.Allowed, 0, 0.001))
	}
	sample := Sample{Call: 3e8, Return: 3e8, Key: "k", Keys: []KeyState{{Name: "rl:k", TTL: 201 * time.Millisecond, Tokens: math.NaN()}}}
	gone := Sample{Call: 6e8, Return: 6e8, Key: "k", Complete: true}
	rep, err := Judge(Spec{Limit: bucket.Limit{Rate: 10, Capacity: 5}}, all(ops), []Sample{sample, gone})
	if err != nil {
		t.Fatal(err)
	}
	if r := find(t, rep, StateAudit); r.Verdict != Pass {
		t.Errorf("%s: %s", r.Verdict, r.Detail)
	}
}

// The reference on callers' clocks that disagree, with its own fixed life, is
// never accused of a wrong state; whatever over-admissions its skew causes.
func TestAuditOfCallerClocks(t *testing.T) {
	t.Parallel()
	owed := 0.0
	for seed := range uint64(cases(1500)) {
		w := callers(randomOf(seed, 21))
		w.ttl = ttlOf(w.limit)
		w.looks = 20
		ops := w.run()
		rep, err := Judge(Spec{Limit: w.limit, Granularity: time.Millisecond, Time: bucket.CallerTime}, all(ops), w.samples)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		r := find(t, rep, StateAudit)
		if r.Verdict == Fail {
			t.Fatalf("seed %d: %v: %s; %q", seed, w.limit, r.Detail, r.Evidence.Notes)
		}
		owed += r.Value["owed"]
	}
	if owed < 1000 {
		t.Errorf("a key had to exist at %v looks only", owed)
	}
}
