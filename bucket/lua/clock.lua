local redis = (function(real, clock)
  local steps = {}
  for word in string.gmatch(clock, "%S+") do steps[#steps + 1] = tonumber(word) end
  local offset = table.remove(steps, 1)
  local function asksTime(...)
    local first = ...
    return select("#", ...) == 1 and type(first) == "string" and string.upper(first) == "TIME"
  end
  local function shifted(time)
    if time.err then return time end
    local now = time[1] * 1000000 + time[2]
    local shown = now + offset
    for i = 1, #steps, 2 do
      if now >= steps[i] then shown = shown + steps[i + 1] end
    end
    local seconds = math.floor(shown / 1000000)
    return {string.format("%.0f", seconds), string.format("%.0f", shown - seconds * 1000000)}
  end
  local function raise(problem, where, embedded)
    if embedded then
      if where == ":1: " then where = "" end
      error(where .. (string.gsub(problem, "^:%d+: ", "")), 0)
    end
    local text = "local problem = ... error(problem, 0)"
    local line = tonumber(string.match(where, ":(%d+):"))
    if line then
      loadstring(string.rep("\n", line - 1) .. text, "@user_script")(problem)
    end
    loadstring(text, "=?")(problem)
  end
  local shadow = {}
  function shadow.call(...)
    if asksTime(...) then return shifted(real.call(...)) end
    local words, n = {...}, select("#", ...)
    local ok, reply = xpcall(
      function() return real.call(unpack(words, 1, n)) end,
      function(problem) return problem end)
    if ok then return reply end
    local _, here = pcall(error, "", 2)
    local embedded = string.sub(here, 1, 1) == ":"
    local _, where = pcall(error, "", embedded and 4 or 3)
    raise(reply, where, embedded)
  end
  function shadow.pcall(...)
    if asksTime(...) then return shifted(real.pcall(...)) end
    return real.pcall(...)
  end
  return setmetatable(shadow, {__index = real})
end)(redis, table.remove(ARGV));
