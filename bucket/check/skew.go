package check

import (
	"math"

	"bucketproof/bucket"
	"bucketproof/bucket/history"
)

// skews is what a key's requests show of their callers' clocks. A skew is the
// clock's reading at the call minus the call, in ns up to one constant.
type skews struct {
	least, most int64 // of the requests called so far; least > most: none known
	longest     int64 // D: the longest return − call of an answered request, ns
	unknown     bool  // one request is unknown: its reading may be of any age
}

func (k *skews) reset() { *k = skews{least: math.MaxInt64, most: math.MinInt64} }

func (k *skews) see(q *request) {
	if q.outcome == history.Unknown {
		k.unknown = true
	} else {
		k.longest = max(k.longest, q.ret-q.call)
	}
	if q.skew != noSkew {
		k.least, k.most = min(k.least, q.skew), max(k.most, q.skew+q.wide)
	}
}

// spread is S: the largest difference between two skews, in ns.
func (k *skews) spread() int64 {
	if k.least > k.most {
		return 0
	}
	return k.most - k.least
}

// ahead is by how much the fastest clock seen so far is ahead of q's, in ns;
// where q's is not known it is the whole spread.
func (k *skews) ahead(q *request) int64 {
	if q.skew == noSkew || k.least > k.most {
		return k.spread()
	}
	return k.most - q.skew
}

// ageless is an age of a reading that nothing bounds, in ns.
const ageless = math.MaxInt64 / 4

// offsets is the spread of o in ns, where o = (what the limiter took for now)
// − (the instant it decided) = skew − age of the reading: at most S + D for the
// caller's clock, D for a process that reads its own, and 0 for a server that
// reads its clock as it decides. Nothing bounds the age of an unknown request's
// reading: one was seen charged 94 ms after its caller had gone.
func (k *skews) offsets(t bucket.TimeSource) int64 {
	switch {
	case t != bucket.CallerTime && t != bucket.ProcessTime:
		return 0
	case k.unknown:
		return ageless
	case t == bucket.ProcessTime:
		return k.longest
	}
	return k.spread() + k.longest
}
