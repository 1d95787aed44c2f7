package control

import (
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// ttlThousandfold decides rightly, but its keys live a thousand times too long.
var ttlThousandfold = Control{
	Name:        "control/ttl-thousandfold",
	StandsFor:   "a life in milliseconds is given to a command that counts seconds, so every key lives a thousand times too long",
	Threads:     "Losant/redis-gcra#6, Kong/kong#14995",
	Check:       "state-audit",
	Scenario:    "many-keys",
	Time:        bucket.ServerTime,
	Granularity: time.Microsecond,
	State:       hashState,
	UsesCost:    true,
	Expect: map[string]limiterfile.Expectation{
		"state-audit": limiterfile.Fail,
	},
	fault: lines{
		life: `redis.call("EXPIRE", KEYS[1], math.ceil(capacity / rate * 1000)) -- the fault: these are milliseconds`,
	},
}
