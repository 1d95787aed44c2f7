-- The reference: a token bucket that counts time on its caller's clock.
-- KEYS[1] bucket; ARGV: rate (tokens/s), capacity, the caller's clock (ms), cost.
local rate, capacity = tonumber(ARGV[1]), tonumber(ARGV[2])
local now, cost = tonumber(ARGV[3]), tonumber(ARGV[4])

local stored = redis.call("HMGET", KEYS[1], "tokens", "ts")
local tokens = tonumber(stored[1]) or capacity -- a missing key is a full bucket
local ts = tonumber(stored[2]) or now

-- A clock behind the stored one earns a negative amount, and becomes the stored one.
tokens = math.min(capacity, tokens + (now - ts) / 1000 * rate)
local allowed = 0
if tokens >= cost then
  tokens = tokens - cost
  allowed = 1
end

redis.call("HSET", KEYS[1], "tokens", tokens, "ts", now)
redis.call("PEXPIRE", KEYS[1], math.ceil(capacity / rate * 1000)) -- one full refill
return allowed
