package check

import "bucketproof/bucket"

// doubt says why checks 1 and 2 cannot be judged at the server's instants; ""
// when they can.
func (v *server) doubt() string {
	strays := v.of.counts.Answered() - v.answered
	switch {
	case v.back > 0:
		return "the server's clock went back by " + length(v.back)
	case v.disorder > 0:
		return "the server's clock and the numbers of its decisions disagree"
	case strays > 0:
		return many(strays, "answer") + " came without the server's time"
	}
	return ""
}

// exact says that checks 1 and 2 are judged at the server's instants: the
// limiter decides by the clock that tells them. The age of a caller's reading is
// no fault, and would be one there.
func (v *server) exact() bool {
	return v != nil && v.spec.Time == bucket.ServerTime && v.doubt() == ""
}

// bounds are the results of checks 1 and 2: at the server's instants where the
// limiter decides by its clock, else on [call, return]. What those show is a
// fault all the same: a server's clock that leaps forward grants what it does by
// its own time, and too much by everybody else's.
func (r *reading) bounds(again *recall) (over, spurious Result) {
	over, spurious = r.overAdmission(again), r.spuriousDenial(again)
	v := r.server
	if v == nil {
		return over, spurious
	}
	if v.exact() {
		return adopt(over, v.overAdmission(again.exact)), adopt(spurious, v.spuriousDenial(again.exact))
	}
	if why := v.doubt(); v.spec.Time == bucket.ServerTime {
		over.Detail += "; judged on the callers' times: " + why
		return over, spurious
	}
	if v.back == 0 && v.disorder == 0 {
		over.Value["server_excess"] = 0
		for _, s := range v.order {
			over.Value["server_excess"] = max(over.Value["server_excess"], s.over.peak)
		}
	}
	return over, spurious
}

// atServer is the figure that tells, as 1, that a result is judged at the
// server's instants.
const atServer = "at_server"

// adopt is the result at the server's instants, unless only the one on [call,
// return] is a failure.
func adopt(outside, exact Result) Result {
	if outside.Verdict == Fail && exact.Verdict != Fail {
		outside.Detail += "; by the server's own clock nothing is wrong"
		return outside
	}
	exact.Value[atServer] = 1
	return exact
}

// members are the instances with what they suffered at the server's instants.
func (v *server) members(all []InstanceSummary) []InstanceSummary {
	found := make(map[string]*InstanceSummary)
	for i := range v.crowd.members {
		found[v.crowd.members[i].Name] = &v.crowd.members[i]
	}
	for i := range all {
		all[i].SpuriousDenials, all[i].LongestLockout = 0, 0
		if m := found[all[i].Name]; m != nil {
			all[i].SpuriousDenials, all[i].LongestLockout = m.SpuriousDenials, m.LongestLockout
		}
	}
	return all
}
