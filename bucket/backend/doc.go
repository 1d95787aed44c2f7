// Package backend is where the buckets live: a Redis that somebody else runs
// ([External]), one started here as a process or in a container, or one inside
// this process ([Embedded]). It stands beside package bucket at the left of the
// flow: limiters are built on its clients, scenarios disturb it through its
// methods, and the audit reads what the limiters left behind.
//
// Every server started here listens on the loopback interface (on a remote
// Docker engine: on its host, behind a random password), keeps nothing on
// disk, and is stopped by [Redis.Close].
//
// # Clients
//
// A client made here never sends a command twice and never waits longer than
// its context: go-redis' defaults do both, so that one lost reply charges a
// bucket twice and reports success. It speaks RESP2 and sends no greeting that
// an old server, Valkey or the embedded one would refuse.
//
// # What the embedded server does not do
//
// The embedded server is miniredis, which is not Redis. Time to live and TIME
// are real there (see queue.go for how, and how precisely), but:
//
//   - a number that a script hands to a command is written in Go's shortest
//     form, where Redis writes 17 significant digits; tostring of a microsecond
//     epoch keeps all its digits, where Redis keeps 14 and loses two;
//   - 0/0 is stored as "NaN", where Redis stores "-nan" or "nan";
//   - TIME advances inside a script, as in Redis before 7.2; later ones freeze it;
//   - scripts have no bit, struct or cmsgpack, and there are no functions and no
//     modules (CL.THROTTLE);
//   - MEMORY USAGE counts Go's memory, and throughput is this process's;
//   - a pipeline's replies leave one by one, each before the next command runs,
//     where Redis runs all that it has received and then replies: a client that
//     hangs up after the first reply may be ahead of the rest;
//   - a blocking command (BLPOP and its like) is answered beside the pause and
//     the ageing of keys.
//
// Whatever depends on these needs a real server.
package backend
