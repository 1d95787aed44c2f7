// Package check judges histories of rate-limited requests against what a token
// bucket promises. It stands between bucket/history, whose operations it reads,
// and the reports that show its verdicts; [Judge] is the way in.
package check
