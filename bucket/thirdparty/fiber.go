package thirdparty

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/limiter"
	"github.com/gofiber/storage/redis/v3"
	goredis "github.com/redis/go-redis/v9"
	"github.com/valyala/fasthttp"
)

// fiberLimiter is the limiter middleware of Fiber over Fiber's own Redis
// storage: each process reads, counts and writes, under a lock of its own.
var fiberLimiter = Library{
	Name:        "fiber",
	Module:      "github.com/gofiber/fiber/v2",
	Version:     "v2.52.15",
	Algorithm:   "fixed window, read and written in two commands",
	Contract:    bucket.FixedWindow,
	Time:        bucket.ProcessTime,
	Granularity: time.Millisecond,
	Limit:       &bucket.Limit{Rate: 50, Capacity: 50}, // a window of 1 s: few scenarios have one of whole seconds
	Findings: []Finding{
		{
			Check: "over-admission", Expect: limiterfile.Fail, Scenario: "idle-burst",
			Because: "the counter is read and written in two commands under a lock of the process (middleware/limiter/limiter_fixed.go:46 to 73), " +
				"so of two processes that read together one overwrites what the other counted",
			Threads: "gofiber/fiber#4327",
		},
		{
			Check: "over-admission", Expect: limiterfile.Any,
			Because: "time is counted in whole seconds (limiter_fixed.go:52), so a window ends up to a second early, at a second's edge",
		},
		{Check: "accept-rate", Expect: limiterfile.Any, Because: "follows from over-admission"},
	},
	fits: func(l bucket.Limit) error {
		_, _, err := fiberWindow(l)
		return err
	},
	open: func(c goredis.UniversalClient) (bucket.Limiter, error) {
		return &fiberTaker{
			prefixed: fiberPrefix, storage: redis.NewFromConnection(c), apps: map[bucket.Limit]fasthttp.RequestHandler{},
		}, nil
	},
}

const fiberPrefix = "fiber:"

// fiberWindow expresses a limit. The middleware counts whole seconds.
func fiberWindow(l bucket.Limit) (most int, expiration time.Duration, err error) {
	if most, err = wholeTokens(l.Capacity); err != nil {
		return 0, 0, err
	}
	expiration, err = window(l, time.Second)
	return most, expiration, err
}

// fiberTaker is one process: an application whose only handler stands behind the
// middleware, for each limit that it was asked for.
type fiberTaker struct {
	prefixed
	storage *redis.Storage

	mu   sync.Mutex
	apps map[bucket.Limit]fasthttp.RequestHandler
}

var _ bucket.KeyLister = (*fiberTaker)(nil)

// Take sends the application a request in memory. The middleware passes no
// context on and keeps its storage's errors to itself, so that it always answers
// yes or no, however long that takes.
func (l *fiberTaker) Take(ctx context.Context, limit bucket.Limit, r bucket.Request) (bucket.Decision, error) {
	untold := bucket.Untold(false)
	if err := ctx.Err(); err != nil {
		return untold, fmt.Errorf("fiber: %w: %w", bucket.ErrUnsent, err)
	}
	if r.Cost != 1 {
		return untold, fmt.Errorf("fiber: %w: every request costs 1, not %v", bucket.ErrUnsent, r.Cost)
	}
	handle, err := l.app(limit)
	if err != nil {
		return untold, fmt.Errorf("fiber: %w: %w", bucket.ErrLimit, err)
	}
	var call fasthttp.RequestCtx
	call.Request.Header.Set(fiberKeyHeader, string(l.prefixed)+r.Key)
	handle(&call)
	switch status := call.Response.StatusCode(); status {
	case fiber.StatusOK:
		return bucket.Decision{Allowed: true, Remaining: header(&call, "X-RateLimit-Remaining", math.NaN()), RetryAfter: -1}, nil
	case fiber.StatusTooManyRequests:
		wait := header(&call, fiber.HeaderRetryAfter, -1)
		return bucket.Decision{Remaining: math.NaN(), RetryAfter: time.Duration(wait * float64(time.Second))}, nil
	default:
		return untold, fmt.Errorf("fiber: the application answers %d, want 200 or 429", status)
	}
}

// fiberKeyHeader carries the bucket's name.
const fiberKeyHeader = "X-Bucket"

// app is the application that keeps a limit.
func (l *fiberTaker) app(limit bucket.Limit) (fasthttp.RequestHandler, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if handle, ok := l.apps[limit]; ok {
		return handle, nil
	}
	most, expiration, err := fiberWindow(limit)
	if err != nil {
		return nil, err
	}
	app := fiber.New()
	app.Use(limiter.New(limiter.Config{
		Max: most, Expiration: expiration, Storage: l.storage,
		KeyGenerator: func(c *fiber.Ctx) string { return c.Get(fiberKeyHeader) },
	}))
	app.Use(func(c *fiber.Ctx) error { return c.SendStatus(fiber.StatusOK) })
	handle := app.Handler()
	l.apps[limit] = handle
	return handle, nil
}

// header is a response's header as a number; otherwise when there is none.
func header(call *fasthttp.RequestCtx, name string, otherwise float64) float64 {
	v, err := strconv.ParseFloat(string(call.Response.Header.Peek(name)), 64)
	if err != nil {
		return otherwise
	}
	return v
}
