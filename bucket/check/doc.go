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
// the machine's delays; all of these are, but for one case each of the state
// audit and the replay. It is complete when it finds every violation; none of
// these can be on [call, return] alone, and below is said what each may miss.
// With a witness nearly all are.
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
// Accounting holds the records against what the driver offered and, where the
// server numbered the decisions, the charges against the requests: on a key that
// begins at number 1 as many numbers belong to no request as unknown ones may
// have taken. A last charge that no later number shows is missed. Fairness asks
// whether an instance got much less than its share of the grants; it needs
// random arrivals, and sees no starvation of less than half.
//
// # At the server's instants
//
// A witness ([bucket.Witness]) tells the server's clock just before and after
// each decision. A limiter that decides by that clock is judged by the first two
// checks on [before, after + 1 µs] (TIME cuts off), on the server's own time and
// in its own order, so that nothing is hidden but R times that sliver, and with
// no tolerance of the rate but for rounding: 1e-9 for a limiter that tells a
// stored level, R·128 ns (1e-4 at most) for one that may keep a time since 1970 in
// a double, as GCRA does. How far the server's clock is from the callers' is not
// needed: what was decided before a request was called before it returned, which
// bounds how long it must wait for others; and an
// unknown request nobody saw counts from the latest instant among those that had
// returned by its call. A failure on [call, return] stands all the same, for a
// clock that leaps is right by its own account only. Where an answer has no
// witness, or the clock went back on a key, [call, return] decides and the
// sentence says so. Limiters on other clocks stay on [call, return], since the
// age of a reading is no fault; server_excess is the largest overshoot at the
// server's instants, as a figure.
//
// # Replay
//
// For a limiter said to be of the reference family ([Spec].Model) each decision
// and the state stored after it must equal [bucket.Rule.Take] of the state before
// it, bit for bit, at the time that the script used: what the caller's clock
// said, floored, or the stored time, which must lie between the server's two. And
// each state before must equal the one that the decision with the number before
// left, or be absent, when that one's life of a full refill may have ended (Redis
// counts in whole milliseconds, so one less is enough). So all decisions on a key
// are those of one sequential bucket: nothing was read that another had not
// written, which is what atomic means. Missing numbers are bridged, as the chain
// begins anew behind them; numbers that fall back or repeat (FLUSH, failover) are
// events. Missed: what a decision with a lost reply did; and what does not follow
// at a number that lost replies could all have led up to, since a flush may have
// come between. Not proven: a failover to an older copy while exactly as many
// replies are lost as numbers are given again is accused.
//
// # Linearizability
//
// Porcupine searches the beginning of each key's history for an order that calls
// and returns allow and in which the model decides (and, with a witness, numbers
// and stores) what was seen. It is exponential, so it ends where more than 8
// requests are in flight, 256 with a witness, at 1000 requests, or where the key
// may have expired, and where even that takes too long it is tried with half as
// many; where a look gives up even on the fewest, or all looks together have taken
// too long, the verdict is undecided. A history with an order has one for its beginning too, with what had not
// returned left open; so a beginning without one proves a fault. It shares nothing
// with the other checks: for a right clock whatever they accuse has no order, and
// with a witness and no lost reply it finds what the replay finds. (For callers'
// clocks that disagree, a history of the model may well break the bounds: what has
// no order there is what the bounds accuse beyond their prediction.)
//
// # Reply contract
//
// What a limiter tells beside yes and no, on calls that no other answer on the
// key overlaps: remaining lies in [0, C], and from one such call to the next
// rises by no more than R·(return − earlier call) + R·g less the costs granted
// since, and 1, for it may be floored; a request that comes a denial's retry_after
// and g behind its return is granted, if nothing was granted or unknown between
// and it costs no more. A hint that is too long is a figure: over what an empty
// bucket needs. Missed: a remaining that is too low.
//
// # Two verdicts
//
// [Result].Verdict is the ideal one: nothing but g and ρ excuses a limiter.
// [Result].WithinPrediction says whether what was found is no more than the
// limiter's own clock rule explains, for limiters on the caller's clock
// ([Spec].Time). With S the spread of the callers' clocks (clock − call), D the
// longest return − call, k the most expiries of an idle key in a window and e the
// times in it that the server's clock, by which keys expire, went forward
// ([Spec].Leaps):
//
//	over-admission:   at most R·(S + g) + k·R·(S + D + g) + e·(C + R·(S + D + g)) tokens too many in it
//	spurious denial:  smallest level < cost + R·(g + ahead + own return − call)
//	accept rate:      replays of C − R·(S + 2·D + g) and C + (1 + k + e)·R·(S + 2·D + g) + e·C tokens
//	fairness:         starvation from R·(S + g) ≥ 1 on
//	reply contract:   as if a clock were off by at most S + D + g
//
// where ahead is by how much the fastest clock so far is ahead of the denied
// call's. These were tried on simulated runs of the reference script with
// skewed, jumping and jittering clocks, held calls and expiring keys.
//
// A limiter that was shown another TIME than the server's, by a known shift
// ([Spec].Shift), is predicted in the same way, with the shift in place of the
// callers' clocks: they all go back and leap together.
package check
