// Package bucket holds the token bucket that everything here is measured
// against: its limit, its sequential reference, the bound it promises, and the
// one-method interface a limiter under test must have. It stands at the left of
// the flow (bucket → scenarios → reports) and needs only the standard library.
//
// # Definitions
//
// A [Limit] is a rate R in tokens per second and a capacity C in tokens. The
// bucket starts full, at C tokens, earns R tokens a second up to C, and grants
// a request that costs k tokens when it holds at least k, which it then loses.
//
// In any stretch of time of length d a bucket grants at most
//
//	C + R·d   tokens                                                    (1)
//
// and it denies a request only when it holds fewer tokens than the request
// costs. (1) is an upper bound on every window, not only on those that begin
// with the run; package check decides both directions from a recorded history.
//
// # Where the definitions come from
//
// The bound (1) is a (σ, ρ) constraint with σ = C and ρ = R: R. L. Cruz, "A
// Calculus for Network Delay, Part I", IEEE Trans. Information Theory 37(1),
// 1991. The bucket is that of RFC 2215, section 5 (TOKEN_BUCKET_TSPEC); the
// generic cell rate algorithm of ITU-T I.371, annex A, makes the same decisions
// from a theoretical arrival time in place of a level, with increment 1/R and
// limit (C − 1)/R.
package bucket
