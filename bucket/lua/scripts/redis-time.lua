-- The reference on the server's clock, in whole microseconds: 16 digits, which
-- a double holds exactly.
-- KEYS[1] bucket; ARGV: rate (tokens/s), capacity, cost.
local rate, capacity, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call("TIME") -- seconds, microseconds within the second
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

local stored = redis.call("HMGET", KEYS[1], "tokens", "ts")
local tokens = tonumber(stored[1]) or capacity -- a missing key is a full bucket
local ts = tonumber(stored[2]) or now

tokens = math.min(capacity, tokens + (now - ts) / 1000000 * rate)
local allowed = 0
if tokens >= cost then
  tokens = tokens - cost
  allowed = 1
end

redis.call("HSET", KEYS[1], "tokens", tokens, "ts", now)
redis.call("PEXPIRE", KEYS[1], math.ceil(capacity / rate * 1000)) -- one full refill
return allowed
