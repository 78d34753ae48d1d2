-- Decides about one call of an account, in both windows at once, and counts it
-- in both or in none.
--
-- KEYS[1]: the times of the calls of the last 60 seconds, sorted, in
--          microseconds by the clock of Redis
-- KEYS[2]: day: the day of UTC, used: its calls, member: a number that makes
--          the members of the first key differ
-- ARGV:    the quotas of the minute and of the day, 0 for none
--
-- Returns whether the call is let in; then of each window its calls, the time
-- until there is more room, and the time that a refused call has to wait.

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local minute, day = tonumber(ARGV[1]), tonumber(ARGV[2])
local length = 60000000

redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - length))
local calls = redis.call('ZCARD', KEYS[1])

-- roomIn is when the call leaves whose leaving makes room.
local function roomIn()
  if minute == 0 or calls == 0 then
    return 0
  end
  local place = math.max(0, calls - minute)
  local oldest = redis.call('ZRANGE', KEYS[1], place, place, 'WITHSCORES')
  return tonumber(oldest[2]) + length - now
end

local today = math.floor(time[1] / 86400)
local stored = redis.call('HMGET', KEYS[2], 'day', 'used')
local used = 0
if tonumber(stored[1]) == today then
  used = tonumber(stored[2])
end
local midnight = (today + 1) * 86400000000 - now

local minuteWait, dayWait = 0, 0
if minute > 0 and calls >= minute then
  minuteWait = roomIn()
end
if day > 0 and used >= day then
  dayWait = midnight
end

local allowed = 0
if minuteWait == 0 and dayWait == 0 then
  allowed = 1
  local member = redis.call('HINCRBY', KEYS[2], 'member', 1)
  if minute > 0 then
    redis.call('ZADD', KEYS[1], string.format('%.0f', now), member)
    redis.call('PEXPIRE', KEYS[1], 60000)
    calls = calls + 1
  end
  used = used + 1
  redis.call('HSET', KEYS[2], 'day', today, 'used', used)
  redis.call('PEXPIRE', KEYS[2], 172800000)
end

return {allowed, calls, roomIn(), minuteWait, used, midnight, dayWait}
