// Package thirdparty holds published Go rate limiters on Redis, one file each,
// as they are imported and called by whoever uses them. They stand beside the
// limiters of package lua in the flow and are driven and judged in the same way;
// go.mod pins the releases.
//
//	library                           release    contract, algorithm                    clock
//	github.com/go-redis/redis_rate    v10.0.1    token bucket: GCRA in one script       the server's, µs
//	github.com/throttled/throttled    v2.15.0    token bucket: GCRA, compare-and-swap   the server's, µs
//	github.com/ulule/limiter          v3.11.2    fixed window: a counter in one script  the server's, a key's life in ms
//	github.com/gofiber/fiber          v2.52.15   fixed window: a counter, read, written the process's, s
//
// Whose clock decides is what the library does, whatever else it reads: ulule
// asks the process for the time too, and only tells it. The harness's own time of
// a request goes to none of them, so that differing callers' clocks must not show.
//
// # What could not be mapped
//
// A limit that a library cannot express exactly is refused with
// [bucket.ErrLimit], and the run is skipped and says why:
//
//   - all of them count whole tokens: no capacity of 7.5, no cost of 0.1;
//   - redis_rate and throttled take a whole number of tokens in a period: 33.3/s
//     is 333 in 10 s, and a rate of more than nine decimal places is nothing.
//     throttled cuts the gap between two tokens down to whole nanoseconds;
//   - a window has as many requests as the bucket holds in as long as it takes to
//     fill, which must be whole milliseconds for ulule and whole seconds for
//     fiber. Few scenarios have one of whole seconds, so fiber has a limit of its
//     own, 50 in 1 s, to which every scenario is scaled.
//
// throttled gives up with an error when others came between its reading and its
// storing ten times. An error is no answer, and in a burst on one key most calls
// end like that; the adapter lets it try as long as the caller waits, and wait
// between two tries. fiber passes no context to its storage and keeps its
// errors to itself: it grants what Redis does not answer (manager.go:64), and its
// adapter never reports an unknown outcome.
//
// When to retry is not told for ulule: its Reset is the window's end, cut down to
// a second, and nothing says that who waits for it is let in.
//
// No library but those that are one script could be asked with a witness, and
// even they send their script by themselves: all are judged on the callers' call
// and return.
//
// # What is left out, and why
//
// github.com/zeromicro/go-zero/core/limit v1.10.3 brings some thirty modules with
// it, gRPC, Prometheus and the exporters of OpenTelemetry among them; its token
// bucket is what control/late-command stands for. The package
// github.com/RussellLuo/slidingwindow has no Redis store but in an example. Not
// tried yet are the Redis stores of github.com/sethvargo/go-limiter and
// github.com/go-chi/httprate, and github.com/mennanov/limiters: a file here is all
// that each of them takes.
package thirdparty
