-- Decides about one call, in the windows of its account and of its key at once, and
-- counts it in all or in none.
--
-- KEYS: two for each whose calls are counted: first the account, then the key where
--       it has limits of its own
--   the first: the times of the calls of the last 60 seconds, sorted, in
--              microseconds by the clock of Redis
--   the second: day: the day of UTC, used: its calls, member: a number that makes
--              the members of the first differ
-- ARGV: likewise the quotas of the minute and of the day, 0 for none; last, 0 where the
--       server refuses the call by itself, else 1
--
-- Returns whether the call is let in; then of each window its calls, the time
-- until there is more room, and the time that a refused call has to wait.

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local length = 60000000
local today = math.floor(time[1] / 86400)
local midnight = (today + 1) * 86400000000 - now

local all, allowed = {}, tonumber(ARGV[#ARGV])
for i = 1, #KEYS, 2 do
  local one = {times = KEYS[i], counts = KEYS[i + 1], minute = tonumber(ARGV[i]), day = tonumber(ARGV[i + 1]),
               used = 0, minuteWait = 0, dayWait = 0}

  redis.call('ZREMRANGEBYSCORE', one.times, '-inf', string.format('%.0f', now - length))
  one.calls = redis.call('ZCARD', one.times)

  -- roomIn returns the microseconds until enough calls are older than a minute.
  one.roomIn = function()
    if one.minute == 0 or one.calls == 0 then
      return 0
    end
    local place = math.max(0, one.calls - one.minute)
    local oldest = redis.call('ZRANGE', one.times, place, place, 'WITHSCORES')
    return tonumber(oldest[2]) + length - now
  end

  local stored = redis.call('HMGET', one.counts, 'day', 'used')
  if tonumber(stored[1]) == today then
    one.used = tonumber(stored[2])
  end

  if one.minute > 0 and one.calls >= one.minute then
    one.minuteWait = one.roomIn()
  end
  if one.day > 0 and one.used >= one.day then
    one.dayWait = midnight
  end
  if one.minuteWait > 0 or one.dayWait > 0 then
    allowed = 0
  end
  all[#all + 1] = one
end

local reply = {allowed}
for _, one in ipairs(all) do
  if allowed == 1 then
    local member = redis.call('HINCRBY', one.counts, 'member', 1)
    if one.minute > 0 then
      redis.call('ZADD', one.times, string.format('%.0f', now), member)
      redis.call('PEXPIRE', one.times, 60000)
      one.calls = one.calls + 1
    end
    one.used = one.used + 1
    redis.call('HSET', one.counts, 'day', today, 'used', one.used)
    redis.call('PEXPIRE', one.counts, 172800000)
  end
  for _, number in ipairs({one.calls, one.roomIn(), one.minuteWait, one.used, midnight, one.dayWait}) do
    reply[#reply + 1] = number
  end
end
return reply
