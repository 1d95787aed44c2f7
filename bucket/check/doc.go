// Package check judges histories of rate-limited requests against what a token
// bucket promises. It stands between bucket/history, whose operations it reads,
// and the reports that show its verdicts; [Judge] is the way in.
//
// # Definitions
//
// R is the limit's rate in tokens per second, C its capacity, g the granularity
// of the limiter's clock ([Spec].Granularity), ρ a relative tolerance of the
// rate ([Spec].RateTolerance). An answered request was decided at one instant
// in the closed interval [call, return]; an unknown one was charged up to 1 +
// retries times, at any time after its call, or never; an unsent one never
// reached the limiter. At one instant all calls come before all returns.
//
// A check is sound when it accuses no limiter that keeps the contract, whatever
// the machine's delays; all of these are, but for one case of the state audit. It is
// complete when it finds every violation; none of these can be on [call,
// return] alone, and below is said what each may miss.
//
// # Over-admission
//
// Contract: at most C + R·(b − a) tokens are granted in any window [a, b]. A
// grant surely lies in the window when a ≤ call and return ≤ b. The check fails
// iff in some window
//
//	Σ cost of grants surely in [a, b]  −  C  −  R·(1 + ρ)·(b − a)  >  R·g.
//
// All windows are tried, in one pass (see admission). peak_excess is the left
// side at its largest, excess the fewest tokens that must be struck from the
// record to make it conform (with whole costs and exact times: what an ideal
// bucket drops; with fractional costs a lower bound).
//
// Missed: what concurrency hides, up to 2·R·D where D is the longest return −
// call. Ten grants in [0, 1] and twenty in [1, 2], all decided at 1, are 20 too
// many for R = C = 10, and none is seen. Placing the grants greedily would see
// more and is wrong. For R = C = 1, in order of release with the earliest
// deadline first, [0.5, 2] takes the token at 0.5 and leaves none for [1, 1.25];
// in order of deadlines, [1, 1.25] goes to 1 and [0, 1.5] comes too late at 2.
// A right bucket decided the first pair at 2 and 1, the second at 0 and 1.
//
// # Spurious denial
//
// Contract: a request is denied only when the bucket holds less than its cost.
// The pessimistic level is the least that any placement of the other requests
// leaves at t,
//
//	L(t) = min over s ≤ t of  C + R·(1 − ρ)·(t − s) − Σ cost of grants that may lie in [s, t],
//
// and a denial is spurious iff L ≥ cost + R·g throughout [call, return]; or,
// where nobody else touched the bucket meanwhile and it has been full for
// longer than g, iff C ≥ cost (see sweep.deny).
//
// Missed: a denial that some placement of the others justifies, though they
// were placed otherwise. Undecided when unknown requests may have taken
// everything, or when R·g ≥ C − cost excuses most denials.
//
// A lock-out is an unbroken run of spurious denials of one instance on one key.
//
// # Accept rate
//
// The number of grants lies between what ideal buckets of C ∓ R·(g + D) tokens
// grant at the calls. Unit costs only. It misses whatever cancels out over the
// run; it is the picture people expect, and the first two checks are the ones
// that decide.
//
// # State audit
//
// Every Redis key behind a bucket has an expiry, is there while even the fullest
// possible bucket is not full, lives long enough for the refill and not absurdly
// long, and stores a level in range. What is missing from the bucket is bounded
// from below by the grants alone, so that unknown requests and concurrency make
// the audit silent, not wrong. (Not proven: a GCRA on callers' clocks that
// disagree, whose key expires several times while grants overlap; one such expiry
// and any number with nothing under way are allowed for.) A life that is right does not mean that nothing
// is lost when it ends: on callers' clocks something is.
//
// # Accounting and fairness
//
// Accounting holds the records against what the driver offered. Fairness asks
// whether an instance got much less than its share of the grants; it needs
// random arrivals, and sees no starvation of less than half.
//
// # Two verdicts
//
// [Result].Verdict is the ideal one: nothing but g and ρ excuses a limiter.
// [Result].WithinPrediction says whether what was found is no more than the
// limiter's own clock rule explains, for limiters on the caller's clock
// ([Spec].Time). With S the spread of the callers' clocks (clock − call), D the
// longest return − call and k the most expiries of an idle key in a window:
//
//	over-admission:   at most R·(S + g) + k·R·(S + D + g) tokens too many in it
//	spurious denial:  smallest level < cost + R·(g + ahead + own return − call)
//	accept rate:      replays of C − R·(S + 2·D + g) and C + (1 + k)·R·(S + 2·D + g) tokens
//	fairness:         starvation from R·(S + g) ≥ 1 on
//
// where ahead is by how much the fastest clock so far is ahead of the denied
// call's. These were tried on simulated runs of the reference script with
// skewed, jumping and jittering clocks, held calls and expiring keys.
package check
