-- A token bucket on the clock of Redis. NAME.yaml says what stands in KEYS and ARGV
-- and how the reply reads.
local rate = tonumber(ARGV[1]) -- tokens a second
local capacity = tonumber(ARGV[2])
local cost = tonumber(ARGV[3])

local time = redis.call("TIME") -- seconds, and microseconds within the second
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

local stored = redis.call("HMGET", KEYS[1], "tokens", "ts")
local tokens = tonumber(stored[1]) or capacity -- a missing key is a full bucket
local ts = tonumber(stored[2]) or now

-- What time has earned since the last request, up to a full bucket. A clock that
-- went back earns nothing, and what was earned stays.
now = math.max(now, ts)
tokens = math.min(capacity, tokens + (now - ts) / 1000000 * rate)

local allowed, wait = 0, 0
if tokens >= cost then
  tokens = tokens - cost
  allowed = 1
else
  wait = math.ceil((cost - tokens) / rate * 1000) -- ms, rounded up: rounded down it is too short
end

-- The key may be forgotten when the bucket is full again, and not before.
redis.call("HSET", KEYS[1], "tokens", tokens, "ts", now)
redis.call("PEXPIRE", KEYS[1], math.ceil(capacity / rate * 1000))
return {allowed, math.floor(tokens), wait} -- Redis cuts fractions off what a script returns
