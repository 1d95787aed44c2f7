// Package lua drives limiters that are one Redis script or one Redis command,
// as a limiter file describes them, and holds those that ship with the harness:
// the reference family and a GCRA. It stands between package limiterfile, which
// says what to send, and the load, which sees a [bucket.Limiter].
//
// A limiter is asked plainly ([New]) or in an atomic block that also tells the
// order of decisions, the server's time and the stored state around each
// ([NewWitnessed]); a test holds that its answers are the same. The server's
// clock can be simulated for it ([Limiter.WithClock]).
//
// One request is at most one charge: nothing here is sent twice, whatever the
// client's own retry settings are. The one exception cannot charge twice
// either: when the server says that it ran nothing, because it does not know the
// script (EVALSHA, NOSCRIPT) or refuses the block (EXECABORT), the script is sent
// once more, in full or alone.
package lua
