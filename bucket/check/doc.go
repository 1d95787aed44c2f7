// Package check judges histories of rate-limited requests against what a token
// bucket promises, or a limiter that counts in windows. It stands between bucket/history, whose operations it reads,
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
// # Windows
//
// A limiter may count in windows instead ([Spec].Contract). N is then the
// capacity and W = C/R. The limiter's clock makes W measure between W·(1 − ρ) −
// g and W·(1 + ρ) + g on the history's; g is 1 ms more where state is kept in
// Redis, which counts keys' lives in whole ms. Where the windows lie nobody
// tells, so several accounts of it are held against the history side by side:
//
//	over-admission:   by every account some window holds more than it may
//	spurious denial:  no account that is left explains the denial
//
// A grant counts for the first where it surely lies in a window, a grant, or an
// unknown request's charges, for the second where it may. An account that does
// not explain a denial that another explains is refuted for good, and asked no
// more by either; one that grants have refuted is asked about denials only if
// they have refuted all. peak_excess and excess are those of the account that
// is left and accuses the limiter least. A limiter that keeps the contract has
// its own account among them, which nothing refutes: it is never accused.
//
// The plain account comes first, in O(log n) a record at worst. The others, of
// windows in step with a clock, one for each 64th of W that their boundaries may
// lie in, are looked at once the plain one has failed, from what is known of
// the last three windows on. That is all the memory there is beside the
// requests in flight: the grants of three windows, and 64 accounts.
//
// A token that is granted, or refused, by nothing but the ms or so by which the
// limiter's clock may be off, is not seen; nor, of windows in step with a clock,
// what is granted within W/64 of a boundary, until another burst lies elsewhere
// in its window. In a window not twice as long as what the clock may be off
// over-admission is undecided. Nothing is predicted of callers' clocks. Replay
// and linearizability have no model and are skipped; of what is told beside yes
// and no, only that remaining lies in [0, N] and that who waits as told is let
// in.
//
// # Sliding window
//
// Contract: at most N tokens are granted in any [t − W, t), and a request is
// denied only if it would not fit; or the same of a count that approximates it.
// Two kinds of limiter keep it.
//
// An exact log, the plain account. With a ≤ call and return ≤ b as before,
//
//	Σ cost of grants surely in [a, b]  >  N   for some b − a < W·(1 − ρ) − g
//
// is too much (⌈d/W⌉·N in a longer window d follows), and a denial is spurious
// when fewer than would leave no room were called by its return and had not
// returned W·(1 + ρ) + g before its call. Both follow from the log's rule: it
// lets go of a grant when its clock has gone on by W, which was W ± g.
//
// A weighted counter counts in windows [φ + k·W, φ + (k + 1)·W) and takes the
// window before, of p grants, for (1 − f)·p when a part f of its own has passed.
// It grants while
//
//	⌊(1 − f)·p⌋ + count + cost  ≤  N,
//
// or with (1 − f)·p itself, or rounded up, or below N before the grant: the last
// is the same as the first for whole tokens, and no other grants more, nor does
// any deny what fits with (1 − f)·p rounded up. So these two are what the account
// of φ is judged by: p and count of surely placed grants, f at its largest, for
// the one; of possible ones, f at its smallest, for the other. A grant that lies
// across a boundary counts at least by 1 − f.
//
// How far such a counter is from a log: let a window of length d = x + (m − 1)·W
// + f·W hold the last x of one of its windows, m − 1 whole ones and a part f of
// the last. Each has at most N, and the last count ≤ N − (1 − f)·p, so
//
//	granted ≤ N + (m − 2)·N + p + N − (1 − f)·p ≤ N·(m + f) ≤ N + N·d/W
//
// (m ≥ 2; for m = 1 it is p + N − (1 − f)·p ≤ N + f·N), which is a token bucket's
// C + R·d, and up to 1 more with the floor. It is reached: N at the end of a
// window, then one every W/N. So in less than W it may grant 2·N − 1, or with the
// floor 2·N, where a log grants N; and of a burst that comes f·W into the window
// after one of N it denies all but ⌊f·N⌋, where a log may let N in. One bound for
// both would have to allow all that, and with the floor N + 1 in no time: hence
// two accounts, each sharp. A limiter need not say which it is, but it must be one
// of them throughout.
//
// # Fixed window
//
// Contract: time is cut into windows that follow one another, W long; at most N
// tokens are granted in each, and a request is denied only if it does not fit
// into its own. In d that makes N·(⌊d/W⌋ + 2) at most, so 2·N in no time across a
// boundary. Two kinds again.
//
// Windows that begin with a request, the plain account: the next begins with the
// first request after W. Of its start it is known that it lies between the first
// call of a request that may have come W after the earliest start of the one
// before, and the first return of a grant called W after the latest. A grant is
// surely in the window when it was called W after the latest start of the one
// before, and returned before the earliest start of its own plus W. (See
// windowStarts.)
//
// Windows in step with a clock, [φ + k·W, φ + (k + 1)·W): a grant is surely in
// one when no boundary may lie in [call, return].
//
// A denial is spurious when the last W before it may not have held enough, for
// both kinds, since the window lies in it; and by the account of φ, when the
// window that it fell into may not have.
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
