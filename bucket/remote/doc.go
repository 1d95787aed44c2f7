// Package remote drives limiters that the harness reaches over something else
// than Redis: a gateway behind HTTP ([Gateway]), or a program of its own for each
// instance that talks JSON lines ([Program]). It stands, as package lua does,
// between package limiterfile, which says what to send and how the answer reads,
// and the load, which sees a [bucket.Limiter].
//
// One request is at most one charge: nothing of which one byte may have left is
// sent again. An error wraps [bucket.ErrUnsent] only where surely nothing was
// written; any other leaves the outcome unknown.
//
// # Lines
//
// A program reads one JSON object a line and answers each with one, in any order,
// as many at once as there are:
//
//	{"id":"7","key":"bp-1f…:3:0","cost":1,"now_ms":1764600000123}
//	{"id":"7","allowed":false,"remaining":0,"retry_after":0.25}
//	{"id":"8","error":"no connection to the database"}
//
// now_ms is the caller's clock; retry_after is in seconds, and it and remaining
// may be left out. RATE, CAPACITY, REDIS_URL and INSTANCE stand in its
// environment, its working folder is the limiter file's. The end of its input
// tells it to end. What else it has to say it says on its standard error, whose
// last line is shown when something goes wrong.
package remote
