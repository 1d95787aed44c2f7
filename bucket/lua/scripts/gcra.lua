-- The generic cell rate algorithm on the server's clock: of a bucket only the
-- theoretical arrival time (TAT) is kept, the microsecond at which it is full.
-- A token may take far less than a microsecond, and beside the 16 digits of a
-- clock a double has no room for that: TAT is decimal text, and its whole
-- microseconds come off the clock before the fraction is added.
-- KEYS[1] TAT; ARGV: rate (tokens/s), capacity, cost.
-- Answers 1 or 0, what remains (tokens), and when to ask again (µs; -1: never).
local rate, capacity, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call("TIME") -- seconds, microseconds within the second
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

local debt = 0 -- microseconds until the bucket is full; a missing key is a full one
local stored = redis.call("GET", KEYS[1])
if stored then
  local whole, fraction = string.match(stored, "^(%d+)(%.%d+)$")
  debt = math.max(0, tonumber(whole) - now + tonumber(fraction))
end

local most = capacity / rate * 1000000 -- the debt of an empty bucket
local after = debt + cost / rate * 1000000
local allowed, wait = 0, 0
if after <= most then
  allowed, debt = 1, after
elseif cost > capacity then
  wait = -1
else
  wait = math.ceil(after - most)
end

if allowed == 1 and debt > 0 then -- a denial leaves no trace
  local whole = math.floor(debt)
  local tat = string.format("%.0f", now + whole) .. string.sub(string.format("%.17f", debt - whole), 2)
  -- Redis counts a life from the beginning of this millisecond, and to 2^63.
  local life = math.min(math.ceil(debt / 1000) + 1, 2^53)
  redis.call("SET", KEYS[1], tat, "PX", string.format("%.0f", life))
end
local remaining = math.max(0, capacity - debt / 1000000 * rate)
return {allowed, string.format("%.9f", remaining), string.format("%.0f", wait)}
