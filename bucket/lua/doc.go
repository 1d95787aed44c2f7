// Package lua drives limiters that are one Redis script or one Redis command,
// as a limiter file describes them, and holds the reference family that ships
// with the harness. It stands between package limiterfile, which says what to
// send, and the load, which sees a [bucket.Limiter].
//
// One request is at most one charge: nothing here is sent twice, whatever the
// client's own retry settings are. The one exception cannot charge twice
// either: when the server answers that it does not know the script (EVALSHA,
// NOSCRIPT), it is sent once in full.
package lua
