package control

import (
	"strings"
	"testing"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"

	"github.com/redis/go-redis/v9"
)

// repairs say how each script of a control is put right: what stands in the
// limiter file, and what should.
var repairs = map[string][]string{
	"control/deny-charged": {
		"tokens = tokens - cost -- the fault: also when there are not enough\n  local allowed = 0\n  if tokens >= 0 then allowed = 1 end",
		"local allowed = 0\n  if tokens >= cost then tokens, allowed = tokens - cost, 1 end",
	},
	"control/deny-resets-clock": {
		"allowed = 1\n  end -- the fault: a denial stores no tokens, but its time",
		"allowed = 1\n  else\n    redis.call(\"HSET\", KEYS[1], \"tokens\", tokens)\n  end",
	},
	"control/floor-refill": {
		"math.floor((now - ts) / 1000000 * rate) -- the fault: the fraction is dropped, and ts moves on",
		"(now - ts) / 1000000 * rate",
	},
	"control/late-command":              onServerClock("-- the fault: a late now lies before ts", ""),
	"control/no-refill-after-step-back": onServerClock("-- the fault: never true until the clock has caught up", ""),
	"control/no-ttl": {
		"return allowed -- the fault: no PEXPIRE",
		"redis.call(\"PEXPIRE\", KEYS[1], math.ceil(capacity / rate * 1000))\n  return allowed",
	},
	"control/older-now-written": onServerClock("-- the fault: now may lie before ts", ""),
	"control/overflow-after-idle": onServerClock(
		"wrapped((now - ts) * 1000000 * rate) / 1000000000 -- the fault: multiplied before divided",
		"(now - ts) / 1000 * rate",
	),
	"control/remaining-truncated": {
		"return left -- the fault: cut towards 0", "return math.floor(left)",
	},
	"control/retry-after-too-short": {
		"math.floor((cost - tokens) / rate) -- the fault: down, not up", "math.ceil((cost - tokens) / rate)",
	},
	"control/seconds-for-milliseconds": {
		"(now - ts) * rate) -- the fault: a thousandfold", "(now - ts) / 1000 * rate)",
	},
	"control/ttl-in-periods": {
		"periods) -- the fault: not seconds", "periods * 60)",
	},
	"control/ttl-thousandfold": {
		`"EXPIRE", KEYS[1], math.ceil(capacity / rate * 1000)) -- the fault: these are milliseconds`,
		`"PEXPIRE", KEYS[1], math.ceil(capacity / rate * 1000))`,
	},
	"control/ttl-zero": {
		"math.floor(2 * capacity / rate)) -- the fault: may be 0", "math.ceil(2 * capacity / rate))",
	},
	"control/whole-seconds": {
		"-- the fault: the microseconds are left out", "+ tonumber(time[2])",
	},
	"control/zero-rate": {
		"if math.floor(rate) == 0 then return 1 end -- the fault: 0.5 a second is no limit", "",
	},
}

// onServerClock is the repair of a fault that only callers' clocks can show,
// and a further one.
func onServerClock(more ...string) []string {
	return append([]string{
		"time: caller\ngranularity: 1ms", "time: server\ngranularity: 1us",
		"local now, cost = tonumber(ARGV[3]), tonumber(ARGV[4])",
		"local cost, time = tonumber(ARGV[4]), redis.call(\"TIME\")\n  local now = tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000",
	}, more...)
}

// repaired is the same control without its fault: of the two written in Go,
// local-cache with no batch. get-set without its fault is the reference.
func repaired(t *testing.T, c Control) (Control, bool) {
	t.Helper()
	switch pairs := repairs[c.Name]; {
	case c.Name == localCache.Name:
		c.open = func(client redis.UniversalClient) (bucket.Limiter, error) {
			return &localCacheLimiter{client: client, copies: make(map[string]*levelCopy)}, nil
		}
	case pairs == nil:
		return c, false
	default:
		for i := 0; i < len(pairs); i += 2 {
			if n := strings.Count(c.file, pairs[i]); n != 1 {
				t.Fatalf("%s: %q stands %d times in the file, want once", c.Name, pairs[i], n)
			}
			c.file = strings.Replace(c.file, pairs[i], pairs[i+1], 1)
		}
		if strings.Contains(c.file, "the fault") {
			t.Fatalf("%s: a fault is left:\n%s", c.Name, c.file)
		}
		f, err := limiterfile.Parse(c.Name, []byte(c.file), nil)
		if err != nil {
			t.Fatalf("%s repaired: %v", c.Name, err)
		}
		c.Time, c.Granularity = f.Time, f.Granularity
	}
	c.Expect = nil
	return c, true
}
